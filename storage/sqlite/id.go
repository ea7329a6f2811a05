package sqlite

import (
	"bufio"
	"crypto/rand"
	"strings"
	"sync"

	"github.com/oklog/ulid/v2"
)

// idSource makes ULIDs. Those of one millisecond grow.
type idSource struct {
	mu      sync.Mutex
	lastMS  uint64
	entropy *ulid.MonotonicEntropy
}

func newIDSource() *idSource { return &idSource{entropy: newEntropy()} }

func newEntropy() *ulid.MonotonicEntropy {
	return ulid.Monotonic(bufio.NewReaderSize(rand.Reader, 1024), 0)
}

// next returns a ULID that is greater than all that it has returned before, also when
// the clock has stepped back.
func (s *idSource) next() string {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.lastMS = max(s.lastMS, uint64(Now()))
	for {
		id, err := ulid.New(s.lastMS, s.entropy)
		if err == nil {
			return id.String()
		}
		// The only error of a monotonic source over crypto/rand is that the
		// millisecond is used up: borrow the next one.
		s.lastMS++
	}
}

// at returns a ULID that carries exactly a time.
func (s *idSource) at(t Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()

	for {
		id, err := ulid.New(min(uint64(max(t, 0)), ulid.MaxTime()), s.entropy)
		if err == nil {
			return id.String()
		}
		s.entropy = newEntropy() // the millisecond is used up: begin again somewhere in it
	}
}

// NewID makes a new public id with the given prefix, greater than every id
// made before in this process. An empty prefix gives a bare ULID.
func (db *DB) NewID(prefix string) string { return prefix + db.ids.next() }

// NewID makes a new public id with the given prefix, for a row that the transaction
// stores. It carries the transaction's time, so that the order of ids is that of
// created_at, whatever the clock does.
func (wx *Wx) NewID(prefix string) string { return prefix + wx.db.rowIDs.at(wx.Now) }

// FirstID is where the ids with a prefix begin that carry a time or a later one.
func FirstID(prefix string, t Time) string {
	var id ulid.ULID
	if err := id.SetTime(uint64(max(t, 0))); err != nil {
		return prefix + "~" // later than any id can be
	}
	return prefix + id.String()
}

// IDTime is the time that an id with a prefix carries, 0 for what is no id.
func IDTime(prefix, id string) Time {
	parsed, err := ulid.ParseStrict(strings.TrimPrefix(id, prefix))
	if err != nil {
		return 0
	}
	return Time(parsed.Time())
}

// ValidID tells whether id is the prefix and 26 characters of Crockford's
// alphabet in upper case; ulid.Parse would take lower case as well.
func ValidID(prefix, id string) bool {
	if len(id) != len(prefix)+ulid.EncodedSize || id[:len(prefix)] != prefix {
		return false
	}

	for _, c := range []byte(id[len(prefix):]) {
		switch {
		case '0' <= c && c <= '9':
		case 'A' <= c && c <= 'Z' && c != 'I' && c != 'L' && c != 'O' && c != 'U':
		default:
			return false
		}
	}
	return true
}
