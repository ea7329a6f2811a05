package stream

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// happening is an event as the writer remembers it.
type happening struct {
	id, kind  string
	number    string // of the account that it belongs to
	seq       int
	byAge     bool // removed because of its age
	withOwner bool // removed with its number
}

// history is all that one organization's writer did.
type history struct {
	*world
	random  *rand.Rand
	tenant  storagetest.Tenant
	account storage.Account
	numbers int
	all     []*happening
}

// number is a new number of the tenant.
func (h *history) connectNumber() {
	h.numbers++
	h.account = storagetest.Connect(h.t, h.db, h.tenant, fmt.Sprintf("1065403522%05d", h.numbers))
}

// write stores a few events, in one commit or in several, of ours and of others.
func (h *history) write() {
	for range 1 + h.random.IntN(4) {
		if h.random.IntN(2) == 0 {
			h.happen(2, "another's")
		}
		*h.clock += storage.Time(1 + h.random.IntN(1000))
		storagetest.Update(h.t, h.db, func(tx *storage.Tx) error {
			h.all = h.all[:len(h.all):len(h.all)]
			for range 1 + h.random.IntN(5) {
				e := storage.Event{ID: tx.NewID(storage.PrefixEvent), OrganizationID: 1, Type: []string{"common", "common", "rare"}[h.random.IntN(3)], Source: "svc"}
				e.EventID, e.Payload = e.ID, []byte(`{}`)
				one := &happening{id: e.ID, kind: e.Type, seq: len(h.all)}
				if h.random.IntN(2) == 0 {
					e.AccountID, one.number = &h.account.ID, *h.account.PhoneNumberID
				}
				if err := tx.InsertEvent(e, ""); err != nil {
					return err
				}
				h.all = append(h.all, one)
			}
			return nil
		})
	}
}

// removeSomeByAge removes the oldest, up to a time.
func (h *history) removeSomeByAge() {
	removed := h.removeOld(1, *h.clock-storage.Time(h.random.IntN(4_000)))
	h.removeOld(2, *h.clock) // which is none of our business
	for _, one := range h.all {
		one.byAge = one.byAge || slices.Contains(removed, one.id)
	}
}

// disconnect removes a number with its events, the newest among them, and connects
// another.
func (h *history) disconnect() {
	storagetest.Update(h.t, h.db, func(tx *storage.Tx) error {
		if err := tx.RemoveAccount(h.account.ID, "removed"); err != nil {
			return err
		}
		_, err := tx.PurgeEvents(h.account.ID, 100_000)
		return err
	})
	for _, one := range h.all {
		one.withOwner = one.withOwner || one.number == *h.account.PhoneNumberID && !one.byAge
	}
	h.connectNumber()
}

// merge makes one contact of two, which is sent as an event.
func (h *history) merge() {
	older, younger := storage.Contact{AccountID: h.account.ID}, storage.Contact{AccountID: h.account.ID}
	older.PhoneNumber, younger.BSUID = new(fmt.Sprintf("+1555%07d", h.random.IntN(10_000_000))), new(fmt.Sprintf("US.%d", h.random.Int64N(1<<40)))
	storagetest.Update(h.t, h.db, func(tx *storage.Tx) error {
		if err := tx.InsertContact(&older); err != nil {
			return err
		}
		if err := tx.InsertContact(&younger); err != nil {
			return err
		}
		_, err := tx.MergeThreads(&storage.Thread{Contact: older}, storage.Thread{Contact: younger})
		return err
	})
	h.write()
}

// kill leaves the server as a SIGKILL would: another one is started from what was on disk
// at that moment, which is the file and its log.
func (h *history) kill() {
	image := h.t.TempDir()
	for _, name := range []string{"confab.db", "confab.db-wal", "master.key"} {
		text, err := os.ReadFile(filepath.Join(h.dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(image, name), text, 0o600)
		}
		if err != nil && !os.IsNotExist(err) {
			h.t.Fatal(err)
		}
	}
	h.close()
	h.dir = image
	h.open()
}

// follower is a reader that breaks off and comes back.
type follower struct {
	query  string
	wants  func(*happening) bool
	random *rand.Rand
	last   string
	log    []string // ids, and "gap" between them
	errs   []string
}

// follow reads until done, and then the rest.
func (f *follower) follow(t *testing.T, address *atomic.Value, done <-chan struct{}) {
	for {
		final := false
		select {
		case <-done:
			final = true
		default:
		}
		query := f.query
		if final {
			query += "&once"
		}
		server := &world{t: t, url: address.Load().(string)}
		c, err := server.tryConnect(query, f.last)
		if err != nil {
			if final {
				f.errs = append(f.errs, err.Error())
				return
			}
			time.Sleep(time.Millisecond)
			continue
		}
		patience := time.AfterFunc(time.Duration(f.random.IntN(60))*time.Millisecond, func() {
			if !final {
				c.body.Close()
			}
		})
		f.read(c)
		patience.Stop()
		c.body.Close()
		if final {
			return
		}
		if f.random.IntN(3) == 0 {
			time.Sleep(time.Duration(f.random.IntN(100)) * time.Millisecond)
		}
	}
}

// read reads a connection to its end.
func (f *follower) read(c *client) {
	for {
		b, err := c.next()
		if err != nil {
			return
		}
		if b.id != "" {
			f.last = b.id
		}
		switch {
		case b.event == "gap":
			f.log = append(f.log, "gap")
		case b.data != "":
			f.log = append(f.log, b.item())
		}
	}
}

// faults compares what a follower read with what happened.
func (f *follower) faults(all []*happening) (faults []string) {
	index := make(map[string]int)
	for _, one := range all {
		index[one.id] = one.seq
	}
	seen, gapAfter, at := make(map[int]bool), make(map[int]bool), -1
	for _, id := range f.log {
		if id == "gap" {
			gapAfter[at] = true
			continue
		}
		seq, known := index[id]
		switch {
		case !known:
			faults = append(faults, id+" never happened")
		case seq <= at:
			faults = append(faults, fmt.Sprintf("%d came after %d", seq, at))
		case !f.wants(all[seq]):
			faults = append(faults, fmt.Sprintf("%d was not wanted", seq))
		}
		seen[seq], at = true, max(at, seq)
	}

	// Events that were not read are not kept, and if age is the reason, a gap said so.
	before := -1
	for _, one := range all {
		if seen[one.seq] {
			before = one.seq
			continue
		}
		if f.wants(one) && !one.byAge && !one.withOwner {
			faults = append(faults, fmt.Sprintf("%d is missing", one.seq))
		}
		if f.wants(one) && one.byAge && !gapAfter[before] {
			faults = append(faults, fmt.Sprintf("%d was removed, and no gap told it behind %d", one.seq, before))
		}
	}
	for before := range gapAfter {
		justified := slices.ContainsFunc(all, func(one *happening) bool { return one.seq > before && one.byAge && !seen[one.seq] })
		if !justified {
			faults = append(faults, fmt.Sprintf("there is no gap behind %d", before))
		}
	}
	return append(faults, f.errs...)
}

// Writers, purges, merges, disconnected numbers, crashes and restarts, in any order;
// three readers that break off and come back whenever they like. Each reads all that is
// kept, in the order of the commits, once. CONFAB_STREAM_ROUNDS makes it longer.
func TestReadersMissNothingWhateverHappens(t *testing.T) {
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv("CONFAB_STREAM_ROUNDS"), "4"))
	if err != nil {
		t.Fatal(err)
	}
	for round := range rounds {
		seed := uint64(time.Now().UnixNano()) + uint64(round)
		if given := os.Getenv("CONFAB_STREAM_SEED"); given != "" {
			seed, _ = strconv.ParseUint(given, 10, 64)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { followHistory(t, seed) })
	}
}

func followHistory(t *testing.T, seed uint64) {
	w := newWorld(t)
	w.hub.timing.idle = 5 * time.Millisecond
	*w.clock = 1_000_000_000
	h := &history{world: w, random: rand.New(rand.NewPCG(seed, 1))}
	w.pause = time.Duration(1+h.random.IntN(20)) * time.Millisecond // so long do readers share what they read
	w.hub.timing.read = w.pause
	storagetest.View(t, w.db, func(rx *storage.Rx) error {
		all, err := rx.Organizations()
		if err != nil {
			return err
		}
		teams, err := rx.Teams(all[0].ID)
		h.tenant = storagetest.Tenant{Organization: all[0], Team: teams[0]}
		return err
	})
	h.connectNumber()
	var address atomic.Value
	address.Store(w.url)

	all := func(*happening) bool { return true }
	followers := []*follower{
		{query: "org=1", wants: all},
		{query: "org=1", wants: all},
		{query: "org=1", wants: all},
		{query: "org=1&type=rare", wants: func(one *happening) bool { return one.kind == "rare" }},
		{query: "org=1&number=106540352200001", wants: func(one *happening) bool { return one.number == "106540352200001" }},
	}
	empty := w.connect("org=1&once", "")
	empty.rest()
	done := make(chan struct{})
	var group sync.WaitGroup
	for i, f := range followers {
		f.random, f.last = rand.New(rand.NewPCG(seed, uint64(i)+2)), empty.last
		group.Go(func() { f.follow(t, &address, done) })
	}
	steps := []func(){h.write, h.write, h.write, h.write, h.removeSomeByAge, h.disconnect, h.merge, h.kill}
	for range 60 {
		steps[h.random.IntN(len(steps))]()
		address.Store(h.url)
		time.Sleep(time.Duration(h.random.IntN(5)) * time.Millisecond)
	}
	close(done)
	group.Wait()

	for _, f := range followers {
		for _, fault := range f.faults(h.all) {
			t.Errorf("%s: %s", f.query, fault)
		}
		if t.Failed() {
			t.Logf("%s read %s", f.query, strings.Join(f.log, " "))
			return
		}
	}
	if len(followers[0].log) == 0 {
		t.Error("nothing was read")
	}
}
