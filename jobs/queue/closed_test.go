package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/queue"
	"confab/storage"
	"confab/storage/storagetest"
)

// post is a handler that writes down what it was asked to deliver, and fails the
// first time for those that fail names.
type post struct {
	mu   sync.Mutex
	went []string
	fail map[string]time.Duration
}

// gone lists what went out so far.
func (p *post) gone() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.went)
}

func (p *post) handle(_ context.Context, j storage.Job) (queue.Commit, error) {
	var args storage.DeliverArgs
	if err := json.Unmarshal(j.Args, &args); err != nil {
		return nil, err
	}
	if delay, ok := p.fail[args.Delivery]; ok && j.Attempt() == 1 {
		return nil, queue.RetryAfter(delay, errors.New("refused"))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.went = append(p.went, args.Delivery)
	return nil, nil
}

// one starts a runner that delivers one thing at a time.
func (p *post) one(t *testing.T, db *storage.DB) (*queue.Runner, func()) {
	return start(t, db, queue.Options{Kinds: []queue.Kind{
		{Name: storage.KindDeliver, Handle: p.handle, LaneLimit: func(string) int { return 1 }},
	}})
}

// happen makes an event and returns the ids of its deliveries.
func happen(t *testing.T, db *storage.DB, tenant storagetest.Tenant) (made []string) {
	t.Helper()
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		id := tx.NewID(storage.PrefixEvent)
		return tx.InsertEvent(storage.Event{ID: id, OrganizationID: tenant.Organization.ID, Type: "message.sent", Source: "svc", EventID: id, Payload: []byte("{}")}, "")
	})
	for _, j := range waiting(t, db) {
		var args storage.DeliverArgs
		if err := json.Unmarshal(j.Args, &args); err != nil {
			t.Fatal(err)
		}
		made = append(made, args.Delivery)
	}
	return made
}

func change(t *testing.T, db *storage.DB, fn func(*storage.Tx, string) error, id string) {
	t.Helper()
	storagetest.Update(t, db, func(tx *storage.Tx) error { return fn(tx, id) })
}

func TestDeliveriesOfAPausedSubscriptionWaitAndGoOldestFirst(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		tenant := storagetest.Seed(t, db, "Acme")
		s, _ := storagetest.Subscribe(t, db, tenant, "https://hook.test")
		p := post{fail: make(map[string]time.Duration)}
		retried := happen(t, db, tenant)[0] // before there is a runner
		p.fail[retried] = time.Minute
		_, stop := p.one(t, db)
		time.Sleep(time.Second)
		change(t, db, (*storage.Tx).PauseSubscription, s.ID)
		time.Sleep(time.Second)
		second := happen(t, db, tenant)[1]
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(len(p.gone()), 0) // the retry waits too, though its time has come
		stop()

		p.one(t, db) // a restart changes nothing
		time.Sleep(time.Hour)
		third := happen(t, db, tenant)[2]
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(len(p.gone()), 0)
		is.Equal(len(waiting(t, db)), 3)
		for _, j := range waiting(t, db) {
			is.Equal(j.State, storage.JobHeld) // out of the way of every claim
		}
		change(t, db, (*storage.Tx).ResumeSubscription, s.ID)
		time.Sleep(time.Second)
		synctest.Wait()
		is.Equal(p.gone(), []string{retried, second, third})
	})
}

func TestAPauseByAnotherProcessIsSeenWhenItTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, dir := is.New(t), t.TempDir()
		db, other := storagetest.OpenDir(t, dir), storagetest.OpenDir(t, dir)
		tenant := storagetest.Seed(t, db, "Acme")
		s, _ := storagetest.Subscribe(t, db, tenant, "https://hook.test")
		p := new(post)
		runner, _ := p.one(t, db)
		change(t, other, (*storage.Tx).PauseSubscription, s.ID)
		runner.Rescan()
		time.Sleep(time.Second)
		happen(t, db, tenant)
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(len(p.gone()), 0)
		change(t, other, (*storage.Tx).ResumeSubscription, s.ID)
		runner.Rescan()
		time.Sleep(time.Second)
		synctest.Wait()
		is.Equal(len(p.gone()), 1)
	})
}

func TestAPausedSubscriptionStopsNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		tenant := storagetest.Seed(t, db, "Acme")
		s, _ := storagetest.Subscribe(t, db, tenant, "https://hook.test/1")
		storagetest.Subscribe(t, db, tenant, "https://hook.test/2")
		change(t, db, (*storage.Tx).PauseSubscription, s.ID)
		p := new(post)
		p.one(t, db)
		for range 20 {
			happen(t, db, tenant)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		is.Equal(len(p.gone()), 20)
		is.Equal(len(waiting(t, db)), 20)
	})
}

func TestAKindIsToldOfLanesThatOpen(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		tenant := storagetest.Seed(t, db, "Acme")
		s, _ := storagetest.Subscribe(t, db, tenant, "https://hook.test")
		p := new(post)
		opened := make(chan string, 10)
		start(t, db, queue.Options{Kinds: []queue.Kind{{
			Name: storage.KindDeliver, Handle: p.handle, LaneLimit: func(string) int { return 1 },
			OnLaneOpened: func(lane string) {
				is.Equal(len(p.gone()), 1) // before the first of those that waited
				opened <- lane
			},
		}}})
		happen(t, db, tenant)
		time.Sleep(time.Second)
		synctest.Wait()
		is.Equal(len(opened), 0) // it was never closed
		change(t, db, (*storage.Tx).PauseSubscription, s.ID)
		happen(t, db, tenant)
		time.Sleep(time.Hour)
		change(t, db, (*storage.Tx).ResumeSubscription, s.ID)
		time.Sleep(time.Second)
		synctest.Wait()
		is.Equal(len(opened), 1)
		is.Equal(<-opened, "deliver:"+s.ID)
		is.Equal(len(p.gone()), 2)
	})
}
