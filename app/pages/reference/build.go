package reference

import (
	"html/template"
	"slices"
	"strings"

	"confab/app/pages/guides"
)

// page is everything that the reference shows.
type page struct {
	Title, Version string
	BaseURL        string
	Intro          template.HTML
	Groups         []group
	Objects        []object
	Style, Script  string // URLs of the style sheet and the script
	Theme          string // URL of the script that applies the chosen theme
	Guides         []guides.Guide
}

// group is a chapter: a tag of the description.
type group struct {
	Name, Anchor string
	Text         template.HTML
	Operations   []operation
}

// operation is an endpoint of the API, or an event that is posted to a webhook.
type operation struct {
	Anchor, Summary string
	Method, Path    string // both empty for an event
	Text            template.HTML
	Public          bool   // needs no key
	Scope           string // that a key needs; "" for none
	Parameters      []parameters
	Bodies          []body
	Answers         []answer
	Examples        []example // the first request and the first answer, then others
}

// parameters are the parameters in one place: the path, the query or the headers.
type parameters struct {
	Where  string
	Fields []field
}

type body struct {
	ContentType string
	field
}

type answer struct {
	Status string
	Text   template.HTML
	Object string // name of the object that is its data, if that has a section of its own
	List   bool   // the data is a list of that object
	Codes  []string
}

type example struct {
	Title string
	Plain string
	HTML  template.HTML // Plain with syntax highlighting, if it is JSON
	Open  bool
	value *node
}

// newExample makes an example of a value. A text is shown as it is: it is no JSON.
func newExample(title string, value *node) example {
	if text, ok := value.value.(string); ok {
		return example{Title: title, Plain: text, value: value}
	}
	return example{Title: title, Plain: indentJSON(value), HTML: highlightJSON(value), value: value}
}

// object is a resource, which has a section of its own that fields and answers link to.
type object struct {
	Name, Anchor string
	Text         template.HTML
	Fields       []field
	Example      template.HTML
}

// builder makes a page of a description. findObjects comes first, because it decides
// which objects are links and which are described in place; the samples are collected while the
// operations are built, and shown with the objects at the end.
type builder struct {
	root    *node
	base    string
	objects map[string]bool  // schemas that have a section of their own
	samples map[string]*node // the first example of each object
}

// methods are the methods in the order in which they are shown.
var methods = []string{"get", "post", "put", "patch", "delete"}

// buildPage describes every operation under its tag, and all objects.
func (b *builder) buildPage() *page {
	info := b.root.get("info")
	p := &page{
		Title:   info.text("title"),
		Version: info.text("version"),
		BaseURL: b.base,
		Intro:   renderMarkdown(info.text("description")),
	}

	for _, tag := range b.root.list("tags") {
		name := tag.text("name")
		p.Groups = append(p.Groups, group{Name: name, Anchor: "tag-" + slug(name), Text: renderMarkdown(tag.text("description"))})
	}

	b.findObjects()
	for _, section := range []string{"paths", "webhooks"} {
		for path, item := range b.root.get(section).each() {
			if section == "webhooks" {
				path = ""
			}
			for _, method := range methods {
				if op := item.get(method); op != nil {
					tag := op.list("tags")[0].text()
					i := slices.IndexFunc(p.Groups, func(g group) bool { return g.Name == tag })
					p.Groups[i].Operations = append(p.Groups[i].Operations, b.buildOperation(path, item.list("parameters"), method, op))
				}
			}
		}
	}

	p.Objects = b.describeObjects()
	return p
}

// findObjects finds the schemas that answers have as their data: those are the resources.
func (b *builder) findObjects() {
	b.objects, b.samples = make(map[string]bool), make(map[string]*node)

	for _, schema := range b.root.get("components", "schemas").each() {
		data := schema.get("properties", "data")
		for _, carried := range []*node{data, data.get("items")} {
			if at, name := b.deref(carried); name != "" && at.get("properties") != nil {
				b.objects[name] = true
			}
		}
	}
}

func (b *builder) describeObjects() (all []object) {
	for name, schema := range b.root.get("components", "schemas").each() {
		if !b.objects[name] {
			continue
		}
		o := object{Name: splitName(name), Anchor: "object-" + name, Text: renderMarkdown(schema.text("description"))}
		o.Fields, _ = b.describeParts(schema, 1)
		markOptional(o.Fields)

		if sample := b.samples[name]; sample != nil {
			o.Example = highlightJSON(sample)
		}
		all = append(all, o)
	}

	slices.SortFunc(all, func(x, y object) int { return strings.Compare(x.Name, y.Name) })
	return all
}

// markOptional changes the fields of a request into those of an answer: there it is worth
// saying which fields may be missing, not which are required.
func markOptional(fields []field) {
	for i := range fields {
		f := &fields[i]
		f.Required, f.Optional = false, !f.Required
		markOptional(f.Fields)
		for _, v := range f.Variants {
			markOptional(v.Fields)
		}
	}
}
