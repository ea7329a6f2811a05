package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
)

// TestKillingTheServerLosesNothingAcknowledged storms a server with posts whose
// clients retry under one Idempotency-Key until they are answered, and kills it
// in the middle, several times.
func TestKillingTheServerLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const clients, each, kills = 8, 60, 4
	s := newServer(t)
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		acked = make(map[string]string) // name → id
	)
	progress := make(chan struct{}, clients*each)
	for c := range clients {
		group.Go(func() {
			for n := range each {
				name := fmt.Sprintf("label %d.%d", c, n)
				id := insist(t, s, name)
				mu.Lock()
				acked[name] = id
				mu.Unlock()
				progress <- struct{}{}
			}
		})
	}
	for range kills {
		for range clients * each / (kills + 2) {
			<-progress
		}
		s.kill()
		s.start()
	}
	group.Wait()
	s.kill()
	s.start()
	names := s.labels()
	is.Equal(len(acked), clients*each)
	is.Equal(len(names), len(acked))
	for name, ids := range names {
		is.Equal(ids, []string{acked[name]}) // each exists once, as it was acknowledged
	}
}

// insist posts a label until it is acknowledged, and returns its id.
func insist(t *testing.T, s *server, name string) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		r, err := s.send(ctx, "POST", "/v1/labels", fmt.Sprintf(`{"name":%q}`, name), "Idempotency-Key: "+name)
		switch {
		case ctx.Err() != nil:
			t.Errorf("%s was never acknowledged", name)
			return ""
		case err == nil && r.status == 201:
			return r.body["data"].(map[string]any)["id"].(string)
		case err == nil && r.status != 409: // 409: the first try is still being worked on
			t.Errorf("%s: %d %v", name, r.status, r.body)
			return ""
		}
		time.Sleep(5 * time.Millisecond) // the server is down, and there is no signal when it is back
	}
}
