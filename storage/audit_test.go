package storage_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestAuditEntriesAreTheirOrganizations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		ours, theirs := two(t, db)
		began := storage.Now()
		for _, o := range []int64{ours.Organization.ID, theirs.Organization.ID, ours.Organization.ID, 0} {
			time.Sleep(time.Second)
			storagetest.Update(t, db, func(tx *storage.Tx) error {
				return tx.Audit(o, storage.Actor{Type: storage.ActorUser, ID: text("u"), Name: text("Ada"), IP: text("192.0.2.1")}, "key.created", "key", "k")
			})
		}

		all := view(t, db, func(rx *storage.Rx) ([]storage.AuditEntry, error) { return rx.LatestAudit(0, 0, 10) })
		is.Equal(len(all), 4)
		is.Equal(all[3].OrganizationID, nil)
		is.Equal(all[3].AuditTarget.ID, text("k"))
		mine := view(t, db, func(rx *storage.Rx) ([]storage.AuditEntry, error) {
			all, _, err := rx.AuditEntries(ours.Organization.ID, storage.AuditFilter{}, storage.First, 10)
			return all, err
		})
		is.Equal(mine, []storage.AuditEntry{all[2], all[0]}) // newest first
		is.Equal(*mine[0].OrganizationPublicID, ours.Organization.PublicID)
		newest := view(t, db, func(rx *storage.Rx) ([]storage.AuditEntry, error) {
			return rx.LatestAudit(ours.Organization.ID, began, 1)
		})
		is.Equal(newest, []storage.AuditEntry{all[2]})

		scope := storage.PurgeScope{Before: all[2].CreatedAt, Organization: ours.Organization.ID}
		rows := view(t, db, func(rx *storage.Rx) ([]storage.Row, error) {
			return rx.OldRows(storage.AuditLog, scope, storage.Row{}, 10)
		})
		is.Equal(rows, []storage.Row{{At: all[0].CreatedAt, ID: all[0].ID}})
		is.Equal(view(t, db, func(rx *storage.Rx) (storage.PurgeCounts, error) { return rx.CountPurge(scope) }).Audit, int64(1))
		is.Equal(update(t, db, func(tx *storage.Tx) (storage.PurgeCounts, error) {
			return tx.DeleteOldRows(storage.AuditLog, rows)
		}), storage.PurgeCounts{Audit: 1})
	})
}
