package jobs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

const (
	kindMediaRemoval = "media.remove"
	kindMediaSweep   = "media.sweep"

	// mediaGrace is how long deleted media stays for messages that were accepted
	// with it. While such a message still waits, the time is extended by as much. A
	// file without a row also stays so long, because its row may follow.
	mediaGrace      = time.Hour
	mediaSweepEvery = 6 * time.Hour

	// providerKeeps is how long the provider's id of a file is used: a day less
	// than the provider keeps the file.
	providerKeeps = 29 * 24 * time.Hour

	mediaUploadFailed = "media_upload_failed"
)

// Host emits the events of messages. It is the public URL below which their media
// is hosted, which those events contain.
type Host string

// LinkOf is the URL of a message's media: where we host it, or the link that it
// was sent with. It is empty where there is no media, or none yet.
func (h Host) LinkOf(m storage.Message) string {
	if m.MediaToken != nil {
		return string(h) + storage.MediaPath(*m.MediaToken, m.MediaFilename)
	}

	var c struct {
		Link string `json:"link"`
	}
	hasLink := m.Direction == storage.Outbound && slices.Contains([]string{"image", "video", "audio", "document"}, m.Type)
	if hasLink && json.Unmarshal(m.Content, &c) == nil {
		return c.Link
	}
	return ""
}

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
		known, err := w.uploadedID(ctx, out, id)
		if err != nil || known != "" {
			file["id"] = known
			return err
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
// stands under the name of a kind of media and has an id of ours. name is what v
// itself stands under.
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

// uploadedID returns the provider's id of a file, or "" if it must be uploaded.
func (w *Workers) uploadedID(ctx context.Context, out outgoing, id string) (string, error) {
	m, err := w.mediaToSend(ctx, out, id)
	if err != nil || m.ProviderID == nil || storage.Now() >= m.ExpiresAt {
		return "", err
	}
	return *m.ProviderID, nil
}

// mediaToSend finds the row of a file and what the provider knows of it.
func (w *Workers) mediaToSend(ctx context.Context, out outgoing, id string) (m storage.OutgoingMedia, err error) {
	err = w.DB.View(ctx, func(rx *storage.Rx) (err error) {
		m, err = rx.MediaToSend(out.message.AccountID, id)
		return err
	})
	if errors.Is(err, storage.ErrNotFound) {
		return m, errNoMedia
	}
	return m, err
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
	if known, err := w.uploadedID(ctx, out, id); err != nil || known != "" {
		return known, err
	}

	m, err := w.mediaToSend(ctx, out, id)
	if err != nil {
		return "", err
	}

	expires := storage.Now().Add(providerKeeps)
	given, err := w.upload(ctx, out, m.Media)
	if err != nil {
		return "", err
	}

	return given, w.DB.Update(ctx, func(tx *storage.Tx) error {
		return tx.MarkMediaUploaded(out.message.AccountID, m.ID, given, expires)
	})
}

// upload uploads a file to the provider.
func (w *Workers) upload(ctx context.Context, out outgoing, m storage.Media) (string, error) {
	file, err := w.Files.Open(m.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		w.Log.Error("a file is missing", "media", m.ID, "sha256", m.SHA256)
		return "", errNoMedia
	}
	if err != nil {
		return "", fmt.Errorf("open media %s: %w", m.ID, err)
	}
	defer file.Close()

	return w.Provider.UploadMedia(ctx, out.token, *out.sender.PhoneNumberID, provider.File{
		Name:    cmp.Or(orEmpty(m.Filename), "file"),
		MIME:    m.MIMEType,
		Size:    m.Size,
		Content: file,
	})
}

// prepareFailed decides what becomes of a message whose media could not be
// uploaded. Transient errors and errors about the account have the same effect as
// those of a send; any other refusal is about the file.
func (w *Workers) prepareFailed(ctx context.Context, job storage.Job, out outgoing, err error) (queue.Commit, error) {
	if ctx.Err() != nil {
		return nil, queue.Postpone(0) // stopped, and nothing was sent
	}
	if errors.Is(err, errNoMedia) {
		return failMessage(out, failure{code: mediaUploadFailed, text: "The media was deleted before it could be sent.", own: true}), nil
	}
	if _, ofProvider := errors.AsType[*provider.Error](err); !ofProvider {
		return nil, err // our own error, such as a full disk: the queue's backoff
	}

	if class := provider.ClassOf(err); !class.Transient && class.Code == UpstreamError {
		f := failureOf(err)
		f.code = mediaUploadFailed
		return failMessage(out, f), nil
	}
	return w.sendOutcome(job, out, provider.Sent{}, err)
}

// uploadLocks lets only one worker at a time upload a file for a number.
type uploadLocks struct {
	mu   sync.Mutex
	busy map[uploadKey]chan struct{} // closed when the upload has ended
}

type uploadKey struct {
	account int64
	media   string
}

func newUploadLocks() *uploadLocks { return &uploadLocks{busy: make(map[uploadKey]chan struct{})} }

// lock waits until nobody else uploads a file.
func (u *uploadLocks) lock(ctx context.Context, id uploadKey) (unlock func(), err error) {
	for {
		u.mu.Lock()
		other, busy := u.busy[id]
		if !busy {
			mine := make(chan struct{})
			u.busy[id] = mine
			u.mu.Unlock()

			return func() {
				u.mu.Lock()
				defer u.mu.Unlock()
				delete(u.busy, id)
				close(mine)
			}, nil
		}
		u.mu.Unlock()

		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

type mediaRemovalArgs struct {
	storage.AboutAccount
	Media  string `json:"media"`
	SHA256 string `json:"sha256"`
}

// EnqueueMediaRemoval stores the job that removes media that was marked as deleted.
// It runs after mediaGrace, for messages that need it, and a minute more: files
// younger than mediaGrace are left alone, also one that was deleted right after
// its upload.
func EnqueueMediaRemoval(tx *storage.Tx, m storage.Media) error {
	_, err := tx.Enqueue(storage.NewJob{
		Kind:  kindMediaRemoval,
		Args:  mediaRemovalArgs{storage.AboutAccount{Account: m.AccountID}, m.ID, m.SHA256},
		DueAt: tx.Now.Add(mediaGrace + time.Minute),
	})
	return err
}

// removeMedia deletes the row of deleted media, and the file if it was the last
// row that used it. It waits as long as a message with the media is queued.
func (w *Workers) removeMedia(ctx context.Context, job storage.Job) (queue.Commit, error) {
	var args mediaRemovalArgs
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}

	needed := false
	err := w.DB.View(ctx, func(rx *storage.Rx) (err error) {
		needed, err = rx.JobNames(kindSend, args.Media)
		return err
	})
	if err != nil {
		return nil, err
	}
	if needed {
		return nil, queue.Postpone(mediaGrace)
	}

	detach := func(tx *storage.Tx, limit int) (int64, error) { return tx.DetachMedia(args.Media, limit) }
	if err := newBatchWriter(w.DB).repeat(ctx, detach); err != nil {
		return nil, err
	}

	return func(tx *storage.Tx) error {
		if err := tx.DeleteMedia(args.Account, args.Media); err != nil {
			return err
		}
		return w.removeUnused(tx, args.SHA256, tx.Now)
	}, nil
}

// removeUnused removes a file that no row uses, after the commit of the transaction
// that says so. After a crash before that, sweepMedia finds the file. A new row for
// the same content has stored its file again: files that are young at now are left
// alone.
func (w *Workers) removeUnused(tx *storage.Tx, sum string, now storage.Time) error {
	used, err := tx.MediaUses(sum)
	if err != nil || used {
		return err
	}

	since := now.Add(-mediaGrace).Std()
	tx.AfterCommit(func() {
		if err := w.Files.Remove(sum, since); err != nil {
			w.Log.Error("remove a file", "sha256", sum, "error", err)
		}
	})
	return nil
}

// sweepMedia removes the files that a crash left without a row. removeUnused looks
// for a row once more, on the writer, because one may come after the read.
func (w *Workers) sweepMedia(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	now, err := w.clock.now(ctx)
	if err != nil {
		return nil, ignoreClock(err)
	}

	return nil, w.Files.Each(now.Add(-mediaGrace).Std(), func(sums []string) error {
		var unused []string
		err := w.DB.View(ctx, func(rx *storage.Rx) error {
			for _, sum := range sums {
				used, err := rx.MediaUses(sum)
				if err != nil {
					return err
				}
				if !used {
					unused = append(unused, sum)
				}
			}
			return nil
		})

		for _, sum := range unused {
			err = errors.Join(err, w.DB.Update(ctx, func(tx *storage.Tx) error { return w.removeUnused(tx, sum, now) }))
		}
		return err
	})
}
