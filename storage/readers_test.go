package storage_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// read is View, List or Search, for an organization.
type read func(ctx context.Context, organization int64, fn func(*storage.Rx) error) error

// hold occupies connections with reads of an organization that go on until release.
func hold(t *testing.T, read read, organization int64, n int) (release func()) {
	t.Helper()
	end, held := make(chan struct{}), make(chan error, n)
	for range n {
		go func() {
			held <- read(context.Background(), organization, func(rx *storage.Rx) error {
				<-end
				return rx.Ping()
			})
		}()
	}
	synctest.Wait()
	return func() {
		close(end)
		for range n {
			if err := <-held; err != nil {
				t.Error(err)
			}
		}
	}
}

// start begins a read that ends when a connection was free for it.
func start(read read, organization int64) <-chan error {
	done := make(chan error, 1)
	go func() { done <- read(context.Background(), organization, (*storage.Rx).Ping) }()
	synctest.Wait()
	return done
}

// A lone reader always reads on the same connection, which has its statements.
func TestTheReaderThatWasGivenBackLastIsTakenFirst(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	o.Readers = 2
	db := open(t, o)
	connection := func(meanwhile func()) (c any) {
		is.NoErr(db.View(t.Context(), func(rx *storage.Rx) error {
			c = rx.Connection()
			meanwhile()
			return nil
		}))
		return c
	}
	alone := connection(func() {})
	is.Equal(connection(func() {}), alone)

	var other any
	first := connection(func() { other = connection(func() {}) })
	is.True(first != other)
	is.Equal(connection(func() {}), first) // which ended after the other
}

// Lists and searches, however many and whosever, leave a reader to short reads.
func TestShortReadsAlwaysFindAReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		o := newFile(t)
		o.Readers = 2
		db := open(t, o)
		endLists, endSearches := hold(t, db.List, 1, 2), hold(t, db.Search, 1, storage.MaxSearches)
		list, search := start(db.List, 2), start(db.Search, 2)
		is.Equal(len(list)+len(search), 0) // these wait

		is.Equal(names(t, db), []string{"Acme"})
		is.NoErr(db.ViewOnce(context.Background(), (*storage.Rx).Ping))
		endLists()
		endSearches()
		is.NoErr(<-list)
		is.NoErr(<-search)
	})
}

// While nothing is listed, short reads may have all readers.
func TestShortReadsMayHaveAllReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		o := newFile(t)
		o.Readers = 2
		db := open(t, o)
		view := func(ctx context.Context, _ int64, fn func(*storage.Rx) error) error { return db.View(ctx, fn) }
		release := hold(t, view, 0, 3)
		next := start(view, 0)
		is.Equal(len(next), 0)
		release()
		is.NoErr(<-next)
	})
}

func TestListsTakeTurnsByOrganization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		o := newFile(t)
		o.Readers = 1
		db := open(t, o)
		release := hold(t, db.List, 1, 1)
		var order []int64
		done := make(chan error, 51)
		ask := func(organization int64) {
			go func() {
				done <- db.List(context.Background(), organization, func(*storage.Rx) error {
					order = append(order, organization)
					return nil
				})
			}()
			synctest.Wait()
		}
		for range 50 {
			ask(1)
		}
		ask(2)
		release()
		for range 51 {
			is.NoErr(<-done)
		}
		is.Equal(order[:3], []int64{1, 2, 1})
	})
}

func TestSearchesDoNotTakeTheReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		o := newFile(t)
		o.Readers = 1
		db := open(t, o)
		release := hold(t, db.Search, 1, storage.MaxSearches)
		is.NoErr(<-start(db.List, 1))

		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		err := db.Search(ctx, 2, func(*storage.Rx) error { return errors.New("there was room") })
		is.Equal(err, context.DeadlineExceeded)
		release()

		err = db.Search(context.Background(), 1, func(rx *storage.Rx) error { return rx.Write(`DELETE FROM api_keys`) })
		is.True(err != nil) // they only read
		is.NoErr(db.Close())
		for _, read := range []read{db.List, db.Search} {
			is.True(errors.Is(<-start(read, 1), storage.ErrUnavailable))
		}
	})
}

// steps makes a search of n steps, each of which needs a permit.
func steps(permits <-chan struct{}, n int, began func()) func(*storage.Rx) error {
	return func(rx *storage.Rx) error {
		began()
		for range n {
			<-permits
			if err := errors.Join(rx.Ping(), rx.Pause()); err != nil {
				return err
			}
		}
		return nil
	}
}

// An organization that has 50 searches waiting delays another's one search by a step.
func TestASearchWaitsForOneStepOfOtherOrganizations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		db.SetTurnTime(0)
		const many = storage.MaxSearches + 50
		permits, done := make(chan struct{}), make(chan error, many+1)
		for range many {
			go func() { done <- db.Search(context.Background(), 1, steps(permits, 3, func() {})) }()
		}
		synctest.Wait()
		is.Equal(db.SearchesWaiting(1), 50)
		began := false
		go func() { done <- db.Search(context.Background(), 2, steps(permits, 3, func() { began = true })) }()
		synctest.Wait()
		is.Equal(began, false)

		permits <- struct{}{}
		synctest.Wait()
		is.True(began)
		for range 3*(many+1) - 1 {
			permits <- struct{}{}
		}
		for range many + 1 {
			is.NoErr(<-done)
		}
	})
}

// A search that was interrupted goes on in a newer state, and can do nothing any more
// if it was cancelled meanwhile.
func TestASearchGoesOnAfterItsPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		db.SetTurnTime(0)
		ctx, cancel := context.WithCancel(context.Background())
		err := db.Search(ctx, 1, func(rx *storage.Rx) error {
			seen, err := organizations(rx)
			is.NoErr(err)
			is.Equal(seen, []string{"Acme"})
			is.NoErr(addOrganization(db, "later"))
			seen, err = organizations(rx)
			is.NoErr(err)
			is.Equal(seen, []string{"Acme"})
			is.NoErr(rx.Pause())
			seen, err = organizations(rx)
			is.NoErr(err)
			is.Equal(seen, []string{"Acme", "later"})

			bounded := rx.Within(storage.NewBudget(1000)) // the same search
			is.NoErr(bounded.Pause())
			is.NoErr(errors.Join(rx.Ping(), bounded.Ping()))

			cancel()
			is.Equal(bounded.Pause(), context.Canceled)
			return nil
		})
		is.NoErr(err)
		release := hold(t, db.Search, 2, storage.MaxSearches) // all are free again
		release()
	})
}

func TestASearchThatIsGivenUpInItsPauseGivesBackWhatItHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		db.SetTurnTime(0)
		release := hold(t, db.Search, 2, 1)
		ctx, cancel := context.WithCancel(context.Background())
		err := db.Search(ctx, 1, func(rx *storage.Rx) error {
			other := hold(t, db.Search, 3, 1) // waits for the place that the pause gives it
			go func() { synctest.Wait(); cancel() }()
			is.Equal(rx.Within(nil).Pause(), context.Canceled)
			is.True(errors.Is(rx.Ping(), storage.ErrUnavailable)) // nothing is left to read with
			other()
			return nil
		})
		is.NoErr(err)
		release()
		hold(t, db.Search, 2, storage.MaxSearches)()
	})
}

func TestAnOrganizationHasOnlySoManySearchesWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		release := hold(t, db.Search, 1, storage.MaxSearches+storage.MaxWaitingSearches)
		is.Equal(<-start(db.Search, 1), storage.ErrTooManyWaiting)
		other := start(db.Search, 2)
		is.Equal(len(other), 0) // it may wait
		release()
		is.NoErr(<-other)
	})
}

func TestClosingStopsSearches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db, err := storage.Open(newFile(t))
		is.NoErr(err)
		db.SetTurnTime(0)
		permits, done := make(chan struct{}), make(chan error, 3)
		for range 3 { // one of them waits
			go func() { done <- db.Search(context.Background(), 1, steps(permits, 1000, func() {})) }()
		}
		synctest.Wait()
		closed := make(chan error)
		go func() { closed <- db.Close() }()
		synctest.Wait()
		permits <- struct{}{}
		permits <- struct{}{}
		for range 3 {
			is.True(errors.Is(<-done, storage.ErrUnavailable))
		}
		is.NoErr(<-closed)
	})
}

// A list that is not done with its first step is run again on a connection for
// searches.
func TestALongListBecomesASearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		o := newFile(t)
		o.Readers = 1
		db := open(t, o)
		short, _ := insertContacts(t, db, "100200300", storage.FirstRange-1)
		long, _ := insertContacts(t, db, "100200301", storage.FirstRange+1)
		release := hold(t, db.Search, 1, storage.MaxSearches)
		find := func(account storage.Account, search string) <-chan int {
			found := make(chan int, 1)
			go func() {
				var rows []storage.Contact
				err := db.List(context.Background(), 1, func(rx *storage.Rx) (err error) {
					rows, _, err = rx.Contacts(account.ID, storage.ContactFilter{Search: search}, storage.First, 20)
					return err
				})
				if err != nil {
					t.Error(err)
				}
				found <- len(rows)
			}()
			synctest.Wait()
			return found
		}
		is.Equal(<-find(short, "nobody"), 0)
		is.Equal(<-find(long, "needle"), 20) // the first rows fill the page
		waits := find(long, "nobody")
		is.Equal(len(waits), 0)
		is.NoErr(<-start(db.List, 2)) // and keeps no reader
		release()
		is.Equal(<-waits, 0)
	})
}

func TestUnreadMessagesAreCountedStepByStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		h := newThread(t, db, "106540352242922", "+15551234567")
		read := h.add(t, db)
		const more = 3 * storage.FirstRange
		storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
			for range more {
				m := read
				err = errors.Join(err, tx.InsertMessage(&m))
			}
			return errors.Join(err, tx.Run(`UPDATE messages SET direction = 'inbound', type = iif(rowid % 3, 'text', 'reaction')`),
				tx.Run(`UPDATE conversations SET unread_count = ?`, more))
		})
		db.SetTurnTime(0)
		release := hold(t, db.Search, 1, storage.MaxSearches)
		counted := make(chan storage.UnreadCount)
		go func() {
			var n storage.UnreadCount
			err := db.List(context.Background(), 1, func(rx *storage.Rx) (err error) {
				n, err = rx.CountUnreadAfter(read)
				return err
			})
			if err != nil {
				t.Error(err)
			}
			counted <- n
		}()
		synctest.Wait()
		is.Equal(db.SearchesWaiting(1), 1)
		release()
		unread := <-counted
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.MarkRead(&read, unread) })
		var counts []int
		storagetest.View(t, db, func(rx *storage.Rx) error { return rx.List(&counts, `SELECT unread_count FROM conversations`) })
		is.Equal(counts, []int{more * 2 / 3})
	})
}
