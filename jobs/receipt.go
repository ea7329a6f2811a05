package jobs

import (
	"context"
	"errors"
	"strconv"
	"time"

	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

const kindReceipt = "receipt"

const (
	// receiptRetry is the pause after a receipt that failed.
	receiptRetry = 5 * time.Second
	// typingLife is how long the provider shows a typing indicator. Sent later, it
	// would show somebody typing who has long stopped.
	typingLife = 25 * time.Second
	// receiptLife is how long a plain receipt is tried.
	receiptLife = time.Hour
	// receiptsAtOnce is how many receipts of a number may be under way.
	receiptsAtOnce = 4
)

type receiptArgs struct {
	storage.AboutAccount
	Message string `json:"message"` // the provider's id
	Typing  bool   `json:"typing"`
}

// EnqueueReceipt stores the job that shows a sender that a message was read.
func EnqueueReceipt(tx *storage.Tx, account int64, providerID string, typing bool) error {
	return enqueue(tx, storage.NewJob{
		Kind: kindReceipt,
		Lane: "receipt:" + strconv.FormatInt(account, 10),
		Args: receiptArgs{storage.AboutAccount{Account: account}, providerID, typing},
	})
}

// receipt sends a read receipt. One that fails for good changes no data, so it is
// only logged. One that waited too long, because the process was down, is sent
// without its typing indicator.
func (w *Workers) receipt(ctx context.Context, job storage.Job, args receiptArgs) (queue.Commit, error) {
	sender, token, err := w.loadSender(ctx, args.Account)
	switch {
	case err != nil && !errors.Is(err, storage.ErrSealed):
		return nil, err
	case messaging.ReceiptRefusalOf(sender) != nil:
		return nil, nil // the number may not send any more
	}

	// One that was made in the future, by a clock that was ahead, is as old as its tries.
	age := max(w.DB.Now().Sub(job.CreatedAt), time.Duration(job.Failures)*receiptRetry)
	if err == nil {
		err = w.Provider.MarkRead(ctx, token, *sender.PhoneNumberID, args.Message, args.Typing && age < typingLife)
	}

	life := receiptLife
	if args.Typing {
		life = typingLife
	}
	switch {
	case err == nil:
		return nil, nil
	case provider.IsTransient(err) && age+receiptRetry < life:
		return nil, queue.RetryAfter(receiptRetry, err)
	}

	w.Log.Warn("could not send a read receipt", "account", sender.PublicID, "job", job.ID, "error", err)
	return nil, nil
}
