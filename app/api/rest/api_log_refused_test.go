package rest

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// Whose key it was is known, so the call is its organization's to see, however many calls
// strangers make. A probe takes no line from strangers, nor they from it.
func TestCallsWithARefusedKeyAreItsOrganizations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t, believeAll)
		secrets := make(map[string]string)
		storagetest.Update(t, f.db, func(tx *storage.Tx) error {
			for _, name := range []string{"revoked", "expired"} {
				k := storage.Key{OrganizationID: f.tenant.Organization.ID}
				if name == "expired" {
					k.ExpiresAt = tx.Now.Add(time.Minute)
				}
				secret, err := tx.InsertKey(&k)
				if err != nil {
					return err
				}
				secrets[secret] = k.ID
				if name == "revoked" {
					if _, err := tx.RevokeKey(0, k.ID); err != nil {
						return err
					}
				}
			}
			return nil
		})
		time.Sleep(time.Hour)
		for range 2 * strangerLines {
			f.from("198.51.100.1", "GET", "/me")
			f.from("198.51.100.1", "GET", "/health")
		}
		is.Equal(len(f.logged()), 2*strangerLinesEach) // both have their own

		for secret, id := range secrets {
			for range 2 * strangerLines {
				is.Equal(f.callAs(secret, "GET", "/me", "").status, 401)
			}
			n := 0
			for _, c := range f.logged() {
				if c.KeyID != nil && *c.KeyID == id && *c.OrganizationID == f.tenant.Organization.ID && c.Status == 401 {
					n++
				}
			}
			is.Equal(n, 2*strangerLines)
			is.Equal(len(f.log.lines("key="+id)), 2*strangerLines)
		}
		for secret, id := range secrets { // though not without end
			for range refusedLinesEach {
				f.callAs(secret, "GET", "/me", "")
			}
			is.Equal(len(f.log.lines("key="+id)), refusedLinesEach)
			break
		}
		used := storagetest.Select[int64](t, f.dir, `SELECT max(last_used_at) FROM api_keys`)
		is.Equal(used, []int64{0}) // it was refused
		is.Equal(len(f.log.lines(fmt.Sprint("org=", f.tenant.Organization.PublicID))), refusedLinesEach+2*strangerLines)
	})
}
