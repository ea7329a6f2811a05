package api

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/jobs/guard"
)

// elsewhere serves files as other people's servers do.
func elsewhere(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/menu.png":
			w.Header().Set("Content-Type", "text/html") // which is not believed
			io.WriteString(w, png)
		case path == "/named":
			w.Header().Set("Content-Disposition", `attachment; filename="../bill.png"`)
			io.WriteString(w, png)
		case path == "/page.png":
			io.WriteString(w, "<!DOCTYPE html><p>Log in first")
		case path == "/large.png":
			io.WriteString(w, png)
			io.CopyN(w, zeroes{}, 6*mebibyte)
		case path == "/broken.png":
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, png)
		case strings.HasPrefix(path, "/hops/"):
			n, _ := strconv.Atoi(path[6:])
			to := fmt.Sprintf("/hops/%d", n-1)
			if n == 1 {
				to = "/menu.png"
			}
			http.Redirect(w, r, to, http.StatusFound)
		case path == "/inside":
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		case path == "/empty":
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestALinkIsFetchedIntoTheLibrary(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	at := elsewhere(t)
	for path, name := range map[string]any{"/menu.png": "menu.png", "/named": "bill.png", "/hops/3": "menu.png"} {
		got := f.call("POST", library, `{"link":"`+at+path+`"}`)
		is.Equal(got.status, 201)
		is.Equal(got.get("data.mime_type"), "image/png")
		is.Equal(got.get("data.filename"), name)
	}
	is.Equal(len(f.kept()), 1)
}

func TestALinkThatLeadsToNoFileIsItsOwnFault(t *testing.T) {
	f, _ := serveLibrary(t)
	at := elsewhere(t)
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, link := range []string{
		at + "/hops/4", at + "/inside", at + "/page.png", at + "/broken.png", at + "/nowhere", at + "/empty",
		gone.URL, "http://10.0.0.1/a.png", "http://[::1]/a.png", "ftp://x.y/a", "x", "", "http://u:p@x.y/",
	} {
		t.Run(link, func(t *testing.T) {
			is := is.New(t)
			got := f.in(t).call("POST", library, `{"link":"`+link+`"}`)
			is.Equal(got.code(), "400 invalid_field_value link")
			is.True(!strings.Contains(got.body, "169.254")) // nothing of our network is shown
		})
	}
	is := is.New(t)
	is.Equal(f.call("POST", library, `{"link":5}`).code(), "400 invalid_field_value link")
	is.Equal(f.kept(), nil)
}

func TestALinkToAFileThatIsTooLargeIsRefusedAsTheFileItselfWouldBe(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	is.Equal(f.call("POST", library, `{"link":"`+elsewhere(t)+`/large.png"}`).code(), "413 request_too_large link")
	is.Equal(f.kept(), nil)
}

func TestPlainHTTPIsNotFetchedUnlessAllowed(t *testing.T) {
	is := is.New(t)
	strict := guard.New(guard.Options{Allow: loopback, Redirects: guard.MaxRedirects})
	f, _ := serveLibrary(t, func(o *testOptions) { o.AllowInsecureURLs, o.Fetch = false, strict })
	is.Equal(f.call("POST", library, `{"link":"`+elsewhere(t)+`/menu.png"}`).code(), "400 invalid_field_value link")
}

func TestARepeatedLinkIsFetchedOnce(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	had := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { had++; io.WriteString(w, png) }))
	defer server.Close()
	body := `{"link":"` + server.URL + `/a.png"}`
	first := f.call("POST", library, body, "Idempotency-Key: k")
	is.Equal(first.status, 201)
	is.Equal(f.call("POST", library, body, "Idempotency-Key: k").body, first.body)
	is.Equal(had, 1)
}
