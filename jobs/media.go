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

	// mediaGrace is how long deleted media stays for the messages that were
	// accepted with it, and how long it stays again while one still waits. A file
	// without a row gets as long, because its row may be on the way.
	mediaGrace      = time.Hour
	mediaSweepEvery = 6 * time.Hour

	// providerKeeps is how long an uploaded file is used: a day less than the
	// provider keeps it.
	providerKeeps = 29 * 24 * time.Hour

	mediaUploadFailed = "media_upload_failed"
)

// Host is the public URL below which media is hosted.
type Host string

// LinkOf is the URL of a message's media: the hosted one, or the link that it
// was sent by. It is empty where there is none, or none yet.
func (h Host) LinkOf(m storage.Message) string {
	if m.MediaToken != nil {
		return string(h) + storage.MediaPath(*m.MediaToken, m.MediaFilename)
	}
	var c struct {
		Link string `json:"link"`
	}
	if m.Direction == storage.Outbound && slices.Contains([]string{"image", "video", "audio", "document"}, m.Type) && json.Unmarshal(m.Content, &c) == nil {
		return c.Link
	}
	return ""
}

// errNoMedia means that a message's media is not there any more.
var errNoMedia = errors.New("the media was deleted")

// prepareMedia puts the provider's ids of files in the place of our own. Handing
// a file over takes its time, in which the job is marked: should the process die
// meanwhile, the message itself was certainly not sent.
func (w *Workers) prepareMedia(ctx context.Context, job storage.Job, out outgoing, content json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(content, []byte(`"`+storage.PrefixMedia)) {
		return content, nil // as almost always
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber() // a number stays as it was written
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	prepares := false
	err := eachFile(out.message.Type, tree, func(file map[string]any, id string) (err error) {
		known, err := w.uploadedBefore(ctx, out, id)
		if err != nil || known != "" {
			file["id"] = known
			return err
		}
		if !prepares {
			prepares = true
			if err := w.markPreparing(ctx, job, true); err != nil {
				return err
			}
		}
		file["id"], err = w.uploaded(ctx, out, id)
		return err
	})
	if err == nil && prepares {
		err = w.markPreparing(ctx, job, false)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

func (w *Workers) markPreparing(ctx context.Context, job storage.Job, prepares bool) error {
	return w.DB.Update(ctx, func(tx *storage.Tx) error { return tx.MarkPreparing(job, prepares) })
}

// eachFile finds the files of the library in a content, which stands under name:
// objects called after a kind of media, with an id of ours.
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

// uploadedBefore returns the provider's id of a file, or "" if it must be uploaded.
func (w *Workers) uploadedBefore(ctx context.Context, out outgoing, id string) (string, error) {
	m, err := w.mediaToSend(ctx, out, id)
	if err != nil || m.ProviderID == nil || storage.Now() >= m.ExpiresAt {
		return "", err
	}
	return *m.ProviderID, nil
}

// mediaToSend finds a file of a message.
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

// uploaded returns the provider's id of a file, uploading it if the provider has
// it no longer. Of many messages of a number with one file only the first does so.
func (w *Workers) uploaded(ctx context.Context, out outgoing, id string) (string, error) {
	unlock, err := w.uploads.lock(ctx, upload{out.message.AccountID, id})
	if err != nil {
		return "", err
	}
	defer unlock()
	if known, err := w.uploadedBefore(ctx, out, id); err != nil || known != "" {
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
	return given, w.DB.Update(ctx, func(tx *storage.Tx) error { return tx.MarkMediaUploaded(out.message.AccountID, m.ID, given, expires) })
}

// upload hands a file to the provider.
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
	name := cmp.Or(text(m.Filename), "file")
	return w.Provider.UploadMedia(ctx, out.token, *out.sender.PhoneNumberID, provider.File{Name: name, MIME: m.MIMEType, Size: m.Size, Content: file})
}

// notPrepared decides what becomes of a message whose media could not be handed
// over. What the provider says of the account, or says for now, counts as in a
// send; any other refusal is about the file.
func (w *Workers) notPrepared(ctx context.Context, job storage.Job, out outgoing, err error) (queue.Commit, error) {
	if ctx.Err() != nil {
		return nil, queue.Postpone(0) // stopped, and nothing was sent
	}
	if errors.Is(err, errNoMedia) {
		return failing(out, failure{code: mediaUploadFailed, text: "The media was deleted before it could be sent.", own: true}), nil
	}
	if _, answered := errors.AsType[*provider.Error](err); !answered {
		return nil, err // our own trouble, which passes
	}
	if class := provider.ClassOf(err); !class.Transient && class.Code == UpstreamError {
		f := failureOf(err)
		f.code = mediaUploadFailed
		return failing(out, f), nil
	}
	return w.sent(job, out, provider.Sent{}, err)
}

// uploads are the files on their way to the provider.
type uploads struct {
	mu   sync.Mutex
	busy map[upload]chan struct{}
}

// upload is a file that a number hands over.
type upload struct {
	account int64
	media   string
}

func newUploads() *uploads { return &uploads{busy: make(map[upload]chan struct{})} }

// lock waits until nobody else uploads a file.
func (u *uploads) lock(ctx context.Context, id upload) (unlock func(), err error) {
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

// EnqueueMediaRemoval stores the job that removes deleted media for good, once
// no message can need it, and a minute later, so that a file that was uploaded
// and deleted at once is old enough by then.
func EnqueueMediaRemoval(tx *storage.Tx, m storage.Media) error {
	due := tx.Now.Add(mediaGrace + time.Minute)
	_, err := tx.Enqueue(storage.NewJob{Kind: kindMediaRemoval, Args: mediaRemovalArgs{storage.AboutAccount{Account: m.AccountID}, m.ID, m.SHA256}, DueAt: due})
	return err
}

// removeMedia deletes the row of deleted media, and its file with the last row.
// A message that waits for hours, behind thousands of others, still finds both.
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
	if err := newGentle(w.DB).repeat(ctx, detach); err != nil {
		return nil, err
	}
	return func(tx *storage.Tx) error {
		if err := tx.DeleteMedia(args.Account, args.Media); err != nil {
			return err
		}
		return w.removeUnused(tx, args.SHA256)
	}, nil
}

// removeUnused removes a file that no row names, after the commit that proves
// it. A crash before that leaves the file to the sweep. A row that comes later
// has put its file there anew, and a young file is left alone.
func (w *Workers) removeUnused(tx *storage.Tx, sum string) error {
	used, err := tx.MediaUses(sum)
	if err != nil || used {
		return err
	}
	since := tx.Now.Add(-mediaGrace).Std()
	tx.AfterCommit(func() {
		if err := w.Files.Remove(sum, since); err != nil {
			w.Log.Error("remove a file", "sha256", sum, "error", err)
		}
	})
	return nil
}

// sweepMedia removes the files that a crash left without a row.
func (w *Workers) sweepMedia(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	return nil, w.Files.Each(time.Now().Add(-mediaGrace), func(sums []string) error {
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
			err = errors.Join(err, w.DB.Update(ctx, func(tx *storage.Tx) error { return w.removeUnused(tx, sum) }))
		}
		return err
	})
}
