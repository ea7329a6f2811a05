package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"confab/jobs/filetype"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

const kindMediaFetch = "media.fetch"

const (
	// fetchesAtOnce is how many downloads of a number may be under way.
	fetchesAtOnce = 8
	// maxFetchWait is the longest Retry-After of the provider that is obeyed.
	maxFetchWait = time.Minute
)

// fetchRetries are the pauses before another download: two minutes in all, because
// the event of the message waits for it.
var fetchRetries = []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, time.Minute}

type fetchArgs struct {
	storage.AboutAccount
	Message string `json:"message"`
	Media   string `json:"media"` // the provider's id
	// Envelope is the callback that brought the message; an echo has none.
	Envelope json.RawMessage `json:"envelope,omitempty"`
}

// EnqueueMediaFetch stores the job that downloads a message's media and emits its event.
func EnqueueMediaFetch(tx *storage.Tx, m storage.Message, media string, envelope []byte) error {
	return enqueue(tx, storage.NewJob{
		Kind: kindMediaFetch,
		Lane: "fetch:" + strconv.FormatInt(m.AccountID, 10),
		Args: fetchArgs{storage.AboutAccount{Account: m.AccountID}, m.ID, media, envelope},
	})
}

// fetchMedia downloads the file of a message from the provider. The event of the
// message is emitted in the end, with the file or without.
func (w *Workers) fetchMedia(ctx context.Context, job storage.Job, args fetchArgs) (queue.Commit, error) {
	m, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) (storage.Message, error) { return rx.Message(args.Account, args.Message) })
	if err != nil {
		return nil, err
	}
	sender, token, err := w.loadSender(ctx, args.Account)
	switch {
	case errors.Is(err, storage.ErrSealed):
		return func(tx *storage.Tx) error { return w.failFetch(tx, args, err) }, nil
	case err != nil:
		return nil, err
	}

	file, err := w.download(ctx, token, *sender.PhoneNumberID, args.Media, m)
	if err == nil {
		return func(tx *storage.Tx) error {
			return w.endFetch(tx, args, func(m *storage.Message) error {
				if err := tx.InsertMedia(&file); err != nil {
					return err
				}
				return tx.MarkMediaFetched(m, file)
			})
		}, nil
	}

	_, ofProvider := errors.AsType[*provider.Error](err)
	switch mismatch := errors.Is(err, errHashMismatch); {
	case queue.Stopped(ctx):
		return nil, queue.Postpone(0)
	case errors.Is(err, storage.ErrUnavailable): // the disk is full, or the storage of media away
		// However long that takes: a file that is given up is lost, though the provider has it.
		w.Log.Warn("could not store media", "account", sender.PublicID, "message", m.ID, "error", err)
		return nil, queue.Postpone(queue.Jitter(storePause, sendSpread))
	case !ofProvider && !mismatch:
		return nil, err // our own error: the queue's backoff
	case (mismatch || provider.IsTransient(err)) && job.Attempt() <= len(fetchRetries):
		delay := max(queue.Jitter(fetchRetries[job.Attempt()-1], sendSpread), min(provider.RetryAfter(err), maxFetchWait))
		return nil, queue.RetryAfter(delay, err)
	}

	w.Log.Warn("could not fetch media", "account", sender.PublicID, "message", m.ID, "error", err)
	return func(tx *storage.Tx) error { return w.failFetch(tx, args, err) }, nil
}

// storePause is how long a run waits before it tries again while no media can be stored.
const storePause = 30 * time.Second

// errHashMismatch means that a file was damaged on the way.
var errHashMismatch = errors.New("the content does not match its hash")

// download stores a file of the provider on disk and returns the row for it.
func (w *Workers) download(ctx context.Context, token provider.Token, number, id string, m storage.Message) (storage.Media, error) {
	up, err := w.Files.Create()
	if err != nil {
		return storage.Media{}, err
	}
	defer up.Discard()

	in := &headWriter{ctx: ctx, file: up}
	described, err := w.Provider.FetchMedia(ctx, token, id, number, filetype.MaxSize, in)
	if err != nil {
		return storage.Media{}, err
	}

	sum, err := up.Keep(ctx)
	if err != nil {
		return storage.Media{}, err
	}
	if !described.Matches(sum) {
		return storage.Media{}, errHashMismatch // sweepMedia removes the file
	}

	file := storage.Media{
		AccountID: m.AccountID,
		Origin:    storage.OriginMessage,
		SHA256:    sum,
		Size:      up.Size(),
	}
	if content, err := provider.Read[provider.Attachment](json.RawMessage(m.Content)); err == nil {
		file.Filename = filetype.CleanName(content.Filename) // that the sender gave a document
	}
	named := filetype.WithoutParameters(described.MIME)
	file.MIMEType = filetype.InContainer(filetype.Detect(in.head), storage.OrEmpty(file.Filename), named)
	return file, nil
}

// headWriter writes a file and keeps its beginning, which shows its type. Whenever
// a piece arrives, the lease of the run is renewed.
type headWriter struct {
	ctx  context.Context
	file *storage.Upload
	head []byte
}

func (h *headWriter) Write(p []byte) (int, error) {
	queue.Extend(h.ctx)
	if room := filetype.HeadSize - len(h.head); room > 0 {
		h.head = append(h.head, p[:min(room, len(p))]...)
	}
	return h.file.Write(p)
}

// failFetch records that a file cannot be fetched, and emits the event.
func (w *Workers) failFetch(tx *storage.Tx, args fetchArgs, why error) error {
	return w.endFetch(tx, args, func(m *storage.Message) error {
		err := tx.MarkMediaFailed(m)
		if effect := provider.ClassOf(why).Effect; err == nil && (effect == provider.Degraded || effect == provider.Disconnected) {
			err = messaging.ApplyEffect(tx, *m, messaging.FailureOf(why))
		}
		return err
	})
}

// endFetch records what became of the media of a message, and emits the message's event:
// message.received, or message.sent for an echo.
func (w *Workers) endFetch(tx *storage.Tx, args fetchArgs, record func(*storage.Message) error) error {
	m, err := tx.Message(args.Account, args.Message)
	if err != nil {
		return storage.IgnoreNotFound(err)
	}
	if err := record(&m); err != nil {
		return err
	}

	s, err := tx.Sender(m.AccountID)
	if err != nil {
		return storage.IgnoreNotFound(err)
	}
	t, err := tx.Thread(m.AccountID, m.ContactID)
	if err != nil {
		return err
	}
	if args.Envelope == nil {
		m.ConversationStatus = t.Status
		return w.Publisher.EmitSent(tx, s.Account, m)
	}
	return w.Publisher.EmitReceived(tx, s.Account, t, m, args.Envelope)
}
