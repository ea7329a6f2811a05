package simulator

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// blobs keeps the bytes of media in files named after their id.
type blobs struct {
	dir       string
	temporary bool // removed in the end
}

// newBlobs keeps files beside a state file, or for as long as the simulator runs where there
// is none.
func newBlobs(stateFile string) (*blobs, error) {
	if stateFile == "" {
		dir, err := os.MkdirTemp("", "confab-simulator-*")
		return &blobs{dir: dir, temporary: true}, err
	}

	b := &blobs{dir: stateFile + ".media"}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return nil, fmt.Errorf("media directory: %w", err)
	}
	removeMatches(b.dir, stagedPattern)
	return b, nil
}

func (b *blobs) close() {
	if b.temporary {
		os.RemoveAll(b.dir)
	}
}

// stagedFile is a file that has been received but belongs to no object yet.
type stagedFile struct {
	path string
	kind string // as the client labelled it
	size int64
	sum  []byte // SHA-256
}

const stagedPattern = ".upload-*"

// stage receives a file of at most limit bytes.
func (b *blobs) stage(r io.Reader, limit int64) (*stagedFile, error) {
	f, err := os.CreateTemp(b.dir, stagedPattern)
	if err != nil {
		return nil, err
	}

	st := &stagedFile{path: f.Name()}
	if err := errors.Join(st.fill(f, r, limit), f.Close()); err != nil {
		st.discard()
		return nil, err
	}
	return st, nil
}

func (st *stagedFile) fill(f *os.File, r io.Reader, limit int64) error {
	sum := sha256.New()
	// One byte more than allowed is read, to notice that there is more.
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(r, limit+1))
	if err != nil {
		return err
	}
	if n > limit {
		return errTooLarge
	}

	st.size, st.sum = n, sum.Sum(nil)
	return f.Sync()
}

// discard deletes the bytes, unless they were kept.
func (st *stagedFile) discard() { os.Remove(st.path) }

func (b *blobs) keep(st *stagedFile, id string) error { return os.Rename(st.path, b.file(id)) }

func (b *blobs) open(id string) (*os.File, error) { return os.Open(b.file(id)) }

func (b *blobs) remove(id string) { os.Remove(b.file(id)) }

// file is where an id's bytes lie. Ids are made here and hold digits only.
func (b *blobs) file(id string) string { return filepath.Join(b.dir, filepath.Base(id)) }
