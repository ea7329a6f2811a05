package reference

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// field is one field of a body, a resource or a query, as a reader sees it.
type field struct {
	Name     string
	Type     string
	Object   string          // of which object, if that has a place of its own
	Required bool            // of a request: it must be there
	Seldom   bool            // of an answer: it is not always there
	Rules    []template.HTML // what its value must be, in words
	Values   []string        // the only ones it may have
	Text     template.HTML
	Fields   []field // of an object, or of the items of an array
	Variants []variant
}

// variant is one of several forms that something may have.
type variant struct {
	Name   string
	Text   template.HTML
	Fields []field
}

// maxDepth keeps a description that refers to itself from growing for ever.
const maxDepth = 8

// describe makes a field of a schema.
func (b *builder) describe(name string, schema *node, required bool, depth int) (field, error) {
	s, refName, err := b.deref(schema)
	if err != nil {
		return field{}, err
	}
	f := field{Name: name, Required: required, Text: line(s.text("description"))}
	if own := schema.text("description"); own != "" {
		f.Text = line(own)
	}
	f.Type, f.Values = typeOf(s), values(s)
	f.Rules = rules(s)
	inner, innerName := s, refName
	if item := s.get("items"); item != nil {
		if inner, innerName, err = b.deref(item); err != nil {
			return f, err
		}
		f.Type = "array of " + plural(typeOf(inner))
		f.Values = append(f.Values, values(inner)...)
		f.Rules = append(f.Rules, rules(inner)...)
	}
	if b.objects[innerName] && depth > 0 {
		f.Object = innerName
		return f, nil
	}
	if depth >= maxDepth {
		return f, nil
	}
	f.Fields, f.Variants, err = b.parts(inner, depth+1)
	return f, err
}

// parts are the fields of an object, and the forms that it may have.
func (b *builder) parts(s *node, depth int) (fields []field, variants []variant, err error) {
	for _, part := range s.list("allOf") {
		at, _, err := b.deref(part)
		if err != nil {
			return nil, nil, err
		}
		inherited, forms, err := b.parts(at, depth)
		if err != nil {
			return nil, nil, err
		}
		fields, variants = append(fields, inherited...), append(variants, forms...)
	}
	required := s.list("required")
	s.get("properties").each(func(key string, property *node) {
		if err != nil {
			return
		}
		var f field
		must := slices.ContainsFunc(required, func(n *node) bool { return n.value == key })
		if f, err = b.describe(key, property, must, depth); err != nil {
			err = fmt.Errorf("%s: %w", key, err)
			return
		}
		fields = append(slices.DeleteFunc(fields, func(old field) bool { return old.Name == key }), f)
	})
	if err != nil {
		return nil, nil, err
	}
	for _, form := range append(s.list("oneOf"), s.list("anyOf")...) {
		v, err := b.variant(form, depth)
		if err != nil {
			return nil, nil, err
		}
		if len(v.Fields) > 0 {
			variants = append(variants, v)
		}
	}
	return fields, variants, nil
}

func (b *builder) variant(form *node, depth int) (variant, error) {
	at, name, err := b.deref(form)
	if err != nil {
		return variant{}, err
	}
	v := variant{Name: words(name), Text: line(at.text("description"))}
	if title := at.text("title"); title != "" {
		v.Name = title
	}
	var nested []variant
	if v.Fields, nested, err = b.parts(at, depth); len(nested) > 0 && len(v.Fields) == 0 {
		for _, n := range nested { // a form that only has forms
			v.Fields = append(v.Fields, n.Fields...)
		}
	}
	if v.Name == "" {
		var must []string
		for _, f := range v.Fields {
			if f.Required {
				must = append(must, f.Name)
			}
		}
		v.Name = "With " + strings.Join(must, ", ")
	}
	return v, err
}

// typeOf is a schema's type in a word or two.
func typeOf(s *node) string {
	if s == nil {
		return "anything"
	}
	var types []string
	for _, t := range s.list("type") {
		types = append(types, t.text())
	}
	if single := s.text("type"); single != "" {
		types = []string{single}
	}
	nullable := slices.Contains(types, "null")
	types = slices.DeleteFunc(types, func(t string) bool { return t == "null" })
	text := strings.Join(types, " or ")
	switch format := s.text("format"); {
	case text == "":
		text = "anything"
		if s.get("properties") != nil || s.get("anyOf") != nil || s.get("oneOf") != nil || s.get("allOf") != nil {
			text = "object"
		}
	case text == "string" && slices.Contains([]string{"date-time", "uri", "email", "binary"}, format):
		text = map[string]string{"date-time": "date-time", "uri": "URL", "email": "email", "binary": "file"}[format]
	}
	if nullable {
		text += " or null"
	}
	return text
}

func plural(kind string) string {
	if kind == "anything" || strings.Contains(kind, " ") {
		return kind
	}
	return kind + "s"
}

// values are the only ones that a schema allows.
func values(s *node) (all []string) {
	if c := s.get("const"); c != nil {
		all = append(all, s.text("const"))
	}
	for _, v := range s.list("enum") {
		if v.value != nil {
			all = append(all, v.text())
		}
	}
	return all
}

// rules are the limits of a schema, in words.
func rules(s *node) (all []template.HTML) {
	say := func(text string) { all = append(all, line(text)) }
	between := func(least, most, unit string) {
		min, max := s.text(least), s.text(most)
		switch {
		case min != "" && max != "" && min == max:
			say("exactly " + min + unit)
		case min != "" && max != "":
			say(min + " to " + max + unit)
		case max != "":
			say("at most " + max + unit)
		case min != "" && (least != "minLength" || min != "1"):
			say("at least " + min + unit)
		case min != "":
			say("not empty")
		}
	}
	between("minLength", "maxLength", " characters")
	between("minimum", "maximum", "")
	between("minItems", "maxItems", " items")
	between("minProperties", "maxProperties", " keys")
	if above := s.text("exclusiveMinimum"); above != "" {
		say("more than " + above)
	}
	if pattern := s.text("pattern"); pattern != "" {
		say("matches `" + pattern + "`")
	}
	if value := s.get("default"); value != nil {
		say("default `" + strings.Join(strings.Fields(indented(value)), " ") + "`")
	}
	return all
}

// words takes the name of a schema apart: NewTextMessage is "New text message".
func words(name string) string {
	var out strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			out.WriteByte(' ')
			r += 'a' - 'A'
		}
		out.WriteRune(r)
	}
	return out.String()
}
