package e2e

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

// The browser's language decides until the profile does.
func TestPagesSpeakTheLanguageOfTheirReader(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	_, link := s.invitePerson("ada@example.com", storage.RoleAdmin)
	b := s.browser()
	const arabic, indonesian = "Accept-Language: ar-EG,ar;q=0.9,en;q=0.8", "Accept-Language: id-ID,id;q=0.9"

	got := b.open("GET", "/console/sign-in", nil, arabic)
	is.True(strings.Contains(got.body, `<html lang="ar" dir="rtl">`))
	is.True(strings.Contains(got.body, "<h1>تسجيل الدخول</h1>"))
	is.Equal(got.header.Get("Vary"), "Accept-Language")
	is.True(strings.Contains(b.open("GET", "/console/sign-in", nil).body, `<html lang="en" dir="ltr">`))
	got = b.open("GET", link, nil, "Accept-Language: pt-PT")
	is.True(strings.Contains(got.body, "Boas-vindas a "+s.tenant.Organization.Name))
	is.True(strings.Contains(got.body, "convite para <b>"+s.tenant.Organization.Name+"</b>, como <b>ada@example.com</b>."))
	got = b.open("POST", link, url.Values{"name": {"Ada"}, "password": {"short"}}, "Accept-Language: es")
	is.True(strings.Contains(got.body, "Usa de 10 a 200 caracteres"))
	is.Equal(b.open("POST", link, url.Values{"name": {"Ada"}, "password": {goodPassword}}).status, 303)

	is.True(strings.Contains(b.open("GET", "/console/inbox", nil, arabic).body, `<html lang="ar" dir="rtl">`))
	is.Equal(b.sendJSON("PATCH", "/console/api/profile", `{"language":"id"}`).status, 200)
	got = b.open("GET", "/console/inbox", nil, arabic)
	is.True(strings.Contains(got.body, `<html lang="id" dir="ltr">`))
	is.True(strings.Contains(got.body, "<title>Kotak masuk · confab</title>"))
	is.True(strings.Contains(got.body, `manifest.webmanifest?lang=id"`))
	is.True(strings.Contains(b.open("GET", "/console/nothing", nil, arabic).body, "<h1>Halaman tidak ditemukan</h1>"))
	is.Equal(b.sendJSON("PATCH", "/console/api/profile", `{"language":null}`).status, 200)
	is.True(strings.Contains(b.open("GET", "/console/inbox", nil, arabic).body, `<html lang="ar" dir="rtl">`))

	for path, want := range map[string]string{"?lang=ar": "ar rtl", "?lang=xx": "id ltr", "": "id ltr"} {
		var manifest struct{ Lang, Dir string }
		got := s.browser().open("GET", "/console/manifest.webmanifest"+path, nil, indonesian)
		is.NoErr(json.Unmarshal([]byte(got.body), &manifest))
		is.Equal(manifest.Lang+" "+manifest.Dir, want)
	}
}
