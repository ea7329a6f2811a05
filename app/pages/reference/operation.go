package reference

import (
	"cmp"
	"slices"
	"strings"
)

// buildOperation describes one operation of a path, or an event, which has no path.
// shared are the parameters of all operations of the path.
func (b *builder) buildOperation(path string, shared []*node, method string, op *node) operation {
	o := operation{Anchor: op.text("operationId"), Summary: op.text("summary"), Text: renderMarkdown(op.text("description"))}
	if path != "" {
		o.Method, o.Path = strings.ToUpper(method), path
	}

	security := op.get("security")
	o.Public = security != nil && len(security.items) == 0
	o.Scope = op.text("x-scope")

	all := slices.Concat(shared, op.list("parameters"))
	o.Parameters = b.parameters(all)
	for contentType, content := range op.get("requestBody", "content").each() {
		o.Bodies = append(o.Bodies, body{contentType, b.describe("", content.get("schema"), true, 0)})
	}

	var answered []example // by the successful ones
	for status, response := range op.get("responses").each() {
		a, shown := b.answer(status, response)
		o.Answers, answered = append(o.Answers, a), append(answered, shown...)
	}

	var calls []example
	if path == "" {
		calls = examples(op.get("requestBody", "content", "application/json"))
	} else {
		calls = b.calls(o, all, op.get("requestBody", "content"))
	}
	o.Examples = orderExamples(calls, answered)
	return o
}

// orderExamples puts the first request and the first answer at the beginning, open, and
// all others closed after them.
func orderExamples(calls, answers []example) (all []example) {
	for _, list := range [][]example{calls, answers} {
		if len(list) > 0 {
			list[0].Open = true
			all = append(all, list[0])
		}
	}
	return slices.Concat(all, calls[min(1, len(calls)):], answers[min(1, len(answers)):])
}

// parameters groups parameters by where they are: path, query or headers.
func (b *builder) parameters(all []*node) (sorted []parameters) {
	for _, where := range []struct{ in, title string }{{"path", "Path"}, {"query", "Query"}, {"header", "Headers"}} {
		var fields []field
		for _, p := range all {
			at, _ := b.deref(p)
			if at.text("in") != where.in {
				continue
			}

			f := b.describe(at.text("name"), at.get("schema"), at.is("required"), 1)
			f.Text = renderLine(at.text("description"))
			fields = append(fields, f)
		}

		if len(fields) > 0 {
			sorted = append(sorted, parameters{Where: where.title, Fields: fields})
		}
	}
	return sorted
}

// answer describes an answer, and returns its examples if it is a successful one.
func (b *builder) answer(status string, response *node) (a answer, shown []example) {
	at, _ := b.deref(response)
	a = answer{Status: status, Text: renderLine(at.text("description"))}
	content := at.get("content", "application/json")
	a.Object, a.List = b.dataObject(content.get("schema"))
	if status >= "3" {
		for code := range content.get("examples").each() {
			a.Codes = append(a.Codes, code)
		}
		return a, nil
	}

	for _, c := range at.get("content").each() {
		shown = append(shown, examples(c)...)
	}
	for i := range shown {
		b.keepSample(a, shown[i].value)
		shown[i].Title = status + " · " + shown[i].Title
	}
	return a, shown
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
func (b *builder) dataObject(schema *node) (name string, list bool) {
	at, _ := b.deref(schema)
	data := at.get("properties", "data")
	if item := data.get("items"); item != nil {
		data, list = item, true
	}

	if _, name = b.deref(data); !b.objects[name] {
		name = ""
	}
	return name, list
}

func examples(content *node) (all []example) {
	for name, given := range content.get("examples").each() {
		all = append(all, newExample(cmp.Or(given.text("summary"), name), given.get("value")))
	}
	return all
}

// calls returns requests as command lines, one for each example of a body.
func (b *builder) calls(o operation, all []*node, content *node) (calls []example) {
	url := b.base + o.Path
	var headers []string
	for _, p := range all {
		at, _ := b.deref(p)
		name, value := at.text("name"), at.text("example")
		switch {
		case at.text("in") == "path":
			url = strings.ReplaceAll(url, "{"+name+"}", b.sample(at.get("schema")))
		case at.text("in") == "header" && name == "Idempotency-Key":
			headers = append(headers, name+": "+value)
		}
	}

	add := func(title, contentType, body string) {
		calls = append(calls, example{Title: title, Plain: curlCommand(o.Method, url, o.Public, headers, contentType, body)})
	}

	for contentType, c := range content.each() {
		if contentType == formType {
			add("A file", contentType, "file=@photo.jpg")
			continue
		}
		for _, e := range examples(c) {
			add(e.Title, contentType, e.Plain)
		}
	}

	if len(calls) == 0 {
		add("Request", "", "")
	}
	return calls
}

func (b *builder) sample(schema *node) string {
	at, _ := b.deref(schema)
	if shown := at.list("examples"); len(shown) > 0 {
		return shown[0].text()
	}
	return ""
}

func slug(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }
