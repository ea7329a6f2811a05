package reference

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// page is everything that the reference shows.
type page struct {
	Title, Version string
	BaseURL        string
	Intro          template.HTML
	Groups         []group
	Objects        []object
	Style, Script  string // where they are
}

// group is a chapter: a tag of the description.
type group struct {
	Name, Anchor string
	Text         template.HTML
	Operations   []operation
}

// operation is an endpoint, or an event that is posted to one.
type operation struct {
	Anchor, Summary string
	Method, Path    string // without a path: an event
	Text            template.HTML
	Public          bool // needs no key
	Parameters      []parameters
	Bodies          []body
	Answers         []answer
	Examples        []example // the first request and the first answer, then others
}

// parameters are those of one place: the path, the query, the headers.
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
	Object string // what its data is, if that has a place of its own
	List   bool   // a page of them
	Codes  []string
}

type example struct {
	Title string
	Plain string
	HTML  template.HTML // Plain in colours, if it has any
	Open  bool
	value *node
}

// shown makes an example of a value.
func shown(title string, value *node) example {
	return example{Title: title, Plain: indented(value), HTML: colored(value), value: value}
}

// object is a resource, described once and referred to from everywhere.
type object struct {
	Name, Anchor string
	Text         template.HTML
	Fields       []field
	Example      template.HTML
}

type builder struct {
	document
	base    string
	objects map[string]bool  // schemas that have a place of their own
	samples map[string]*node // of objects, as answers showed them
}

// methods in the order in which a path shows them.
var methods = []string{"get", "post", "put", "patch", "delete"}

func (b *builder) page() (*page, error) {
	info := b.root.get("info")
	p := &page{Title: info.text("title"), Version: info.text("version"), BaseURL: b.base, Intro: prose(info.text("description"))}
	for _, tag := range b.root.list("tags") {
		name := tag.text("name")
		p.Groups = append(p.Groups, group{Name: name, Anchor: "tag-" + slug(name), Text: prose(tag.text("description"))})
	}
	b.findObjects()
	var err error
	add := func(path string, shared []*node, method string, op *node) {
		if op == nil || err != nil {
			return
		}
		var built operation
		if built, err = b.operation(path, shared, method, op); err != nil {
			err = fmt.Errorf("%s %s: %w", method, path, err)
			return
		}
		tag := "Other"
		if tags := op.list("tags"); len(tags) > 0 {
			tag = tags[0].text()
		}
		i := slices.IndexFunc(p.Groups, func(g group) bool { return g.Name == tag })
		if i < 0 {
			p.Groups = append(p.Groups, group{Name: tag, Anchor: "tag-" + slug(tag)})
			i = len(p.Groups) - 1
		}
		p.Groups[i].Operations = append(p.Groups[i].Operations, built)
	}
	for _, section := range []string{"paths", "webhooks"} {
		b.root.get(section).each(func(path string, item *node) {
			if section == "webhooks" {
				path = ""
			}
			for _, method := range methods {
				add(path, item.list("parameters"), method, item.get(method))
			}
		})
	}
	if err != nil {
		return nil, err
	}
	p.Groups = slices.DeleteFunc(p.Groups, func(g group) bool { return len(g.Operations) == 0 })
	p.Objects, err = b.allObjects()
	return p, err
}

// findObjects finds what answers carry as their data: those are the resources.
func (b *builder) findObjects() {
	b.objects, b.samples = make(map[string]bool), make(map[string]*node)
	b.root.get("components", "schemas").each(func(_ string, schema *node) {
		data := schema.get("properties", "data")
		for _, carried := range []*node{data, data.get("items")} {
			at, name, err := b.deref(carried)
			if carried != nil && err == nil && name != "" && at.get("properties") != nil {
				b.objects[name] = true
			}
		}
	})
}

func (b *builder) allObjects() (all []object, err error) {
	b.root.get("components", "schemas").each(func(name string, schema *node) {
		if !b.objects[name] || err != nil {
			return
		}
		o := object{Name: words(name), Anchor: "object-" + name, Text: prose(schema.text("description"))}
		o.Fields, _, err = b.parts(schema, 1)
		asAnswer(o.Fields)
		if sample := b.samples[name]; sample != nil {
			o.Example = colored(sample)
		}
		all = append(all, o)
	})
	slices.SortFunc(all, func(x, y object) int { return strings.Compare(x.Name, y.Name) })
	return all, err
}

// asAnswer turns around what is worth a word: in an answer, what may be missing.
func asAnswer(fields []field) {
	for i := range fields {
		f := &fields[i]
		f.Required, f.Seldom = false, !f.Required
		asAnswer(f.Fields)
		for _, v := range f.Variants {
			asAnswer(v.Fields)
		}
	}
}
