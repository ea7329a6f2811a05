package pages_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/app/pages"
)

// newDocs serves the reference of the real API.
func newDocs(t *testing.T) string {
	t.Helper()
	docs := pages.NewDocs(pages.DocsOptions{Description: api.OpenAPIDocument(), BaseURL: "https://chat.example.com/v1",
		WriteError: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), rest.AsError(err).Status())
		}})
	server := httptest.NewServer(docs)
	t.Cleanup(server.Close)
	return server.URL
}

// get asks for a page; header holds names and values alternately.
func get(t *testing.T, method, url string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

func TestDocsAreServedLockedDown(t *testing.T) {
	is := is.New(t)
	at := newDocs(t)
	res, page := get(t, "GET", at+"/docs", "Accept-Encoding", "identity")
	is.Equal(res.StatusCode, 200)
	is.Equal(res.Header.Get("Content-Type"), "text/html; charset=utf-8")
	is.True(strings.HasPrefix(res.Header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'self'; script-src 'self';"))
	is.True(!strings.Contains(res.Header.Get("Content-Security-Policy"), "unsafe"))
	is.True(strings.Contains(page, "https://chat.example.com/v1/106540352242922/messages"))
	// The id in the address of each example is there, so that it can be pasted and changed.
	is.Equal(regexp.MustCompile(`https://chat\.example\.com/v1/([^ <&"']*/)?(/[^ <&"']*|[&"'<])`).FindAllString(page, -1), nil)
	is.True(!regexp.MustCompile(`(?i)<[^>]+ (style|on\w+)=|<style|<script>`).MatchString(page)) // what the policy forbids

	etag := res.Header.Get("Etag")
	res, _ = get(t, "GET", at+"/docs", "If-None-Match", etag, "Accept-Encoding", "identity")
	is.Equal(res.StatusCode, 304)
	res, zipped := get(t, "GET", at+"/docs", "Accept-Encoding", "gzip")
	is.Equal(res.Header.Get("Content-Encoding"), "gzip")
	is.True(res.Header.Get("Etag") != etag)
	is.True(len(zipped) < len(page)/4)
	res, empty := get(t, "HEAD", at+"/docs", "Accept-Encoding", "identity")
	is.Equal(res.StatusCode, 200)
	is.Equal(empty, "")

	assets := regexp.MustCompile(`(?:src|href)="(/docs/[^"/]+)"`).FindAllStringSubmatch(page, -1)
	is.True(len(assets) >= 2) // a style and a script
	for _, asset := range assets {
		res, text := get(t, "GET", at+asset[1], "Accept-Encoding", "identity")
		is.Equal(res.StatusCode, 200)
		is.True(strings.HasPrefix(res.Header.Get("Content-Type"), "text/css") || strings.HasPrefix(res.Header.Get("Content-Type"), "text/javascript; charset=utf-8"))
		is.True(!strings.Contains(text, "http:") && !strings.Contains(text, "https:")) // nothing foreign
	}
	for path, want := range map[string]int{"/docs/": 301, "/docs/guides": 301, "/docs/guides/": 200, "/docs/guides/sending": 200, "/docs/guides/none": 404, "/docs/none": 404, "/docs/../docs": 404} {
		res, _ := get(t, "GET", at+path)
		is.Equal(res.StatusCode, want)
	}
	res, _ = get(t, "POST", at+"/docs")
	is.Equal(res.StatusCode, 405)
}

// TestDocsShowEveryOperation follows each link of the page within it.
func TestDocsShowEveryOperation(t *testing.T) {
	is := is.New(t)
	_, page := get(t, "GET", newDocs(t)+"/docs", "Accept-Encoding", "identity")
	targets := make(map[string]int)
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		targets[m[1]]++
		is.Equal(targets[m[1]], 1) // a link leads to one place
	}
	links := regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1)
	is.True(len(links) > 20)
	for _, m := range links {
		if targets[m[1]] == 0 {
			t.Errorf("#%s leads nowhere", m[1])
		}
	}
	operations := regexp.MustCompile(`"operationId": "(\w+)"`).FindAllStringSubmatch(string(api.OpenAPIDocument()), -1)
	is.True(len(operations) > 20)
	for _, m := range operations {
		if targets[m[1]] == 0 {
			t.Errorf("%s is not shown", m[1])
		}
	}
	is.True(!strings.Contains(page, "{phone_number_id}/messages \\")) // examples are filled in
}
