// Package guides holds the guides: one Markdown file each, which the server shows under
// /docs/guides/ and 'confab help NAME' prints.
package guides

import (
	"embed"
	"strings"
)

//go:embed *.md
var files embed.FS

// Guide is one of the guides.
type Guide struct {
	Name    string // of its file, without .md
	Title   string // its first line
	Summary string // its first paragraph
	Text    string // all of it, in Markdown
}

// Group is a chapter of the index.
type Group struct {
	Title  string
	Guides []Guide
}

// Groups returns all guides in the order in which the index shows them.
func Groups() []Group {
	return []Group{
		{"Get started", read("sandbox", "pipelines", "sending", "receiving")},
		{"Work with customers", read("inbox", "people", "signing-in", "campaigns", "costs")},
		{"Build on it", read("webhooks", "streams", "one-number", "platform", "rules", "agents")},
		{"Run it", read("production", "backups", "outliving", "capacity", "contributing")},
	}
}

// All returns all guides in the same order.
func All() (all []Guide) {
	for _, group := range Groups() {
		all = append(all, group.Guides...)
	}
	return all
}

func read(names ...string) (all []Guide) {
	for _, name := range names {
		content, err := files.ReadFile(name + ".md")
		if err != nil {
			panic(err) // embedded files can always be read
		}

		text := string(content)
		title, rest, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		summary, _, _ := strings.Cut(strings.TrimSpace(rest), "\n\n")
		all = append(all, Guide{Name: name, Title: title, Summary: strings.Join(strings.Fields(summary), " "), Text: text})
	}
	return all
}
