package storage

import (
	"bufio"
	"crypto/rand"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// Prefixes of public ids.
const (
	PrefixOrganization = "org_"
	PrefixTeam         = "team_"
	PrefixKey          = "key_"
	PrefixAccount      = "acc_"
	PrefixLabel        = "lbl_"
	PrefixRequest      = "req_"
	PrefixContact      = "ctc_"
	PrefixConversation = "cnv_"
	PrefixMessage      = "msg_"
	PrefixMedia        = "med_"
	PrefixTemplate     = "tmpl_"
	PrefixEvent        = "evt_"
	PrefixDelivery     = "wbd_"
	PrefixSubscription = "wbs_"
	PrefixSecret       = "sec_"
	PrefixCustomer     = "cus_"
	PrefixSetupLink    = "csl_"
	PrefixSession      = "ses_"
	PrefixAudit        = "aud_"
)

// idSource makes ULIDs that only ever grow, also when the clock steps back.
type idSource struct {
	mu      sync.Mutex
	lastMS  uint64
	entropy *ulid.MonotonicEntropy
}

func newIDSource() *idSource {
	return &idSource{entropy: ulid.Monotonic(bufio.NewReaderSize(rand.Reader, 1024), 0)}
}

// next returns the next ULID.
func (s *idSource) next() string {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.lastMS = max(s.lastMS, ulid.Timestamp(time.Now()))
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

// NewID makes a new public id with the given prefix, greater than every id
// made before in this process. An empty prefix gives a bare ULID.
func (db *DB) NewID(prefix string) string { return prefix + db.ids.next() }

// NewID makes a new public id with the given prefix.
func (tx *Tx) NewID(prefix string) string { return tx.db.NewID(prefix) }

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
