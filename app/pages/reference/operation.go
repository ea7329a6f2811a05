package reference

import (
	"slices"
	"strings"
)

// buildOperation describes one operation of a path, or an event, which has no path.
// shared are the parameters of all operations of the path.
func (b *builder) buildOperation(path string, shared []*node, method string, op *node) (operation, error) {
	o := operation{Anchor: op.text("operationId"), Summary: op.text("summary"), Text: renderMarkdown(op.text("description"))}
	if path != "" {
		o.Method, o.Path = strings.ToUpper(method), path
	}

	security := op.get("security")
	o.Public = security != nil && len(security.items) == 0

	all := slices.Concat(shared, op.list("parameters"))
	var err error
	if o.Parameters, err = b.parameters(all); err != nil {
		return o, err
	}
	if o.Bodies, err = b.bodies(op); err != nil {
		return o, err
	}

	var calls, shown []example
	if o.Answers, shown, err = b.answers(op.get("responses")); err != nil {
		return o, err
	}
	if path == "" {
		calls, err = b.examples(op.get("requestBody", "content", "application/json"))
	} else {
		calls, err = b.calls(o, all, op.get("requestBody", "content"))
	}

	o.Examples = orderExamples(calls, shown)
	return o, err
}

// orderExamples puts the first request and the first answer at the beginning, open, and
// all others closed after them.
func orderExamples(calls, answers []example) []example {
	var first, others []example

	for _, list := range [][]example{calls, answers} {
		for i, e := range list {
			if e.Open = i == 0; e.Open {
				first = append(first, e)
			} else {
				others = append(others, e)
			}
		}
	}

	return append(first, others...)
}

// parameters groups parameters by where they stand: path, query or headers.
func (b *builder) parameters(all []*node) (sorted []parameters, err error) {
	for _, where := range []struct{ in, title string }{{"path", "Path"}, {"query", "Query"}, {"header", "Headers"}} {
		var fields []field
		for _, p := range all {
			at, _, err := b.deref(p)
			if err != nil {
				return nil, err
			}

			if at.text("in") != where.in {
				continue
			}
			f, err := b.describe(at.text("name"), at.get("schema"), at.is("required"), 1)
			if err != nil {
				return nil, err
			}

			if text := at.text("description"); text != "" {
				f.Text = renderLine(text)
			}
			fields = append(fields, f)
		}

		if len(fields) > 0 {
			sorted = append(sorted, parameters{Where: where.title, Fields: fields})
		}
	}
	return sorted, nil
}

func (b *builder) bodies(op *node) (all []body, err error) {
	op.get("requestBody", "content").each(func(contentType string, content *node) {
		if err != nil {
			return
		}

		var f field
		f, err = b.describe("", content.get("schema"), true, 0)
		all = append(all, body{contentType, f})
	})
	return all, err
}

// answers describes all answers, and returns the examples of the successful ones.
func (b *builder) answers(responses *node) (all []answer, shown []example, err error) {
	responses.each(func(status string, response *node) {
		if err != nil {
			return
		}

		var a answer
		var good []example
		a, good, err = b.answer(status, response)
		all, shown = append(all, a), append(shown, good...)
	})
	return all, shown, err
}

func (b *builder) answer(status string, response *node) (answer, []example, error) {
	at, _, err := b.deref(response)
	if err != nil {
		return answer{}, nil, err
	}

	a := answer{Status: status, Text: renderLine(at.text("description"))}
	content := at.get("content", "application/json")
	if a.Object, a.List, err = b.dataObject(content.get("schema")); err != nil {
		return a, nil, err
	}

	if status >= "3" {
		content.get("examples").each(func(code string, _ *node) { a.Codes = append(a.Codes, code) })
		return a, nil, nil
	}

	shown, err := b.examples(content)
	at.get("content").each(func(contentType string, other *node) {
		if err == nil && contentType != "application/json" {
			var more []example
			more, err = b.examples(other)
			shown = append(shown, more...)
		}
	})
	for i := range shown {
		b.keepSample(a, shown[i].value)
		shown[i].Title = status + " · " + shown[i].Title
	}
	return a, shown, err
}

// keepSample keeps the first example of the object that an answer has as its data.
func (b *builder) keepSample(a answer, value *node) {
	data := value.get("data")
	if data != nil && len(data.items) > 0 {
		data = data.items[0]
	}

	if a.Object != "" && b.samples[a.Object] == nil && data.get("object") != nil {
		b.samples[a.Object] = data
	}
}

// dataObject returns the name of the object that is the data of an answer, and whether
// the data is a list of it. The name is "" if the object has no section of its own.
func (b *builder) dataObject(schema *node) (name string, list bool, err error) {
	if schema == nil {
		return "", false, nil
	}
	at, _, err := b.deref(schema)
	if err != nil {
		return "", false, err
	}

	data := at.get("properties", "data")
	if item := data.get("items"); item != nil {
		data, list = item, true
	}
	if data == nil {
		return "", false, nil
	}

	_, name, err = b.deref(data)
	if !b.objects[name] {
		name = ""
	}
	return name, list, err
}

// examples returns the examples of a body.
func (b *builder) examples(content *node) (all []example, err error) {
	if one := content.get("example"); one != nil {
		all = append(all, newExample("example", one))
	}
	content.get("examples").each(func(name string, given *node) {
		at, _, fault := b.deref(given)
		if fault != nil {
			err = fault
			return
		}

		title := at.text("summary")
		if title == "" {
			title = name
		}

		if value := at.get("value"); value != nil {
			all = append(all, newExample(title, value))
		}
	})
	return all, err
}

// calls returns requests as command lines, one for each example of a body.
func (b *builder) calls(o operation, all []*node, content *node) (calls []example, err error) {
	url := b.base + o.Path
	var headers []string
	for _, p := range all {
		at, _, err := b.deref(p)
		if err != nil {
			return nil, err
		}

		name, value := at.text("name"), at.text("example")
		switch {
		case at.text("in") == "path":
			if value == "" {
				value, err = b.sample(at.get("schema"))
			}
			url = strings.ReplaceAll(url, "{"+name+"}", value)
		case at.text("in") == "header" && name == "Idempotency-Key":
			headers = append(headers, name+": "+value)
		}

		if err != nil {
			return nil, err
		}
	}

	add := func(title, contentType, body string) {
		calls = append(calls, example{Title: title, Plain: curlCommand(o.Method, url, o.Public, headers, contentType, body)})
	}

	content.each(func(contentType string, c *node) {
		if contentType == formType {
			add("A file", contentType, "file=@photo.jpg")
			return
		}
		var given []example
		if given, err = b.examples(c); err != nil {
			return
		}
		for _, e := range given {
			add(e.Title, contentType, e.Plain)
		}
	})

	if len(calls) == 0 {
		add("Request", "", "")
	}
	return calls, err
}

// sample returns the first example value of a schema.
func (b *builder) sample(schema *node) (string, error) {
	at, _, err := b.deref(schema)
	if err != nil {
		return "", err
	}

	if shown := at.list("examples"); len(shown) > 0 {
		return shown[0].text(), nil
	}
	return at.text("example"), nil
}

// slug makes a name that can be part of a link.
func slug(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }
