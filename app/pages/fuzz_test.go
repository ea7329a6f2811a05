package pages

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"confab/app/limit"
	"confab/storage"
	"confab/storage/storagetest"
)

// FuzzMedia asks for a hosted file by any path, part of it by any Range header,
// with any name that a stranger gave it. Only its token finds it; what comes is a
// part of it; and its headers say what it is and no more.
func FuzzMedia(f *testing.F) {
	const content = "0123456789"
	dir := f.TempDir()
	db, files := storagetest.OpenDir(f, dir), storagetest.Files(f, dir)
	account := storagetest.Connect(f, db, storagetest.Seed(f, db, "Acme"), "100200300")
	up, err := files.Create()
	if err != nil {
		f.Fatal(err)
	}
	if _, err := up.Write([]byte(content)); err != nil {
		f.Fatal(err)
	}
	sum, err := up.Keep(context.Background())
	if err != nil {
		f.Fatal(err)
	}
	m := storage.Media{AccountID: account.ID, Origin: storage.OriginMessage, SHA256: sum, MIMEType: "image/png", Size: int64(len(content))}
	storagetest.Update(f, db, func(tx *storage.Tx) error { return tx.InsertMedia(&m) })
	const here = "{token}" // it is another one each time
	for _, path := range []string{here, here + "/menu.png", here + "/", here + "/a/b", here + "=", "", sum, "../" + here, strings.Repeat("A", 32)} {
		f.Add(path, "bytes=2-4", "menu.png", "image/png")
	}
	for _, part := range []string{"", "bytes=-3", "bytes=5-", "bytes=0-0,-1", "bytes=9-2", "bytes=10-", "bytes=" + strings.Repeat("0-1,", 50), "bytes=99999999999999999999-", "items=0-1", "bytes = 0 - 1"} {
		f.Add(here, part, "\"; filename=x.html\r\nX: y", "text/html; charset=x")
	}
	pages := &Media{DB: db, Files: files, WriteError: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusNotFound) }}
	f.Fuzz(func(t *testing.T, path, part, filename, kind string) {
		path = strings.ReplaceAll(path, here, m.URLToken)
		r := &http.Request{Method: "GET", URL: httptest.NewRequest("GET", "/", nil).URL, Header: http.Header{"Range": {part}}}
		r.URL.Path = "/media/" + path
		rec := httptest.NewRecorder()
		pages.ServeHTTP(rec, r)
		token, _, _ := strings.Cut(path, "/")
		if rec.Code != http.StatusNotFound && token != m.URLToken {
			t.Fatalf("%q finds a file: %d", path, rec.Code)
		}
		switch body := rec.Body.String(); rec.Code {
		case http.StatusOK:
			if body != content {
				t.Fatalf("Range %q: %q", part, body)
			}
		case http.StatusPartialContent:
			if !strings.HasPrefix(rec.Header().Get("Content-Type"), "multipart/byteranges") && !strings.Contains(content, body) || len(body) > 20*len(content)*50 {
				t.Fatalf("Range %q: %q", part, body)
			}
		case http.StatusNotFound, http.StatusRequestedRangeNotSatisfiable:
		default:
			t.Fatalf("Range %q: %d", part, rec.Code)
		}
		shown, disposition := safeType(kind)
		bare, _, err := mime.ParseMediaType(shown)
		major, minor, whole := strings.Cut(bare, "/")
		runs := major == "text" && minor != "plain" || minor == "xml" || strings.HasSuffix(minor, "+xml") || strings.HasSuffix(minor, "script")
		if err != nil || !whole || runs || disposition == "inline" && !strings.Contains("image audio video application/pdf", major) {
			t.Fatalf("%q is shown as %q", kind, shown)
		}
		named := contentDisposition(disposition, &filename)
		if strings.ContainsFunc(named, func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Fatalf("%q is called %q", filename, named)
		}
		if how, params, err := mime.ParseMediaType(named); err != nil || how != disposition || params["filename"] != filename && strings.ToValidUTF8(filename, "") == filename {
			t.Fatalf("%q is called %q: %v", filename, named, err)
		}
	})
}

// FuzzVisit opens the page of a setup link, by any token, under any host and with
// any form. It is a page or a redirect, never a fault; under a host that is not
// ours it is refused; and what a visitor typed does not become markup.
func FuzzVisit(f *testing.F) {
	d := newDesk(f, storage.SetupLink{})
	const here = "{token}"
	for _, host := range []string{"chat.test", "CHAT.TEST:443", "localhost:8080", "127.0.0.1", "[::1]:80", "::1", "evil.test", "chat.test.evil.test", "", "localhost@evil.test", "0x7f.1", "127.0.0.1.evil.test"} {
		f.Add(here, host, "action=connect&name=Bakery&phone_number=x")
	}
	for _, form := range []string{"", "action=x", "action=connect&phone_number=%00&name=" + strings.Repeat("x", 300), "action=connect&name=<script>&phone_number=\"><script>", "%zz", "action=connect;a=b&phone_number=+"} {
		f.Add(here, "chat.test", form)
		f.Add("csl_"+strings.Repeat("A", 24), "chat.test", form)
	}
	f.Add(here+"/progress?account=acc_1", "chat.test", "")
	f.Add("assets/../"+here, "chat.test", "")
	f.Add("../"+here, "chat.test", "")
	d.pages.SimulateSignup = func(string, string) (Signup, error) { return Signup{}, errors.New("not this one") } // so that the link is never used up
	f.Fuzz(func(t *testing.T, path, host, form string) {
		for _, method := range []string{"GET", "POST"} {
			r := httptest.NewRequest(method, "https://chat.test/", strings.NewReader(form))
			r.URL.Path, r.URL.RawPath, r.Host = OnboardPath+strings.ReplaceAll(path, here, d.token), "", host
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			rec := httptest.NewRecorder()
			d.pages.visits = new(limit.Buckets[string]) // no one comes too often
			d.pages.ServeHTTP(rec, r)
			if rec.Code >= 500 || rec.Code < 200 {
				t.Fatalf("%s %q %q: %d", method, path, form, rec.Code)
			}
			if !ours(host) && rec.Code != http.StatusForbidden {
				t.Fatalf("%q is taken for ours: %d", host, rec.Code)
			}
			for name, want := range map[string]string{"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"} {
				if got := rec.Header().Get(name); got != want {
					t.Fatalf("%s is %q", name, got)
				}
			}
			if strings.Contains(strings.ToLower(rec.Body.String()), "<script>") {
				t.Fatalf("%q became markup", form)
			}
		}
	})
}

// ours reports whether a Host header is chat.test or a name of this machine,
// written plainly.
func ours(hostport string) bool {
	host := strings.ToLower(strings.TrimRight(hostport, "0123456789"))
	host = strings.TrimSuffix(host, ":")
	if host == "chat.test" || host == "localhost" {
		return true
	}
	for _, text := range []string{hostport, strings.Trim(hostport, "[]"), strings.Trim(host, "[]")} {
		if addr, err := netip.ParseAddr(text); err == nil && addr.IsLoopback() {
			return true
		}
	}
	if addr, err := netip.ParseAddrPort(hostport); err == nil {
		return addr.Addr().IsLoopback()
	}
	return false
}

// FuzzSignupPhone reads a number as people write it into the form: it is E.164
// but for the + that may be missing, and the same when it is read again.
func FuzzSignupPhone(f *testing.F) {
	for _, seed := range []string{"", "+1 (631) 555-5555", "0049 30 123456", "1.555.010.0200", "+49/30/123456", "++1", "-", "1555010020x", "１２３４５６７"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		phone, ok := parsePhone(text)
		if !ok || phone == "" {
			return
		}
		digits := strings.TrimPrefix(phone, "+")
		if len(digits) < 7 || len(digits) > 15 || digits[0] == '0' || strings.Trim(digits, "0123456789") != "" {
			t.Fatalf("%q became %q", text, phone)
		}
		if again, ok := parsePhone(phone); !ok || again != phone {
			t.Fatalf("%q became %q, then %q", text, phone, again)
		}
	})
}
