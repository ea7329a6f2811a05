package e2e

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// fillExports stores a finished broadcast with its recipients, and contacts.
func (s *stage) fillExports(number string, recipients, contacts, metadata int) {
	s.t.Helper()
	dir := s.app.Config.DataDir
	storagetest.Exec(s.t, dir, `
		INSERT INTO broadcasts (id, account_id, name, content, template_name, template_language, audience_type, status, prepared, total, skipped, created_at, updated_at)
		SELECT 'bcs_01KDYBMWFE00000000000000B1', id, 'Sale', '{}', 'sale', 'en', 'recipients', 'completed', 1, ?, ?, 1, 1 FROM accounts WHERE phone_number_id = ?`,
		recipients, recipients, number)
	storagetest.Exec(s.t, dir, `
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO broadcast_recipients (broadcast, number, phone_number, status, reason)
		SELECT (SELECT max(number) FROM broadcasts), i, '+1555' || (1000000 + i), 5, printf('%.*c', 2000, 'x') FROM n`, recipients)
	storagetest.Exec(s.t, dir, `
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO contacts (id, account_id, phone_number, metadata, created_at, updated_at)
		SELECT printf('ctc_01KDYBMWFE%016d', i), (SELECT id FROM accounts WHERE phone_number_id = ?), '+1555' || (1000000 + i),
			'{"note":"' || printf('%.*c', ?, 'x') || '"}', i, i FROM n`, contacts, number, metadata)
}

const exportedBroadcast = "/broadcasts/bcs_01KDYBMWFE00000000000000B1/recipients.csv"

func TestEveryExportIsAuditedAndKeptByNoCache(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	number := s.connect()
	s.fillExports(number, 3, 3, 10)
	admin, _ := s.joined("ada@example.com", storage.RoleAdmin)
	audited := func() []string {
		return storagetest.Select[string](t, s.app.Config.DataDir, `SELECT actor_type || ' ' || action || ' ' || target_id FROM audit WHERE action LIKE '%exported' ORDER BY 1`)
	}

	for path, lines := range map[string]int{
		"/" + number + "/contacts.csv": 4, "/" + number + exportedBroadcast: 4, "/reports/costs.csv": 1, "/reports/conversations.csv": 1,
	} {
		byKey := askWith(t, "GET", s.app.URL()+"/v1"+path, "", "Authorization: Bearer "+s.tenant.Secret)
		byPerson := admin.open("GET", "/console/api/v1"+path, nil)
		head := askWith(t, "HEAD", s.app.URL()+"/v1"+path, "", "Authorization: Bearer "+s.tenant.Secret)
		for _, got := range []seen{byKey, byPerson, head} {
			is.Equal(got.status, 200)
			is.Equal(got.header.Get("Content-Type"), "text/csv; charset=utf-8")
			is.Equal(got.header.Get("Cache-Control"), "no-store")
			is.Equal(got.header.Get("X-Content-Type-Options"), "nosniff")
		}
		is.Equal(strings.Count(byKey.body, "\n"), lines)
		is.Equal(byKey.body, byPerson.body)
	}
	organization := s.tenant.Organization.PublicID
	is.Equal(audited(), []string{
		"key broadcast.exported bcs_01KDYBMWFE00000000000000B1", "key contacts.exported " + number,
		"key report.exported " + organization, "key report.exported " + organization,
		"user broadcast.exported bcs_01KDYBMWFE00000000000000B1", "user contacts.exported " + number,
		"user report.exported " + organization, "user report.exported " + organization,
	})
}

// An export ends for a caller that may no longer have it, with a connection that is cut, so that
// a part is not taken for the whole.
func TestAnExportEndsWithTheRightToIt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	number := s.connect()
	s.fillExports(number, 12_000, 3000, 12_000) // each is longer than what is on its way can be

	for _, path := range []string{"/contacts.csv", exportedBroadcast} {
		b, u := s.joined("disabled"+path[1:4]+"@example.com", storage.RoleAdmin)
		s.isCutOff("/console/api/v1/"+number+path, "Cookie: "+b.cookieLine(), func(tx *storage.Tx) error { return tx.DisableUser(u.ID) })

		b, u = s.joined("demoted"+path[1:4]+"@example.com", storage.RoleAdmin)
		s.isCutOff("/console/api/v1/"+number+path, "Cookie: "+b.cookieLine(), func(tx *storage.Tx) error {
			u.Role = storage.RoleAgent
			return tx.UpdateUser(&u)
		})
	}
	s.isCutOff("/v1/"+number+"/contacts.csv", "Authorization: Bearer "+s.tenant.Secret, func(tx *storage.Tx) error {
		_, err := tx.RevokeKey(s.tenant.Organization.ID, s.tenant.Key.ID)
		return err
	})
}

// isCutOff begins to read an export, ends the right to it, and finds that it ends early.
func (s *stage) isCutOff(path, header string, end func(*storage.Tx) error) {
	s.t.Helper()
	is := is.New(s.t)
	req, err := http.NewRequest("GET", s.app.URL()+path, nil)
	is.NoErr(err)
	name, value, _ := strings.Cut(header, ": ")
	req.Header.Set(name, value)
	res, err := http.DefaultClient.Do(req)
	is.NoErr(err)
	defer res.Body.Close()
	is.Equal(res.StatusCode, 200)
	in := bufio.NewReader(res.Body)
	_, err = in.ReadString('\n')
	is.NoErr(err)

	storagetest.Update(s.t, s.app.DB, end)
	_, err = io.Copy(io.Discard, in)
	is.True(err != nil) // it ended in the middle
}
