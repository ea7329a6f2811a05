package reference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// node is a piece of JSON that remembers the order of its keys: whoever wrote
// the description had reasons for it.
type node struct {
	keys   []string         // of an object
	fields map[string]*node // of an object
	items  []*node          // of an array
	value  any              // of anything else: string, json.Number, bool or nil
}

// parse reads one JSON document.
func parse(text []byte) (*node, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return read(d)
}

func read(d *json.Decoder) (*node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		n := &node{fields: make(map[string]*node)}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name := key.(string) // the decoder insists on it
			if n.fields[name], err = read(d); err != nil {
				return nil, err
			}
			n.keys = append(n.keys, name)
		}
		_, err := d.Token()
		return n, err
	case json.Delim('['):
		n := &node{items: []*node{}}
		for d.More() {
			item, err := read(d)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		_, err := d.Token()
		return n, err
	}
	return &node{value: token}, nil
}

// get follows a path of keys, and is nil where it leads nowhere. All methods work
// on a nil node, so that what a description leaves out need not be asked for.
func (n *node) get(path ...string) *node {
	for _, key := range path {
		if n == nil {
			return nil
		}
		n = n.fields[key]
	}
	return n
}

// text is a string at a path, or any other single value as JSON has it.
func (n *node) text(path ...string) string {
	at := n.get(path...)
	switch {
	case at == nil || at.fields != nil || at.items != nil || at.value == nil:
		return ""
	case at.value == true:
		return "true"
	case at.value == false:
		return "false"
	}
	return fmt.Sprint(at.value)
}

// is tells whether true stands at a path.
func (n *node) is(path ...string) bool { at := n.get(path...); return at != nil && at.value == true }

// list is the array at a path.
func (n *node) list(path ...string) []*node {
	if at := n.get(path...); at != nil {
		return at.items
	}
	return nil
}

// each visits the fields of an object in order.
func (n *node) each(visit func(key string, field *node)) {
	if n == nil {
		return
	}
	for _, key := range n.keys {
		visit(key, n.fields[key])
	}
}

// document is a description whose references can be followed.
type document struct{ root *node }

// deref follows a reference, and tells the name of what it leads to.
func (d document) deref(n *node) (at *node, name string, err error) {
	for range 10 {
		ref := n.text("$ref")
		if ref == "" {
			return n, name, nil
		}
		path := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		name = path[len(path)-1]
		if n = d.root.get(path...); n == nil {
			return nil, "", fmt.Errorf("%s leads nowhere", ref)
		}
	}
	return nil, "", errors.New("references go round in circles")
}
