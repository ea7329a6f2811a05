package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

const kindFetch = "media.fetch"

const (
	// fetchesAtOnce is how many files of a number may be on their way.
	fetchesAtOnce = 8
	// fetchLease is the time limit of one download.
	fetchLease = 10 * time.Minute
	// fetchPatience is the longest that the provider can ask us to wait.
	fetchPatience = time.Minute
)

// fetchRetries are the pauses before a file is asked for again: about two
// minutes, for so long its event can wait.
var fetchRetries = []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, time.Minute}

type fetchArgs struct {
	storage.AboutAccount
	Message string `json:"message"`
	Media   string `json:"media"` // the provider's id
	// Envelope is the callback that brought the message; an echo has none.
	Envelope json.RawMessage `json:"envelope,omitempty"`
}

// EnqueueFetch stores the job that fetches a message's media, and tells of the
// message when it is there.
func EnqueueFetch(tx *storage.Tx, m storage.Message, media string, envelope []byte) error {
	_, err := tx.Enqueue(storage.NewJob{
		Kind: kindFetch, Lane: "fetch:" + strconv.FormatInt(m.AccountID, 10), Args: fetchArgs{storage.AboutAccount{Account: m.AccountID}, m.ID, media, envelope},
	})
	return err
}

// fetchMedia gets the file of a message from the provider. Whatever becomes of
// it, the event that waits goes out.
func (w *Workers) fetchMedia(ctx context.Context, job storage.Job) (queue.Commit, error) {
	var args fetchArgs
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	m, sender, token, err := w.waiting(ctx, args)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, nil // the message is gone, or the account, and with it whoever would hear of it
	case errors.Is(err, ErrToken):
		return w.unfetched(args, err), nil
	case err != nil:
		return nil, err
	}
	file, err := w.download(ctx, token, *sender.PhoneNumberID, args.Media, m)
	if err == nil {
		return w.fetched(args, file), nil
	}
	_, answered := errors.AsType[*provider.Error](err)
	switch torn := errors.Is(err, errTorn); {
	case !answered && !torn:
		return nil, err // our own trouble, which passes
	case (torn || provider.Transient(err)) && job.Attempt() <= len(fetchRetries):
		delay := max(jitter(fetchRetries[job.Attempt()-1]), min(provider.RetryAfter(err), fetchPatience))
		return nil, queue.RetryAfter(delay, err)
	}
	w.Log.Warn("media was not fetched", "account", sender.PublicID, "message", m.ID, "error", err)
	return w.unfetched(args, err), nil
}

// waiting finds a message that waits for its media, and who can ask for it.
func (w *Workers) waiting(ctx context.Context, args fetchArgs) (m storage.Message, s storage.Sender, token provider.Token, err error) {
	err = w.DB.View(ctx, func(rx *storage.Rx) (err error) {
		m, err = rx.Message(args.Account, args.Message)
		return err
	})
	if err != nil {
		return m, s, token, err
	}
	s, token, err = w.sender(ctx, args.Account)
	return m, s, token, err
}

// errTorn means that a file is not the one that the provider described.
var errTorn = errors.New("the content does not match its hash")

// download stores a file and describes it.
func (w *Workers) download(ctx context.Context, token provider.Token, number, id string, m storage.Message) (storage.Media, error) {
	up, err := w.Files.Create()
	if err != nil {
		return storage.Media{}, err
	}
	defer up.Discard()
	in := &sniffing{file: up}
	described, content, err := w.Provider.FetchMedia(ctx, token, id, number, MaxFileSize, in)
	if err != nil {
		return storage.Media{}, err
	}
	sum, err := up.Keep()
	if err != nil {
		return storage.Media{}, err
	}
	var raw [sha256.Size]byte
	if _, err := hex.Decode(raw[:], []byte(sum)); err != nil || !described.Matches(raw) {
		return storage.Media{}, errTorn // the sweep finds what was kept
	}
	file := storage.Media{AccountID: m.AccountID, Origin: storage.OriginMessage, SHA256: sum, Size: up.Size(), Filename: givenName(m)}
	file.MIMEType = Unpack(FileType(in.head), text(file.Filename), BareType(content.MIME))
	return file, nil
}

// givenName is what the sender called a document.
func givenName(m storage.Message) *string {
	content, err := provider.Read[provider.Attachment](json.RawMessage(m.Content))
	if err != nil {
		return nil
	}
	return FileName(content.Filename)
}

// sniffing writes a file and keeps its beginning.
type sniffing struct {
	file *storage.Upload
	head []byte
}

// Write implements io.Writer.
func (s *sniffing) Write(p []byte) (int, error) {
	if room := FileHead - len(s.head); room > 0 {
		s.head = append(s.head, p[:min(room, len(p))]...)
	}
	return s.file.Write(p)
}

// fetched records a file and tells of the message that waited for it.
func (w *Workers) fetched(args fetchArgs, file storage.Media) queue.Commit {
	return func(tx *storage.Tx) error {
		m, err := tx.Message(args.Account, args.Message)
		if err != nil {
			return ignoreMissing(err)
		}
		if err := tx.InsertMedia(&file); err != nil {
			return err
		}
		if err := tx.MarkMediaFetched(&m, file); err != nil {
			return err
		}
		return w.Host.tellFetched(tx, args, m)
	}
}

// unfetched tells of a message whose file cannot be had.
func (w *Workers) unfetched(args fetchArgs, why error) queue.Commit {
	return func(tx *storage.Tx) error {
		m, err := tx.Message(args.Account, args.Message)
		if err != nil {
			return ignoreMissing(err)
		}
		if err := tx.MarkMediaFailed(&m); err != nil {
			return err
		}
		if effect := provider.EffectOf(why); effect == provider.Degraded || effect == provider.Disconnected {
			if err := applyEffect(tx, m, failureOf(why)); err != nil {
				return err
			}
		}
		return w.Host.tellFetched(tx, args, m)
	}
}

// giveUpFetch tells of a message whose file could not be stored.
func (w *Workers) giveUpFetch(job storage.Job, why error) queue.Commit {
	var args fetchArgs
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return func(*storage.Tx) error { return nil } // names no message
	}
	return w.unfetched(args, why)
}

// tellFetched tells of a message, now that nothing is left to wait for.
func (h Host) tellFetched(tx *storage.Tx, args fetchArgs, m storage.Message) error {
	s, err := tx.Sender(m.AccountID)
	if err != nil {
		return ignoreMissing(err)
	}
	t, err := tx.Thread(m.AccountID, m.ContactID)
	if err != nil {
		return err
	}
	if args.Envelope == nil {
		m.ConversationStatus = t.Status
		return h.tellSent(tx, s.Account, m)
	}
	return h.TellReceived(tx, s.Account, t, m, args.Envelope)
}
