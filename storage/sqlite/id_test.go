package sqlite_test

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage/sqlite"

	"github.com/matryer/is"
	"github.com/oklog/ulid/v2"
)

func TestIDsOnlyGrow(t *testing.T) {
	for name, ahead := range map[string]int64{
		"from the clock":                 0,
		"when the clock steps back 1 h":  time.Hour.Milliseconds(),
		"when the clock steps back 1 ms": 1,
	} {
		t.Run(name, func(t *testing.T) {
			next := sqlite.IDSource(ahead)
			const makers, each = 20, 3400 // 204,000 in all cases together
			first := next()
			made := make([][]string, makers)
			var wg sync.WaitGroup
			for m := range makers {
				wg.Go(func() {
					for range each {
						made[m] = append(made[m], next())
					}
				})
			}
			wg.Wait()
			all := []string{first}
			for _, ids := range made {
				if !slices.IsSorted(ids) || ids[0] <= first {
					t.Error("one maker's ids did not grow")
				}
				all = append(all, ids...)
			}
			slices.Sort(all)
			if n := len(slices.Compact(all)); n != makers*each+1 {
				t.Errorf("only %d of %d ids differ", n, makers*each+1)
			}
		})
	}
}

// A clock that is behind is caught up with.
func TestTheOrderWaitsForAClockThatIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		const hour = sqlite.Time(60 * 60 * 1000)
		began := sqlite.Now()
		order := sqlite.OrderAfter(began + hour)
		is.Equal(order(began), began+hour+1)

		last := order(began)
		for range 2 * 60 * 60 * 1000 / 250 {
			time.Sleep(250 * time.Millisecond)
			now := order(sqlite.Now())
			is.True(now > last)
			last = now
		}
		time.Sleep(250 * time.Millisecond)
		is.Equal(order(sqlite.Now()), sqlite.Now()) // after two hours
	})
}

func TestIDsGrowWhenAMillisecondIsUsedUp(t *testing.T) {
	is := is.New(t)
	is.NoErr(sqlite.SpendMillisecond(func(next func() string) {
		last := next()
		for range 5 {
			id := next()
			is.True(id > last)
			last = id
		}
	}))
}

func TestIDsCarryTheTimeAndThePrefix(t *testing.T) {
	is := is.New(t)
	db := open(t)
	before := time.Now().Truncate(time.Millisecond)
	id := db.NewID("lbl_")
	is.True(sqlite.ValidID("lbl_", id))
	at := ulid.Time(ulid.MustParse(strings.TrimPrefix(id, "lbl_")).Time())
	is.True(!at.Before(before) && !at.After(time.Now().Add(time.Second)))
	is.True(sqlite.ValidID("", db.NewID(""))) // a user's is bare
}

var validID = regexp.MustCompile(`^lbl_[0-9A-HJKMNP-TV-Z]{26}$`)

var idCases = map[string]bool{
	"lbl_01HZX3KJ9Q8R7S6T5V4W3X2Y1Z":  true,
	"lbl_00000000000000000000000000":  true,
	"lbl_01hzx3kj9q8r7s6t5v4w3x2y1z":  false, // lower case
	"lbl_01HZX3KJ9Q8R7S6T5V4W3X2Y1":   false, // short
	"lbl_01HZX3KJ9Q8R7S6T5V4W3X2Y1ZZ": false, // long
	"ctc_01HZX3KJ9Q8R7S6T5V4W3X2Y1Z":  false, // another prefix
	"LBL_01HZX3KJ9Q8R7S6T5V4W3X2Y1Z":  false,
	"01HZX3KJ9Q8R7S6T5V4W3X2Y1Z":      false,
	"lbl_01HZX3KJ9Q8R7S6T5V4W3X2Y1I":  false, // Crockford left out I, L, O and U
	"lbl_01HZX3KJ9Q8R7S6T5V4W3X2Y1L":  false,
	"lbl_01HZX3KJ9Q8R7S6T5V4W3X2Y1O":  false,
	"lbl_01HZX3KJ9Q8R7S6T5V4W3X2Y1U":  false,
	"lbl_01HZX3KJ9Q8R7S6T5V4W3X2Y1-":  false,
	"lbl_01HZX3KJ9Q8R7S6T5V4W3X2Y1é":  false,
	"lbl_01HZX3KJ9Q8R7S6T5V4W3X2Yé":   false, // 26 bytes, 25 characters
	"lbl_01HZX3KJ9Q8R7S6T5V4W3X2Y1\n": false,
	"lbl_":                            false,
	"":                                false,
}

func TestValidIDTakesOnlyWhatWasMade(t *testing.T) {
	for id, want := range idCases {
		if sqlite.ValidID("lbl_", id) != want {
			t.Errorf("%q: want %v", id, want)
		}
	}
}

func FuzzValidID(f *testing.F) {
	for id := range idCases {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		// The pattern's $ would also match before a final line feed, but not in RE2.
		if got, want := sqlite.ValidID("lbl_", id), validID.MatchString(id); got != want {
			t.Errorf("%q: %v, the pattern says %v", id, got, want)
		}
	})
}
