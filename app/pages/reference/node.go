package reference

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// node is a JSON value that keeps the order of its keys, so that the page shows
// everything in the order of the description.
type node struct {
	keys   []string         // of an object
	fields map[string]*node // of an object
	items  []*node          // of an array
	value  any              // of anything else: string, json.Number, bool or nil
	json   []byte           // as it was written
}

// parse reads one JSON document.
func parse(text []byte) (*node, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return read(d, text)
}

func read(d *json.Decoder, text []byte) (*node, error) {
	begin := d.InputOffset()
	token, err := d.Token()
	if err != nil {
		return nil, err
	}

	n := &node{value: token}
	switch token {
	case json.Delim('{'):
		n = &node{fields: make(map[string]*node)}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name := key.(string) // the decoder accepts nothing else
			if n.fields[name], err = read(d, text); err != nil {
				return nil, err
			}
			n.keys = append(n.keys, name)
		}
		_, err = d.Token()
	case json.Delim('['):
		n = &node{items: []*node{}}
		for d.More() {
			item, err := read(d, text)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		_, err = d.Token()
	}
	n.json = bytes.TrimLeft(text[begin:d.InputOffset()], " \t\r\n,:")
	return n, err
}

// get follows a path of keys, and returns nil if there is nothing. All methods work on a
// nil node, so that callers need not check for what a description leaves out.
func (n *node) get(path ...string) *node {
	for _, key := range path {
		if n == nil {
			return nil
		}
		n = n.fields[key]
	}
	return n
}

// text returns the string, number or boolean at a path as text, or "".
func (n *node) text(path ...string) string {
	at := n.get(path...)
	if at == nil || at.fields != nil || at.items != nil || at.value == nil {
		return ""
	}
	return fmt.Sprint(at.value)
}

// is reports whether the value at a path is true.
func (n *node) is(path ...string) bool { at := n.get(path...); return at != nil && at.value == true }

// list returns the array at a path.
func (n *node) list(path ...string) []*node {
	if at := n.get(path...); at != nil {
		return at.items
	}
	return nil
}

// each visits the fields of an object in order.
func (n *node) each() iter.Seq2[string, *node] {
	return func(yield func(string, *node) bool) {
		if n == nil {
			return
		}
		for _, key := range n.keys {
			if !yield(key, n.fields[key]) {
				return
			}
		}
	}
}

// document is a description, in which references are resolved.
type document struct {
	root *node
	err  error // the first reference that cannot be resolved
}

// deref follows a reference to its end, and returns the name of what it found. A node
// that is no reference is returned as it is. Nothing is found where a reference leads
// nowhere; that is kept in err, so that readers of the description need not ask each time.
func (d *document) deref(n *node) (at *node, name string) {
	for range 10 {
		ref := n.text("$ref")
		if ref == "" {
			return n, name
		}

		path := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		name = path[len(path)-1]
		if n = d.root.get(path...); n == nil {
			d.err = cmp.Or(d.err, fmt.Errorf("%s leads nowhere", ref))
			return nil, ""
		}
	}
	d.err = cmp.Or(d.err, errors.New("references go round in circles"))
	return nil, ""
}
