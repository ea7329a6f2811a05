package jobs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"confab/jobs/errorcode"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

// providerKeeps is for how long the provider's id of a file is used: a day less than it is kept.
const providerKeeps = 29 * 24 * time.Hour

// errNoMedia means that a message's media is not there any more.
var errNoMedia = errors.New("the media was deleted")

// prepareMedia replaces our ids of files in a content by the provider's, and
// uploads files that the provider does not have. While it uploads, the job is
// marked as preparing: if the process dies meanwhile, the next run knows that the
// message was not sent.
func (w *Workers) prepareMedia(ctx context.Context, job storage.Job, out outgoing, content json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(content, []byte(`"`+storage.PrefixMedia)) {
		return content, nil // no media of ours, as almost always
	}

	var tree any
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber() // a number stays as it was written
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}

	preparing := false
	err := eachFile(out.message.Type, tree, func(file map[string]any, id string) (err error) {
		_, known, err := w.mediaToSend(ctx, out, id)
		if err != nil {
			return err
		}
		if known != "" {
			file["id"] = known
			return nil
		}

		if !preparing {
			preparing = true
			if err := w.markPreparing(ctx, job, true); err != nil {
				return err
			}
		}

		file["id"], err = w.ensureUploaded(ctx, out, id)
		return err
	})

	if err == nil && preparing {
		err = w.markPreparing(ctx, job, false)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

func (w *Workers) markPreparing(ctx context.Context, job storage.Job, preparing bool) error {
	return w.DB.Update(ctx, func(tx *storage.Tx) error { return tx.MarkPreparing(job, preparing) })
}

// eachFile calls fn for each of our files in a content. A file is an object that
// is under the name of a kind of media and has an id of ours. name is the key
// of v itself.
func eachFile(name string, v any, fn func(file map[string]any, id string) error) error {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if err := eachFile(name, item, fn); err != nil {
				return err
			}
		}
	case map[string]any:
		id, _ := v["id"].(string)
		if slices.Contains([]string{"image", "video", "audio", "document", "gif"}, name) && storage.ValidID(storage.PrefixMedia, id) {
			return fn(v, id)
		}

		for key, value := range v {
			if err := eachFile(key, value, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

// mediaToSend finds the row of a file, and the provider's id of it, "" if it must be uploaded.
func (w *Workers) mediaToSend(ctx context.Context, out outgoing, id string) (m storage.Media, known string, err error) {
	found, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) (storage.OutgoingMedia, error) {
		return rx.MediaToSend(out.message.AccountID, id)
	})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		err = errNoMedia
	case err == nil && w.DB.Now() < found.ExpiresAt:
		known = storage.OrEmpty(found.ProviderID)
	}
	return found.Media, known, err
}

// ensureUploaded returns the provider's id of a file, and uploads it if the
// provider does not have it. When several messages of a number wait for the same
// file, only the first of them uploads it.
func (w *Workers) ensureUploaded(ctx context.Context, out outgoing, id string) (string, error) {
	unlock, err := w.uploads.lock(ctx, uploadKey{out.message.AccountID, id})
	if err != nil {
		return "", err
	}
	defer unlock()

	// Another message may have uploaded it while this one waited for the lock.
	m, known, err := w.mediaToSend(ctx, out, id)
	if err != nil || known != "" {
		return known, err
	}

	expires := w.DB.Now().Add(providerKeeps)
	given, err := w.upload(ctx, out, m)
	if err != nil {
		return "", err
	}

	return given, w.DB.Update(ctx, func(tx *storage.Tx) error {
		return tx.MarkMediaUploaded(out.message.AccountID, m.ID, given, expires)
	})
}

func (w *Workers) upload(ctx context.Context, out outgoing, m storage.Media) (string, error) {
	file, err := w.Files.Open(ctx, m.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		w.Log.Error("a media file is missing", "media", m.ID, "sha256", m.SHA256)
		return "", errNoMedia
	}
	if err != nil {
		return "", fmt.Errorf("open media %s: %w", m.ID, err)
	}
	defer file.Close()

	return w.Provider.UploadMedia(ctx, out.token, *out.sender.PhoneNumberID, provider.File{
		Name:    cmp.Or(storage.OrEmpty(m.Filename), "file"),
		MIME:    m.MIMEType,
		Size:    m.Size,
		Content: extendingReader{ctx, file},
	}, nil)
}

// extendingReader renews the lease of a run whenever the next piece of a file is
// read: an upload that makes progress may take longer than the lease.
type extendingReader struct {
	ctx context.Context
	io.ReaderAt
}

func (r extendingReader) ReadAt(p []byte, offset int64) (int, error) {
	queue.Extend(r.ctx)
	return r.ReaderAt.ReadAt(p, offset)
}

// quickUpload is how long an upload may take without another look at its account.
const quickUpload = time.Second

// recheckSender puts a message back whose account may not send any more, or has to wait, since
// its media was uploaded, and one of a broadcast, which may have been paused or cancelled. The next
// run finds out what becomes of it, and uploads nothing again.
func (w *Workers) recheckSender(ctx context.Context, out outgoing) error {
	if time.Since(out.began) < quickUpload {
		return nil
	}
	if out.message.Broadcast != nil {
		return queue.Postpone(0)
	}

	now, err := w.DB.Sender(ctx, out.sender.ID)
	gone := errors.Is(err, storage.ErrNotFound)
	if err != nil && !gone {
		return err
	}
	if gone || messaging.RefusalOf(now) != nil || now.CooldownUntil != out.sender.CooldownUntil {
		return queue.Postpone(0)
	}
	return nil
}

// prepareFailed decides what becomes of a message whose media could not be
// uploaded. Transient errors and errors about the account have the same effect as
// those of a send; any other refusal is about the file.
func (w *Workers) prepareFailed(ctx context.Context, job storage.Job, out outgoing, err error) (queue.Commit, error) {
	if queue.Stopped(ctx) {
		return nil, queue.Postpone(0) // nothing was sent
	}
	if errors.Is(err, errNoMedia) {
		return failMessage(out, messaging.Failure{
			Code: errorcode.MediaUploadFailed,
			Text: "The media was deleted before it could be sent.",
			Own:  true,
		}), nil
	}
	if errors.Is(err, storage.ErrMediaStore) {
		// Nothing was sent, so the tries that the message has are not used up.
		w.Log.Warn("could not read media", "account", out.sender.PublicID, "message", out.message.ID, "error", err)
		return nil, queue.Postpone(queue.Jitter(storePause, sendSpread))
	}
	if _, ofProvider := errors.AsType[*provider.Error](err); !ofProvider {
		return nil, err // our own error, such as a full disk: the queue's backoff
	}

	if class := provider.ClassOf(err); !class.Transient && class.Code == errorcode.UpstreamError {
		f := messaging.FailureOf(err)
		f.Code = errorcode.MediaUploadFailed
		return failTry(out, failedTry(out, err), f), nil
	}
	return w.sendOutcome(job, out, provider.Sent{}, err)
}

// uploadLocks lets only one worker at a time upload a file for a number.
type uploadLocks struct {
	busy sync.Map // by uploadKey, a channel that is closed when the upload has ended
}

type uploadKey struct {
	account int64
	media   string
}

// lockRecheck is how often a run that waits for another one's upload renews its
// lease. That upload ends by itself when it makes no progress.
const lockRecheck = time.Minute

// lock waits until no one else uploads a file.
func (u *uploadLocks) lock(ctx context.Context, id uploadKey) (unlock func(), err error) {
	for mine := make(chan struct{}); ; {
		other, busy := u.busy.LoadOrStore(id, mine)
		if !busy {
			return func() {
				u.busy.Delete(id)
				close(mine)
			}, nil
		}

		select {
		case <-other.(chan struct{}):
		case <-time.After(lockRecheck):
			queue.Extend(ctx)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
