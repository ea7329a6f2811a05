package bodies

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"
)

func request(size int) *http.Request {
	return httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", size)))
}

func TestABodyCountsUntilItIsReleased(t *testing.T) {
	is := is.New(t)
	b := NewBudget(1 << 20)
	r := request(100_000)
	r, release := b.Count(r)
	is.Equal(b.Used(), int64(0)) // what is not read does not count
	body, err := io.ReadAll(r.Body)
	is.NoErr(err)
	is.Equal(len(body), 100_000)
	is.Equal(b.Used(), int64(100_000+connectionCost))
	release()
	release()
	is.Equal(b.Used(), int64(0))
}

func TestARequestWithoutABodyCostsNothing(t *testing.T) {
	is := is.New(t)
	b := NewBudget(0)
	r := httptest.NewRequest("GET", "/", nil)
	r, release := b.Count(r)
	defer release()
	_, err := io.ReadAll(r.Body)
	is.NoErr(err)
}

func TestTheLastQuarterIsForSmallBodies(t *testing.T) {
	is := is.New(t)
	b := NewBudget(1 << 20)
	large, release := b.Count(request(1 << 20))
	_, err := io.ReadAll(large.Body)
	is.True(errors.Is(err, ErrExhausted))
	is.True(b.Used() <= 3<<18)

	small, _ := b.Count(request(40 << 10))
	_, err = io.ReadAll(small.Body)
	is.NoErr(err)
	release()
	is.Equal(b.Used(), int64(40<<10+connectionCost))
}

// TestManyBodiesNeverExceedTheBudget reads many at the same time.
func TestManyBodiesNeverExceedTheBudget(t *testing.T) {
	is := is.New(t)
	const budget = 1 << 20
	b := NewBudget(budget)
	var group sync.WaitGroup
	var mu sync.Mutex
	var kept int64
	for i := range 200 {
		group.Go(func() {
			r, _ := b.Count(request(i * 1000)) // it is never released
			body, err := io.ReadAll(r.Body)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				kept += int64(len(body))
			}
		})
	}
	group.Wait()
	is.True(kept <= budget)
	is.True(b.Used() <= budget)
	is.True(kept > 0)
}
