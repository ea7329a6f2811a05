package limit

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"
)

func request(size int) *http.Request {
	return httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", size)))
}

func TestABodyCountsUntilItIsReleased(t *testing.T) {
	is := is.New(t)
	b := NewBodies(1 << 20)
	r := request(100_000)
	r, release := b.Count(r)
	is.Equal(b.Used(), int64(0)) // unread bytes do not count
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
	b := NewBodies(0)
	r := httptest.NewRequest("GET", "/", nil)
	r, release := b.Count(r)
	defer release()
	_, err := io.ReadAll(r.Body)
	is.NoErr(err)
}

func TestTheBodiesOfTheLargestNetworkMakeWay(t *testing.T) {
	is := is.New(t)
	b := NewBodies(20 * connectionCost)
	send := func(address string) (again func() error) {
		body, w := io.Pipe()
		r := httptest.NewRequest("POST", "/", body)
		var current atomic.Pointer[Request]
		current.Store(Track(httptest.NewRecorder(), Stranger(address)))
		r, _ = b.Count(r.WithContext(WithCurrent(r.Context(), &current)))
		again = func() error {
			go w.Write([]byte("x"))
			_, err := r.Body.Read(make([]byte, 1))
			return err
		}
		is.NoErr(again())
		return again
	}
	small := send("198.51.100.1")
	var flood []func() error
	for range 40 {
		flood = append(flood, send("192.0.2.1"))
	}
	is.True(b.Used() <= 20*connectionCost)
	last := send("203.0.113.1")
	is.Equal(flood[0](), ErrExhausted)
	is.NoErr(small())
	is.NoErr(last())
	is.NoErr(flood[39]())
}

// TestManyBodiesNeverExceedTheBudget reads many at the same time.
func TestManyBodiesNeverExceedTheBudget(t *testing.T) {
	is := is.New(t)
	const budget = 1 << 20
	b := NewBodies(budget)
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
