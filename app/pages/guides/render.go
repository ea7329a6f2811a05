package guides

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed assets/page.html
var pageText string

//go:embed assets/guides.css
var style []byte

//go:embed assets/guides.js
var script []byte

// Section is a part of a guide: a heading, and everything up to the next one.
type Section struct {
	Guide string `json:"guide"` // title of the guide
	Title string `json:"title"`
	Text  string `json:"text"` // without markup
	URL   string `json:"url"`  // from any page of the guides
	Level int    `json:"-"`    // of the heading
}

// page is everything that a page shows. Without a guide it is the index.
type page struct {
	Groups   []Group
	Guide    Guide
	Body     template.HTML
	Sections []Section
	Next     *Guide
}

// Render returns every file by its name below the guides' path: "" is the index, and a
// guide has its own name.
func Render() map[string][]byte {
	shell := template.Must(template.New("page").Parse(pageText))
	pages := []page{{}}
	var sections []Section
	for _, g := range All() {
		p := render(g)
		pages[len(pages)-1].Next = &p.Guide
		pages = append(pages, p)
		sections = append(sections, p.Sections...)
	}

	files := make(map[string][]byte)
	for _, p := range pages {
		p.Groups = Groups()
		var out bytes.Buffer
		if err := shell.Execute(&out, p); err != nil {
			panic(err) // all of it is embedded
		}
		files[p.Guide.Name] = out.Bytes()
	}

	// The policy of the pages lets a script ask for nothing, so it brings along what its
	// search looks through.
	index, _ := json.Marshal(sections) // texts, which cannot fail
	files["guides.js"] = bytes.Join([][]byte{[]byte("const sections = "), index, []byte(";\n"), script}, nil)
	files["guides.css"] = style
	return files
}

// render makes HTML of a guide. Raw HTML in it is left out, which is goldmark's default.
func render(g Guide) page {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	source := []byte(g.Text)
	document := markdown.Parser().Parse(text.NewReader(source))
	linkPages(document)

	p := page{Guide: g}
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		words := strings.Join(strings.Fields(plainText(node, source)), " ")
		if heading, ok := node.(*ast.Heading); ok {
			url := g.Name + linkHeading(heading)
			p.Sections = append(p.Sections, Section{Guide: g.Title, Title: words, URL: url, Level: heading.Level})
		} else {
			p.Sections[len(p.Sections)-1].Text += words + " " // a guide begins with its title
		}
	}

	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, source, document); err != nil {
		panic(err) // all of it is embedded
	}
	p.Body = template.HTML(body.String())
	return p
}

// linkPages makes links between the files links between the pages.
func linkPages(document ast.Node) {
	ast.Walk(document, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok {
			link.Destination = bytes.Replace(link.Destination, []byte(".md"), nil, 1)
		}
		return ast.WalkContinue, nil
	})
}

// linkHeading makes a heading a link to itself, and returns where it leads.
func linkHeading(heading *ast.Heading) string {
	id, _ := heading.AttributeString("id")
	link := ast.NewLink()
	link.Destination = append([]byte("#"), id.([]byte)...)

	for heading.HasChildren() {
		link.AppendChild(link, heading.FirstChild())
	}
	heading.AppendChild(heading, link)
	return string(link.Destination)
}

// plainText returns the words of a block, without markup.
func plainText(block ast.Node, source []byte) string {
	var words strings.Builder

	ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				words.Write(n.Segment.Value(source))
			}
			if n.SoftLineBreak() {
				words.WriteByte(' ')
			}
		case *ast.FencedCodeBlock:
			if entering {
				words.Write(n.Lines().Value(source))
			}
		default:
			if n.Type() == ast.TypeBlock { // such as an item of a list
				words.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})

	return words.String()
}
