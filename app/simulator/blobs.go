package simulator

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// blobs keeps the bytes of media: in files named after their id, or in memory
// when there is no directory.
type blobs struct {
	dir string

	mu     sync.Mutex
	memory map[string][]byte
}

func newBlobs(dir string) (*blobs, error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("media directory: %w", err)
		}
		removeMatches(dir, stagedPattern)
	}
	return &blobs{dir: dir, memory: map[string][]byte{}}, nil
}

// stagedFile is a file that has been received but belongs to no object yet.
type stagedFile struct {
	store *blobs
	kind  string // as the client labelled it
	size  int64
	sum   [sha256.Size]byte
	head  []byte // the first bytes, to detect its type

	path string
	data []byte
}

const (
	headBytes     = 3072
	stagedPattern = ".upload-*"
)

// stage receives a file of at most limit bytes.
func (b *blobs) stage(r io.Reader, limit int64) (*stagedFile, error) {
	if b.dir == "" {
		data, err := readAll(r, limit)
		if err != nil {
			return nil, err
		}
		return &stagedFile{
			store: b, data: data, size: int64(len(data)),
			sum: sha256.Sum256(data), head: data[:min(len(data), headBytes)],
		}, nil
	}

	f, err := os.CreateTemp(b.dir, stagedPattern)
	if err != nil {
		return nil, err
	}

	st := &stagedFile{store: b, path: f.Name()}
	err = errors.Join(st.fill(f, r, limit), f.Close())
	if err != nil {
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

	st.size = n
	sum.Sum(st.sum[:0])
	st.head = make([]byte, min(n, headBytes))
	if _, err := f.ReadAt(st.head, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}

	return f.Sync()
}

// keep stores the bytes under an id.
func (st *stagedFile) keep(id string) error {
	if st.store.dir == "" {
		st.store.mu.Lock()
		defer st.store.mu.Unlock()
		st.store.memory[id] = st.data
		return nil
	}

	if err := os.Rename(st.path, st.store.file(id)); err != nil {
		return err
	}
	st.path = ""
	return nil
}

// discard deletes the bytes, unless they were kept.
func (st *stagedFile) discard() {
	if st.path != "" {
		os.Remove(st.path)
		st.path = ""
	}
}

// open returns the bytes of an id.
func (b *blobs) open(id string) (io.ReadSeekCloser, error) {
	if b.dir != "" {
		return os.Open(b.file(id))
	}

	b.mu.Lock()
	defer b.mu.Unlock()
	data, ok := b.memory[id]
	if !ok {
		return nil, os.ErrNotExist
	}
	return memoryFile{bytes.NewReader(data)}, nil
}

func (b *blobs) remove(id string) {
	if b.dir != "" {
		os.Remove(b.file(id))
		return
	}

	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.memory, id)
}

// file is where an id's bytes lie. Ids are made here and hold digits only.
func (b *blobs) file(id string) string { return filepath.Join(b.dir, filepath.Base(id)) }

// memoryFile makes bytes in memory look like an open file.
type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }
