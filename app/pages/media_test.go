package pages_test

import (
	"context"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/app/pages"
	"confab/storage"
	"confab/storage/storagetest"
)

// site serves hosted media of one account.
type site struct {
	t       *testing.T
	dir     string
	db      *storage.DB
	files   *storage.Files
	account storage.Account
	url     string
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	s.db, s.files = storagetest.OpenDir(t, s.dir), storagetest.Files(t, s.dir)
	s.account = storagetest.Connect(t, s.db, storagetest.Seed(t, s.db, "Acme"), "100200300")
	server := httptest.NewServer(&pages.Media{
		DB: s.db, Files: s.files,
		WriteError: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), rest.AsError(err).Status())
		},
	})
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// host stores a file of a type and returns its row.
func (s *site) host(mimeType, filename, content string) storage.Media {
	s.t.Helper()
	up, err := s.files.Create()
	if err == nil {
		_, err = io.WriteString(up, content)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	sum, err := up.Keep(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	m := storage.Media{AccountID: s.account.ID, Origin: storage.OriginMessage, SHA256: sum, MIMEType: mimeType, Size: int64(len(content))}
	if filename != "" {
		m.Filename = &filename
	}
	storagetest.Update(s.t, s.db, func(tx *storage.Tx) error { return tx.InsertMedia(&m) })
	return m
}

// ask makes a request; header holds names and values alternately.
func (s *site) ask(method, path string, header ...string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequest(method, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res, string(body)
}

func TestAHostedFileIsShownWithItsTypeAndMayBeCached(t *testing.T) {
	is := is.New(t)
	s := newSite(t)
	m := s.host("image/png", "menu.png", "0123456789")
	for _, path := range []string{"/media/" + m.URLToken, "/media/" + m.URLToken + "/menu.png", "/media/" + m.URLToken + "/other.html"} {
		for _, method := range []string{"GET", "HEAD"} {
			res, body := s.ask(method, path)
			is.Equal(res.StatusCode, 200)
			is.Equal(body, map[string]string{"GET": "0123456789"}[method])
			is.Equal(res.ContentLength, int64(10))
			for name, want := range map[string]string{
				"Content-Type":            "image/png",
				"Content-Disposition":     `inline; filename="menu.png"; filename*=UTF-8''menu.png`,
				"Cache-Control":           "public, max-age=86400",
				"X-Content-Type-Options":  "nosniff",
				"Content-Security-Policy": "sandbox; default-src 'none'",
				"Accept-Ranges":           "bytes",
				"Referrer-Policy":         "no-referrer",
				"ETag":                    `"` + m.SHA256 + `"`,
			} {
				is.Equal(res.Header.Get(name), want)
			}
		}
	}
}

func TestPartsAndUnchangedFilesAreNotSentWhole(t *testing.T) {
	is := is.New(t)
	s := newSite(t)
	m := s.host("video/mp4", "", "0123456789")
	path, tag := "/media/"+m.URLToken, `"`+m.SHA256+`"`
	for _, c := range []struct {
		name, value string
		status      int
		body        string
	}{
		{"Range", "bytes=2-4", 206, "234"},
		{"Range", "bytes=-3", 206, "789"},
		{"Range", "bytes=7-", 206, "789"},
		{"Range", "bytes=99-", 416, "invalid range: failed to overlap\n"},
		{"If-None-Match", tag, 304, ""},
		{"If-None-Match", `"other", W/` + tag, 304, ""},
		{"If-None-Match", `"other"`, 200, "0123456789"},
		{"If-Modified-Since", "Mon, 01 Jan 2001 00:00:00 GMT", 200, "0123456789"},
	} {
		res, body := s.ask("GET", path, c.name, c.value)
		is.Equal(res.StatusCode, c.status)
		is.Equal(body, c.body)
	}
	res, body := s.ask("GET", path, "Range", "bytes=0-1", "If-Range", `"other"`)
	is.Equal(res.StatusCode, 200) // it is another file by now: all of it
	is.Equal(body, "0123456789")
}

func TestNothingThatABrowserRunsIsShownInPlace(t *testing.T) {
	s := newSite(t)
	for mimeType, want := range map[string]string{
		"image/jpeg":                    "image/jpeg inline",
		"image/webp":                    "image/webp inline",
		"audio/ogg; codecs=opus":        "audio/ogg inline",
		"video/3gpp":                    "video/3gpp inline",
		"application/pdf":               "application/pdf inline",
		"application/zip":               "application/zip attachment",
		"application/msword":            "application/msword attachment",
		"text/plain":                    "text/plain; charset=utf-8 attachment",
		"text/html":                     "text/plain; charset=utf-8 attachment",
		"TEXT/HTML; charset=x":          "text/plain; charset=utf-8 attachment",
		"text/css":                      "text/plain; charset=utf-8 attachment",
		"text/xml":                      "text/plain; charset=utf-8 attachment",
		"image/svg+xml":                 "text/plain; charset=utf-8 attachment",
		"application/xml":               "text/plain; charset=utf-8 attachment",
		"application/xhtml+xml":         "text/plain; charset=utf-8 attachment",
		"application/javascript":        "text/plain; charset=utf-8 attachment",
		"application/x-shockwave-flash": "application/x-shockwave-flash attachment",
		"nonsense / ;":                  "application/octet-stream attachment",
		"image/png\r\nX-Evil: 1":        "application/octet-stream attachment",
	} {
		t.Run(mimeType, func(t *testing.T) {
			is := is.New(t)
			m := s.host(mimeType, "", "<svg onload=alert(1)>")
			res, _ := s.ask("GET", "/media/"+m.URLToken)
			is.Equal(res.StatusCode, 200)
			is.Equal(res.Header.Get("Content-Type")+" "+res.Header.Get("Content-Disposition"), want)
			is.Equal(res.Header.Get("X-Content-Type-Options"), "nosniff")
			is.Equal(res.Header.Get("Content-Security-Policy"), "sandbox; default-src 'none'")
			is.Equal(res.Header.Get("X-Evil"), "")
		})
	}
}

func TestHostileNamesStayNames(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{
		"a.png", "a b+c.png", `quo"te.png`, `back\slash.png`, "line\r\nSet-Cookie: a=b", "../../etc/passwd", "100%.png", "semi;colon=1.png",
		"Übergröße – 菜单 👍.png", "tab\tnul\x00", "'single'.png", "\u202egnp.exe",
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			m := s.host("image/png", name, "x")
			res, _ := s.ask("GET", "/media/"+m.URLToken)
			is.Equal(res.StatusCode, 200)
			is.Equal(res.Header.Get("Set-Cookie"), "")
			header := res.Header.Get("Content-Disposition")
			kind, params, err := mime.ParseMediaType(header)
			is.NoErr(err)
			is.Equal(kind, "inline")
			is.Equal(params["filename"], name) // the extended form says all of it
			is.True(strings.Trim(header, printable) == "")
		})
	}
	is := is.New(t)
	m := s.host("image/png", "a/b?c#d.png", "x")
	at, err := url.Parse(storage.MediaPath(m.URLToken, m.Filename))
	is.NoErr(err)
	is.Equal(at.RawQuery+at.Fragment, "")
}

const printable = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

func TestOnlyTheWholeTokenOpensAFileAndOnlyWhileItIsThere(t *testing.T) {
	is := is.New(t)
	s := newSite(t)
	m := s.host("image/png", "a.png", "x")
	token := m.URLToken
	for _, path := range []string{
		"/media/", "/media/x", "/media/" + token[:31], "/media/" + token + "A", "/media/" + token + "/", "/media/" + token + "/a/b", "/media//" + token,
		"/media/" + strings.ToLower(token) + "=", "/media/" + m.SHA256, "/media/" + m.ID, "/media/..%2f" + token, "/media/" + token + "%2f" + "a%2fb",
	} {
		res, _ := s.ask("GET", path)
		is.Equal(res.StatusCode, 404) // no such file
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		res, _ := s.ask(method, "/media/"+token)
		is.Equal(res.StatusCode, 405)
	}

	storagetest.Update(t, s.db, func(tx *storage.Tx) error { return tx.MarkMediaDeleted(s.account.ID, m.ID) })
	res, _ := s.ask("GET", "/media/"+token, "If-None-Match", "*")
	is.Equal(res.StatusCode, 404)

	lost := s.host("image/png", "b.png", "lost")
	is.NoErr(os.RemoveAll(filepath.Join(s.dir, "media", lost.SHA256[:2])))
	res, _ = s.ask("GET", "/media/"+lost.URLToken)
	is.Equal(res.StatusCode, 500) // a fault, and not the visitor's
}
