package reference

import (
	"cmp"
	"html/template"
	"slices"
	"strings"
	"unicode"
)

// field is one field of a body, a resource or a query, as a reader sees it.
type field struct {
	Name     string
	Type     string
	Object   string          // name of its object, if that has a section of its own
	Required bool            // of a request: it must be there
	Optional bool            // of an answer: it is not always there
	Rules    []template.HTML // limits of its value, in words
	Values   []string        // the only allowed values, if they are limited
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

// maxDepth stops a schema that refers to itself.
const maxDepth = 8

// describe makes a field of a schema. An object with a section of its own is only named,
// unless it is the body itself (depth 0).
func (b *builder) describe(name string, schema *node, required bool, depth int) field {
	s, refName := b.deref(schema)
	f := field{Name: name, Required: required, Text: renderLine(s.text("description"))}
	if own := schema.text("description"); own != "" {
		f.Text = renderLine(own)
	}
	f.Type, f.Values = typeName(s), allowedValues(s)
	f.Rules = describeRules(s)

	inner, innerName := s, refName
	if item := s.get("items"); item != nil {
		inner, innerName = b.deref(item)
		f.Type = "array of " + plural(typeName(inner))
		f.Values = append(f.Values, allowedValues(inner)...)
		f.Rules = append(f.Rules, describeRules(inner)...)
	}

	if b.objects[innerName] && depth > 0 {
		f.Object = innerName
	} else if depth < maxDepth {
		f.Fields, f.Variants = b.describeParts(inner, depth+1)
	}
	return f
}

// describeParts returns the fields of an object, with those that it inherits, and the
// forms that it may have.
func (b *builder) describeParts(s *node, depth int) (fields []field, variants []variant) {
	for _, part := range s.list("allOf") {
		at, _ := b.deref(part)
		inherited, forms := b.describeParts(at, depth)
		fields, variants = append(fields, inherited...), append(variants, forms...)
	}

	required := s.list("required")
	for key, property := range s.get("properties").each() {
		must := slices.ContainsFunc(required, func(n *node) bool { return n.value == key })
		f := b.describe(key, property, must, depth)
		fields = append(slices.DeleteFunc(fields, func(old field) bool { return old.Name == key }), f)
	}

	for _, form := range append(s.list("oneOf"), s.list("anyOf")...) {
		if v := b.variant(form, depth); len(v.Fields) > 0 {
			variants = append(variants, v)
		}
	}
	return fields, variants
}

func (b *builder) variant(form *node, depth int) variant {
	at, name := b.deref(form)
	v := variant{Name: splitName(name), Text: renderLine(at.text("description"))}
	v.Fields, _ = b.describeParts(at, depth)

	if v.Name == "" {
		var must []string
		for _, f := range v.Fields {
			if f.Required {
				must = append(must, f.Name)
			}
		}
		v.Name = "With " + strings.Join(must, ", ")
	}
	return v
}

// typeName returns the type of a schema in a word or two.
func typeName(s *node) string {
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

	formats := map[string]string{"date-time": "date-time", "uri": "URL", "email": "email", "binary": "file"}
	switch {
	case text == "":
		text = "anything"
		if s.get("properties") != nil || s.get("anyOf") != nil || s.get("oneOf") != nil || s.get("allOf") != nil {
			text = "object"
		}
	case text == "string":
		text = cmp.Or(formats[s.text("format")], text)
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

func allowedValues(s *node) (all []string) {
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

func describeRules(s *node) (all []template.HTML) {
	add := func(text string) { all = append(all, renderLine(text)) }
	between := func(least, most, unit string) {
		min, max := s.text(least), s.text(most)
		switch {
		case min != "" && max != "" && min == max:
			add("exactly " + min + unit)
		case min != "" && max != "":
			add(min + " to " + max + unit)
		case max != "":
			add("at most " + max + unit)
		case min != "" && (least != "minLength" || min != "1"):
			add("at least " + min + unit)
		case min != "":
			add("not empty")
		}
	}

	between("minLength", "maxLength", " characters")
	between("minimum", "maximum", "")
	between("minItems", "maxItems", " items")
	between("minProperties", "maxProperties", " keys")

	if above := s.text("exclusiveMinimum"); above != "" {
		add("more than " + above)
	}
	if pattern := s.text("pattern"); pattern != "" {
		add("matches `" + pattern + "`")
	}
	if value := s.get("default"); value != nil {
		add("default `" + strings.Join(strings.Fields(indentJSON(value)), " ") + "`")
	}
	return all
}

// splitName makes words of the name of a schema: NewTextMessage is "New text message",
// and LinkWithURL "Link with URL".
func splitName(name string) string {
	is := func(i int, class func(rune) bool) bool { return i >= 0 && i < len(name) && class(rune(name[i])) }
	var out strings.Builder
	for i, r := range name {
		begins := i > 0 && unicode.IsUpper(r) && (is(i-1, unicode.IsLower) || is(i+1, unicode.IsLower))
		if begins {
			out.WriteByte(' ')
		}
		if begins && !is(i+1, unicode.IsUpper) {
			r = unicode.ToLower(r)
		}
		out.WriteRune(r)
	}
	return out.String()
}
