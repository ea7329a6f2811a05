package pages_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/pages/guides"
)

func TestGuidesAreServedLikeTheReference(t *testing.T) {
	is := is.New(t)
	at := newDocs(t)
	reference, referencePage := get(t, "GET", at+"/docs", "Accept-Encoding", "identity")
	_, index := get(t, "GET", at+"/docs/guides/", "Accept-Encoding", "identity")

	for _, g := range guides.All() {
		res, page := get(t, "GET", at+"/docs/guides/"+g.Name, "Accept-Encoding", "identity")
		is.Equal(res.StatusCode, 200)
		for _, header := range []string{"Content-Type", "Content-Security-Policy", "Cross-Origin-Opener-Policy", "Cache-Control", "Vary"} {
			is.Equal(res.Header.Get(header), reference.Header.Get(header))
		}
		is.True(!regexp.MustCompile(`(?i)<[^>]+ (style|on\w+)=|<style|<script>|raw HTML`).MatchString(page)) // what the policy forbids
		is.True(strings.Contains(index, `<a href="`+g.Name+`">`))
		is.True(strings.Contains(referencePage, `href="/docs/guides/`+g.Name+`"`))
	}
}

// TestEveryFileIsAGuide: a file that Groups does not name would never be shown.
func TestEveryFileIsAGuide(t *testing.T) {
	is := is.New(t)
	files, err := os.ReadDir("guides")
	is.NoErr(err)
	count := 0
	for _, file := range files {
		if strings.HasSuffix(file.Name(), ".md") {
			count++
		}
	}
	is.Equal(len(guides.All()), count)
	for _, g := range guides.All() {
		is.True(strings.HasPrefix(g.Text, "# "+g.Title+"\n\n"+g.Summary[:10]))
		is.True(len(g.Summary) < 200) // it fits into a card of the index
	}
}

// TestLinksBetweenGuidesLeadSomewhere follows each link of every page of the guides.
func TestLinksBetweenGuidesLeadSomewhere(t *testing.T) {
	at := newDocs(t)
	bodies := map[string]string{}
	read := func(path string) string {
		if _, ok := bodies[path]; !ok {
			res, body := get(t, "GET", at+path, "Accept-Encoding", "identity")
			if res.StatusCode != 200 {
				t.Errorf("%s: %d", path, res.StatusCode)
			}
			bodies[path] = body
		}
		return bodies[path]
	}

	for _, g := range guides.All() {
		page := read("/docs/guides/" + g.Name)
		for _, m := range regexp.MustCompile(`href="([^":]*)"`).FindAllStringSubmatch(page, -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			switch {
			case path == "":
				path = "/docs/guides/" + g.Name
			case path == "./":
				path = "/docs/guides/"
			case !strings.HasPrefix(path, "/"):
				path = "/docs/guides/" + path
			}
			if target := read(path); anchor != "" && !strings.Contains(target, fmt.Sprintf(` id="%s"`, anchor)) {
				t.Errorf("%s: %s leads nowhere", g.Name, m[1])
			}
		}
	}
}
