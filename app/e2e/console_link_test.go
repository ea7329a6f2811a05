package e2e

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/config"
	"confab/storage"
	"confab/storage/storagetest"
)

func TestALinkSignsInOnceWhateverElseIsNeeded(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, func(c *config.Config) { c.Console.SecondFactor = "everyone" })
	dir := s.app.Config.DataDir
	u, welcome := s.invitePerson("ada@example.com", storage.RoleAdmin)
	make := func() string {
		return strings.TrimPrefix(run(t, "users", "link", "ADA@example.com", "--data-dir", dir), s.app.URL())
	}

	first, link := make(), make()
	is.True(strings.HasPrefix(link, "/console/link/"))
	token := strings.TrimPrefix(link, "/console/link/")
	for _, method := range []string{"GET", "POST"} {
		is.Equal(s.browser().open(method, first, nil).status, 410) // a new one ends the earlier
		is.Equal(s.browser().open(method, "/console/link/none", nil).status, 404)
		is.Equal(s.browser().open(method, "/console/welcome/"+token, url.Values{"name": {"Eve"}, "password": {goodPassword}}).status, 404) // no password is chosen by it
		is.Equal(s.browser().open(method, strings.Replace(welcome, "welcome", "link", 1), nil).status, 404)
	}
	is.Equal(s.browser().open("GET", welcome, nil).status, 200) // the invitation stays

	b := s.browser()
	for range 2 { // opening changes nothing
		page := b.open("GET", link, nil)
		is.Equal(page.status, 200)
		is.True(strings.Contains(page.body, "<button"))
		is.Equal(b.session(), "")
	}
	is.Equal(b.open("POST", link, nil, "Sec-Fetch-Site: cross-site").status, 403)
	is.Equal(b.open("POST", link, nil).location.Path, "/console/inbox")
	is.True(b.session() != "")
	is.Equal(s.browser().open("POST", link, nil).status, 410)
	for _, stored := range storagetest.Select[string](t, dir, `SELECT hex(token_hash) FROM user_invitations`) {
		is.True(!strings.Contains(stored, strings.ToUpper(hexOf([]byte(token)))))
	}

	// Ten minutes are the end.
	var made struct {
		ID, Object, Link string
		ExpiresAt        time.Time `json:"expires_at"`
	}
	is.NoErr(json.Unmarshal([]byte(run(t, "users", "link", u.ID, "--json", "--data-dir", dir)), &made))
	is.Equal(made.ID+" "+made.Object, u.ID+" user")
	is.True(time.Until(made.ExpiresAt) > 9*time.Minute && time.Until(made.ExpiresAt) <= 10*time.Minute)
	storagetest.Exec(t, dir, `UPDATE user_invitations SET expires_at = created_at WHERE signs_in = 1`)
	is.Equal(s.browser().open("POST", strings.TrimPrefix(made.Link, s.app.URL()), nil).status, 410)

	// Never for disabled people.
	link = make()
	run(t, "users", "disable", u.ID, "--data-dir", dir)
	is.Equal(s.browser().open("POST", link, nil).status, 410)
	is.True(strings.Contains(refused(t, "users", "link", u.ID, "--data-dir", dir), "disabled"))
	is.Equal(storagetest.Select[int](t, dir, `SELECT count(*) FROM audit WHERE action = 'user.link_created'`), []int{4})
}
