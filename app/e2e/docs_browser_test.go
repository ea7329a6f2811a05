package e2e

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/matryer/is"

	"confab/app/api"
	"confab/app/pages"
	"confab/app/pages/guides"
)

// serveDocs serves the reference of the API and the guides, and returns the URL.
func serveDocs(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(pages.NewDocs(pages.DocsOptions{
		Description: api.OpenAPIDocument(), BaseURL: "https://chat.example.com/v1",
		WriteError: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestDocsInABrowser(t *testing.T) {
	parallelBrowser(t)
	b := openWindow(t)
	at := serveDocs(t)
	theReferenceIsFiltered(b, at)
	guidesAreSearchedAndFit(b, at)

	is.New(t).Equal(b.Errors(), nil)
	for _, request := range b.Requests() {
		if !strings.HasPrefix(request, at) && !strings.HasPrefix(request, "data:") {
			t.Errorf("a page asked for %s", request)
		}
	}
}

func theReferenceIsFiltered(b *window, at string) {
	is := is.New(b.t)
	b.Do(chromedp.EmulateViewport(1440, 900))
	b.Visit(at + "/docs#createMessage")
	is.Equal(eval[string](b, `document.title`), "confab API reference")
	is.True(eval[float64](b, `document.querySelector("#createMessage").getBoundingClientRect().top`) < 400) // it is at the link
	is.Equal(eval[string](b, `getComputedStyle(document.querySelector("#nav")).position`), "fixed")         // its style is in use

	all := `[...document.querySelectorAll("#nav li")].filter(e => !e.hidden && !e.closest("section")?.hidden).length`
	before := eval[int](b, all)
	b.Type("#filter", "label delete")
	found := eval[int](b, all)
	is.True(0 < found && found < before/4) // its script works

	is.Equal(len(b.Requests()) >= 3, true)
}

func guidesAreSearchedAndFit(b *window, at string) {
	is := is.New(b.t)
	b.Do(chromedp.EmulateViewport(1280, 900))
	b.Visit(at + "/docs/guides/sending")
	is.Equal(eval[string](b, `document.title`), "Send messages · confab guides")
	is.True(eval[int](b, `document.querySelectorAll("pre .copy").length`) > 3)

	b.Type("#search", "reconcile window")
	is.True(eval[string](b, `document.querySelector("#results a").getAttribute("href")`) == "sending#follow-its-status")
	is.True(eval[bool](b, `document.querySelector("#contents").hidden`))
	b.Type("#search", " nosuchword")
	is.Equal(eval[string](b, `document.querySelector("#results").innerText`), "No results")

	b.Do(chromedp.EmulateViewport(390, 800))
	for _, g := range guides.All() {
		b.Visit(at + "/docs/guides/" + g.Name)
		is.Equal(eval[int](b, `document.documentElement.scrollWidth`), 390) // nothing but code and tables scrolls sideways
	}
}
