package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"confab/storage"
)

// movesAtOnce is how many files are moved at the same time: with small ones, most of the
// time is spent waiting for answers.
const movesAtOnce = 8

type moveView struct {
	Object  string   `json:"object"`
	Store   string   `json:"store"`
	To      string   `json:"to"` // "store" or "files"
	Files   int64    `json:"files"`
	Bytes   int64    `json:"bytes"`
	Skipped []string `json:"skipped"` // files that are damaged, or that the storage does not have
}

func (e *env) mediaMove() *cobra.Command {
	var toFiles bool
	cmd := &cobra.Command{
		Use:   "move",
		Short: "Carry media files over to the object storage in media.store",
		Long: "Upload the media files in the data directory to the object storage that media.store names. The server may\n" +
			"run meanwhile: set media.store and restart it first, so that new files go there too. If the command is\n" +
			"interrupted, run it again for the rest. Uploaded files stay in the data directory as copies, up to\n" +
			"media.cache_bytes.\n\n" +
			"With --to-files it is the other way: files are downloaded into the data directory. Then stop the server, run\n" +
			"it once more for the latest files, empty media.store, and start the server. Nothing is deleted from the\n" +
			"object storage.",
		Example: "  confab media move\n  confab media move --to-files --json",
		RunE: e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
			return s.moveMedia(cmd, toFiles)
		}),
	}

	cmd.Flags().BoolVar(&toFiles, "to-files", false, "download files from the object storage instead")
	return withJSON(cmd)
}

func printMove(cmd *cobra.Command, v moveView) error {
	where := v.Store
	if v.To == "files" {
		where = "the data directory"
	}
	if n := len(v.Skipped); n > 0 && !wantsJSON(cmd) {
		fmt.Fprintf(cmd.ErrOrStderr(), "confab: warning: %s files are damaged or missing and were left out; see 'confab doctor'\n",
			formatCount(int64(n)))
	}
	return printNew(cmd, fmt.Sprintf("Moved %s files (%s) to %s.", formatCount(v.Files), formatBytes(v.Bytes), where), v)
}

// moveMedia moves the files of media, several at a time. They are listed before the work, so that
// the database is not held while files are downloaded.
func (s *store) moveMedia(cmd *cobra.Command, toFiles bool) error {
	c, ctx := s.config.Media, cmd.Context()
	objects, err := c.Open()
	if err == nil && objects == nil {
		err = errors.New("media.store is not set: set it to the URL of the object storage")
	}
	if err != nil {
		return err
	}

	files, err := storage.OpenFilesBeside(s.dir.File(storage.MediaDir), objects, int64(c.CacheBytes))
	if err != nil {
		return err
	}
	defer files.Close()

	v := moveView{Object: "media_move", Store: c.Store, To: "store", Skipped: []string{}}
	m := &mediaMover{store: s, files: files, view: &v, line: newProgress(cmd.ErrOrStderr(), "moving", formatBytes)}
	sizes, move := make(map[string]int64), m.upload
	list := func(sum string, size int64) error {
		sizes[sum] = size
		return ctx.Err()
	}
	if toFiles {
		v.To, move = "files", files.MoveFromStore
		err = s.View(ctx, func(rx *storage.Rx) error { return rx.EachFile(list) })
	} else {
		err = files.EachLocal(list)
	}

	if err == nil {
		err = m.run(ctx, sizes, move)
	}
	m.line.end()
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	if err != nil {
		return fmt.Errorf("%w (%s files were moved: run it again for the rest)", err, formatCount(v.Files))
	}
	return printMove(cmd, v)
}

type mediaMover struct {
	store *store
	files *storage.Files
	line  *progress
	total int64

	mu   sync.Mutex
	done int64 // bytes that were looked at
	view *moveView
}

// run calls move with every file.
func (m *mediaMover) run(ctx context.Context, sizes map[string]int64, move func(ctx context.Context, sum string) (bool, error)) error {
	for _, size := range sizes {
		m.total += size
	}

	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(movesAtOnce)
	var interrupted error
	for sum, size := range sizes {
		if interrupted = ctx.Err(); interrupted != nil {
			break
		}
		group.Go(func() error {
			moved, err := move(ctx, sum)
			return m.count(sum, size, moved, err)
		})
	}
	return cmp.Or(group.Wait(), interrupted) // what stopped the group says more than that it was stopped
}

// count adds a file to the result. One that cannot be moved does not stop the others.
func (m *mediaMover) count(sum string, size int64, moved bool, err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.done += size
	m.line.step(m.done, m.total)
	switch {
	case errors.Is(err, storage.ErrDamagedFile), errors.Is(err, fs.ErrNotExist):
		m.view.Skipped = append(m.view.Skipped, sum)
		return nil
	case moved:
		m.view.Files++
		m.view.Bytes += size
	}
	return err
}

// upload makes an object of a file. One without a row is left to the server, which deletes it.
func (m *mediaMover) upload(ctx context.Context, sum string) (bool, error) {
	used, err := storage.Query(ctx, m.store.DB, func(rx *storage.Rx) (bool, error) { return rx.MediaUses(sum) })
	if err != nil || !used {
		return false, err
	}
	err = m.files.MoveToStore(ctx, sum)
	return err == nil, err
}
