package storage_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// numbers begins a statement that makes rows for i from 1 to n.
const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) `

// newOffice stores so many rows of everything that no walk over them is done with its
// first step: jobs, kept callbacks, events, subscriptions with two deliveries each, and one
// subscription that was deleted but has its deliveries still.
func newOffice(t *testing.T) (e endpoint, account storage.Account) {
	t.Helper()
	e = newEndpoint(t)
	tenant := storagetest.Tenant{Organization: storage.Organization{ID: e.organization}}
	e.fill(t, "gone", 400, `'dead'`, `1`, `1000 + i`)
	storagetest.Update(t, e.db, func(tx *storage.Tx) error {
		teams, err := tx.Teams(e.organization)
		tenant.Team = teams[0]
		return err
	})
	account = storagetest.Connect(t, e.db, tenant, "100200300")
	storagetest.Update(t, e.db, func(tx *storage.Tx) error {
		for _, s := range []struct {
			query string
			args  []any
		}{
			{`UPDATE subscriptions SET deleted_at = 1`, nil},
			{`DELETE FROM jobs`, nil},
			{numbers + `INSERT INTO jobs (kind, args, state, due_at, created_at)
				SELECT iif(i % 2, 'a', 'b'), json_object('account', ?, 'name', 'x' || i), iif(i % 3, 'due', 'running'), 10 * i, 0 FROM n`, []any{2500, account.ID}},
			{numbers + `INSERT INTO raw_callbacks (account_id, field, reason, payload, created_at) SELECT ?, 'f', 'r', CAST('{}' AS BLOB), i FROM n`,
				[]any{2500, account.ID}},
			{numbers + `INSERT INTO spells (account_id, opened_at, number, inbound_at, replied_at, resolved_at, labels, messages_in, messages_out)
				SELECT ?, i, i, i, 0, 0, '', 1, 1 FROM n`, []any{50, account.ID}},
			{numbers + `INSERT INTO events (id, organization_id, type, source, event_id, payload, created_at)
				SELECT printf('evt_%04d', i), ?, 'contact.updated', 's', 'e', CAST('ctc_' || i || '.' AS BLOB), i FROM n`,
				[]any{2500, e.organization}},
			{numbers + `INSERT INTO subscriptions (id, organization_id, url, events, created_at, updated_at)
				SELECT printf('wbs_%03d', i), ?, 'https://a.test', '["*"]', i / 5, 0 FROM n`, []any{100, e.organization}},
			{numbers + `INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, status, created_at)
				SELECT printf('wbd_%03d', i), ?, printf('wbs_%03d', i % 100 + 1), ?, 't', 'e', iif(i % 4, 'dead', 'failed'), i / 3 FROM n`,
				[]any{200, e.organization, e.event}},
		} {
			if err := tx.Run(s.query, s.args...); err != nil {
				return fmt.Errorf("%s: %w", s.query, err)
			}
		}
		return nil
	})
	return e, account
}

// walks are the reads that may pass over very many rows, with what they find in an
// office.
func walks(e endpoint, account storage.Account) map[string]struct {
	read func(rx *storage.Rx) (any, error)
	want any
} {
	type walk = struct {
		read func(rx *storage.Rx) (any, error)
		want any
	}
	deliveries := func(f storage.DeliveryFilter, after storage.After) func(rx *storage.Rx) (any, error) {
		return func(rx *storage.Rx) (any, error) {
			rows, _, err := rx.Deliveries(e.organization, f, after, 5)
			var ids []string
			for _, d := range rows {
				ids = append(ids, d.ID)
			}
			return ids, err
		}
	}
	ids := func(from int64) (all []int64) {
		for i := range int64(1500) {
			all = append(all, from+i)
		}
		return all
	}
	return map[string]walk{
		"counting jobs": {func(rx *storage.Rx) (any, error) { return rx.JobCounts() }, []storage.JobCount{
			{Kind: "a", State: "due", Count: 833, Oldest: 10}, {Kind: "a", State: "running", Count: 417, Oldest: 30},
			{Kind: "b", State: "due", Count: 834, Oldest: 20}, {Kind: "b", State: "running", Count: 416, Oldest: 60},
		}},
		"a job that names something": {func(rx *storage.Rx) (any, error) { return rx.JobNames([]string{"b", "c"}, `"x2400"`) }, true},
		"a job that does not":        {func(rx *storage.Rx) (any, error) { return rx.JobNames([]string{"a"}, `"x2400"`) }, false},
		"jobs of an account":         {func(rx *storage.Rx) (any, error) { return rx.JobsOfAccount(account.ID, 700, 1500) }, ids(701)},
		"kept callbacks of an account": {func(rx *storage.Rx) (any, error) {
			return rx.RawCallbacksOfAccount(storage.Tombstone{Account: account}, 900, 1500)
		}, ids(901)},
		"spells of a report": {func(rx *storage.Rx) (any, error) {
			n := 0
			err := rx.EachSpellInSteps(account.ID, 1, 100, storage.SpellsTogether, 10, func(storage.SpellFigures) error { n++; return nil })
			return n, err
		}, 50},
		"events about a contact": {func(rx *storage.Rx) (any, error) {
			all, err := rx.ContactEvents(e.organization, "ctc_3.", "ctc_2400.", 5)
			var ids []string
			for _, e := range all {
				ids = append(ids, e.ID)
			}
			return ids, err
		}, []string{"evt_2400", "evt_0003"}},
		"running jobs": {func(rx *storage.Rx) (any, error) {
			all, err := rx.RunningJobs()
			if err != nil {
				return nil, err
			}
			return []int{len(all), int(all[0].ID), int(all[len(all)-1].ID)}, err
		}, []int{833, 4, 2500}}, // one job was there before
		"deliveries in a state": {deliveries(storage.DeliveryFilter{Status: "dead"}, storage.First), []string{"wbd_199", "wbd_198", "wbd_197", "wbd_195", "wbd_194"}},
		"deliveries in a state, from a place on": {deliveries(storage.DeliveryFilter{Status: "failed"}, storage.After{Key: 20, ID: "wbd_060"}),
			[]string{"wbd_056", "wbd_052", "wbd_048", "wbd_044", "wbd_040"}},
		"deliveries behind those of a deleted subscription": {deliveries(storage.DeliveryFilter{}, storage.First),
			[]string{"wbd_200", "wbd_199", "wbd_198", "wbd_197", "wbd_196"}},
	}
}

// Reads that may pass over very many rows run as a search for any caller: step by
// step, and on the connections for searches.
func TestWalksAreSearches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		e, account := newOffice(t)
		e.db.SetTurnTime(0)
		for name, walk := range walks(e, account) {
			release := hold(t, e.db.Search, 98, storage.MaxSearches)
			var got any
			done := make(chan error)
			go func() {
				done <- e.db.List(context.Background(), 99, func(rx *storage.Rx) (err error) {
					got, err = walk.read(rx)
					return err
				})
			}()
			synctest.Wait()
			if e.db.SearchesWaiting(99) != 1 {
				t.Errorf("%s does not wait for the connections for searches", name)
			}
			release()
			is.NoErr(<-done)
			if !reflect.DeepEqual(got, walk.want) {
				t.Errorf("%s: %v", name, got)
			}
		}
	})
}
