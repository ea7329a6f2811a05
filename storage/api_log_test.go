package storage_test

import (
	"fmt"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

// logCalls stores calls at times 1 to 8: ours, theirs and no one's, alternating.
func logCalls(t *testing.T, db *storage.DB) (ours, theirs storagetest.Tenant) {
	t.Helper()
	ours, theirs = two(t, db)
	statuses := []int{200, 201, 401, 404, 500, 400, 503, 299}
	var calls []storage.APICall
	for i, status := range statuses {
		c := storage.APICall{Method: "GET", Path: "/v1/labels", Status: status, Latency: storage.Micros(i), IP: "192.0.2.1",
			RequestID: fmt.Sprint("r", i+1), CreatedAt: storage.Time(i + 1)}
		switch i % 3 {
		case 0:
			c.OrganizationID, c.KeyID = &ours.Organization.ID, &ours.Key.ID
		case 1:
			c.OrganizationID, c.KeyID = &theirs.Organization.ID, &theirs.Key.ID
		}
		calls = append(calls, c)
	}
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.InsertAPICalls(calls) })
	return ours, theirs
}

func requests(calls []storage.APICall) string {
	var all string
	for _, c := range calls {
		all += c.RequestID
	}
	return all
}

func TestCallsAreFiltered(t *testing.T) {
	db := open(t, newFile(t))
	ours, _ := logCalls(t, db)
	for name, c := range map[string]struct {
		filter storage.APICallFilter
		want   string
	}{
		"all, oldest first":        {storage.APICallFilter{Limit: 100}, "r1r2r3r4r5r6r7r8"},
		"of the limit, the newest": {storage.APICallFilter{Limit: 3}, "r6r7r8"},
		"of an organization":       {storage.APICallFilter{Organization: ours.Organization.ID, Limit: 100}, "r1r4r7"},
		"of one that has none":     {storage.APICallFilter{Organization: 99, Limit: 100}, ""},
		"since":                    {storage.APICallFilter{Since: 7, Limit: 100}, "r7r8"},
		"of a status":              {storage.APICallFilter{MinStatus: 404, MaxStatus: 404, Limit: 100}, "r4"},
		"5xx":                      {storage.APICallFilter{MinStatus: 500, MaxStatus: 599, Limit: 100}, "r5r7"},
		"from a status on":         {storage.APICallFilter{MinStatus: 401, Limit: 100}, "r3r4r5r7"},
		"all together": {storage.APICallFilter{Organization: ours.Organization.ID, Since: 2, MinStatus: 400, MaxStatus: 499, Limit: 1},
			"r4"},
	} {
		got := view(t, db, func(rx *storage.Rx) ([]storage.APICall, error) { return rx.APICalls(c.filter) })
		if requests(got) != c.want {
			t.Errorf("%s: %s instead of %s", name, requests(got), c.want)
		}
		c.filter.Limit = 100
		whole := view(t, db, func(rx *storage.Rx) ([]storage.APICall, error) { return rx.APICalls(c.filter) })
		followed := view(t, db, func(rx *storage.Rx) ([]storage.APICall, error) { return rx.APICallsAfter(0, c.filter) })
		if requests(followed) != requests(whole) {
			t.Errorf("%s, followed: %s instead of %s", name, requests(followed), requests(whole))
		}
	}
}

func TestCallReadsBack(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, _ := logCalls(t, db)
	calls := view(t, db, func(rx *storage.Rx) ([]storage.APICall, error) { return rx.APICalls(storage.APICallFilter{Limit: 100}) })
	is.Equal(calls[0], storage.APICall{ID: 1, OrganizationID: &ours.Organization.ID, OrganizationPublicID: &ours.Organization.PublicID,
		KeyID: &ours.Key.ID, Method: "GET", Path: "/v1/labels", Status: 200, IP: "192.0.2.1", RequestID: "r1", CreatedAt: 1})
	is.Equal(calls[2].OrganizationID, nil) // a call without a valid key
	is.Equal(calls[2].OrganizationPublicID, nil)
}

func TestCallsAreFollowed(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	last := func() int64 { return view(t, db, func(rx *storage.Rx) (int64, error) { return rx.LastAPICall() }) }
	is.Equal(last(), int64(0))
	logCalls(t, db)
	is.Equal(last(), int64(8))
	after := func(id int64, limit int) string {
		return requests(view(t, db, func(rx *storage.Rx) ([]storage.APICall, error) {
			return rx.APICallsAfter(id, storage.APICallFilter{Limit: limit})
		}))
	}
	is.Equal(after(5, 100), "r6r7r8")
	is.Equal(after(5, 2), "r6r7") // the first, so that none is missed
	is.Equal(after(8, 100), "")
}

func TestManyCallsAreWrittenInTheirOrder(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, 33, 70} {
		is := is.New(t)
		db := open(t, newFile(t))
		var calls []storage.APICall
		var want string
		for i := range n {
			id := fmt.Sprint("r", i)
			calls, want = append(calls, storage.APICall{Method: "GET", Path: "/v1/me", Status: 200, IP: "192.0.2.1", RequestID: id, CreatedAt: 1}), want+id
		}
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.InsertAPICalls(calls) })
		storagetest.View(t, db, func(rx *storage.Rx) error {
			all, err := rx.APICallsAfter(0, storage.APICallFilter{Limit: 100})
			is.Equal(requests(all), want)
			return err
		})
	}
}
