package storage_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/oklog/ulid/v2"

	"confab/storage"
	"confab/storage/storagetest"
)

// traffic is a number with messages at chosen times.
type traffic struct {
	db      *storage.DB
	tenant  storagetest.Tenant
	account storage.Account
	made    uint64
}

func newTraffic(t *testing.T) *traffic {
	t.Helper()
	db := open(t, newFile(t))
	tenant := storagetest.Seed(t, db, "Busy")
	return &traffic{db: db, tenant: tenant, account: storagetest.Connect(t, db, tenant, "100200300")}
}

// add stores messages that were made at a time.
func (f *traffic) add(t *testing.T, at storage.Time, n int, direction, status, code string) {
	t.Helper()
	storagetest.Update(t, f.db, func(tx *storage.Tx) error {
		for range n {
			f.made++
			var id ulid.ULID
			if err := id.SetTime(uint64(at)); err != nil {
				return err
			}
			binary.BigEndian.PutUint64(id[8:], f.made)
			err := tx.Run(`
				INSERT INTO messages (id, account_id, conversation_id, contact_id, direction, type, status, source, content, error_code, error_provider_code, created_at, updated_at)
				VALUES (?, ?, 'c', 'c', ?, 'text', ?, 'api', '{}', nullif(?, ''), iif(?5 = '', NULL, 131026), ?, ?)`,
				"msg_"+id.String(), f.account.ID, direction, status, code, at, at)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// hour is a whole one, some days ago.
func hourAgo(hours int) storage.Time {
	return storage.At(time.Now().Truncate(time.Hour).Add(-time.Duration(hours) * time.Hour))
}

func TestMessagesAreCountedByHoursHoweverManyAStepTakes(t *testing.T) {
	for _, step := range []int{1, 2, 3, 1000} {
		t.Run(fmt.Sprint(step), func(t *testing.T) {
			is := is.New(t)
			f := newTraffic(t)
			f.db.SetCountStep(step, step)
			from := hourAgo(2)
			f.add(t, from-1, 5, "outbound", "sent", "") // before
			f.add(t, from, 3, "outbound", "queued", "")
			f.add(t, from, 2, "outbound", "sent", "")
			f.add(t, from.Add(time.Hour)-1, 4, "outbound", "delivered", "")
			f.add(t, from.Add(time.Hour), 1, "outbound", "read", "")
			f.add(t, from.Add(time.Hour), 2, "outbound", "failed", "undeliverable")
			f.add(t, from.Add(time.Hour), 3, "inbound", "read", "")
			f.add(t, from.Add(2*time.Hour), 7, "inbound", "delivered", "") // after

			got, err := f.db.MessageHours(t.Context(), f.tenant.Organization.ID, f.account.ID, from, 2)
			is.NoErr(err)
			is.Equal(got, []storage.MessageCounts{
				{Sent: 6, Delivered: 4},
				{Sent: 1, Delivered: 1, Read: 1, Failed: 2, Received: 3},
			})
		})
	}
}

func TestDaysThatAreLongOverAreCountedOnce(t *testing.T) {
	is := is.New(t)
	f := newTraffic(t)
	from := hourAgo(10 * 24)
	f.add(t, from, 2, "outbound", "sent", "")
	f.add(t, from.Add(9*24*time.Hour), 3, "outbound", "sent", "")
	count := func() (sent []int) {
		days, err := f.db.MessageDays(t.Context(), f.tenant.Organization.ID, from, 10)
		is.NoErr(err)
		for _, d := range days {
			sent = append(sent, d.Sent)
		}
		return sent
	}
	is.Equal(count(), []int{2, 0, 0, 0, 0, 0, 0, 0, 0, 3})
	f.add(t, from.Add(time.Hour), 1, "outbound", "sent", "")
	f.add(t, from.Add(9*24*time.Hour), 1, "outbound", "sent", "")
	is.Equal(count(), []int{2, 0, 0, 0, 0, 0, 0, 0, 0, 4}) // only the newest are counted again

	other := storagetest.Seed(t, f.db, "Other")
	days, err := f.db.MessageDays(t.Context(), other.Organization.ID, from, 10)
	is.NoErr(err)
	is.Equal(days, make([]storage.MessageCounts, 10))
}

func TestFailuresAreCountedByTheirReason(t *testing.T) {
	is := is.New(t)
	f := newTraffic(t)
	since := hourAgo(2)
	f.add(t, since-1, 9, "outbound", "failed", "undeliverable") // before
	f.add(t, since, 2, "outbound", "failed", "auth_expired")
	f.add(t, since, 3, "outbound", "failed", "undeliverable")
	f.add(t, since, 2, "outbound", "failed", "")
	code := int64(131026)
	want := []storage.FailureCount{
		{Code: "undeliverable", ProviderCode: &code, Count: 3}, {Code: "", Count: 2}, {Code: "auth_expired", ProviderCode: &code, Count: 2},
	}
	storagetest.View(t, f.db, func(rx *storage.Rx) error {
		got, err := rx.Failures(f.account.ID, since)
		is.Equal(got, want)
		if err == nil {
			got, err = rx.OrganizationFailures(f.tenant.Organization.ID, since)
			is.Equal(got, want)
		}
		return err
	})
}

// What is counted is found by an index, from where it begins to where it ends.
func TestCountsSeekByTheirIndex(t *testing.T) {
	f := newTraffic(t)
	for name, c := range map[string]struct {
		run  func(rx *storage.Rx) error
		uses string
	}{
		"messages": {func(rx *storage.Rx) error { _, err := rx.MessageHours(1, 0, 1); return err }, "messages USING INDEX messages_of_account (account_id=? AND id>? AND id<?)"},
		"failures": {func(rx *storage.Rx) error { _, err := rx.Failures(1, 0); return err }, "messages USING INDEX messages_failed (account_id=? AND id>?)"},
		"hours":    {func(rx *storage.Rx) error { _, err := rx.DeliveryHours("wbs", 0, 1); return err }, "deliveries_of_subscription (subscription_id=? AND status=? AND created_at>? AND created_at<?)"},
		"usage":    {func(rx *storage.Rx) error { _, err := rx.StoredUsage(1, 0); return err }, "PRIMARY KEY (organization_id=? AND month=?)"},
		"accounts": {func(rx *storage.Rx) error { _, err := rx.OrganizationFailures(1, 0); return err }, "accounts_of_organization (organization_id=?)"},
	} {
		storagetest.View(t, f.db, func(rx *storage.Rx) error {
			plans, err := rx.Plans(func() error { return c.run(rx) })
			text := ""
			for _, plan := range plans {
				text += plan + "\n"
			}
			if !strings.Contains(text, c.uses) {
				t.Errorf("%s:\n%s", name, text)
			}
			return err
		})
	}
}

func TestDeliveriesAreCountedByHours(t *testing.T) {
	is := is.New(t)
	e := newEndpoint(t)
	from := hourAgo(3)
	at := fmt.Sprintf("%d + i * %d", from, 3*time.Hour.Milliseconds()/300)
	e.fill(t, "a", 299, `CASE i % 3 WHEN 0 THEN 'dead' WHEN 1 THEN 'failed' ELSE 'succeeded' END`, `1`, at)
	got, err := e.db.DeliveryHours(t.Context(), e.organization, e.subscription, from, 3)
	is.NoErr(err)
	total := storage.DeliveryStats{}
	for i, hour := range got {
		is.Equal(hour.Total(), []int{99, 100, 100}[i])
		total.Dead += hour.Dead
		total.Failed += hour.Failed
		total.Succeeded += hour.Succeeded
		total.Attempted += hour.Attempted
	}
	is.Equal(total, e.counted(t, 0))
}
