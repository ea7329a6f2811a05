package reference

import (
	"bytes"
	"encoding/json"
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

func parse(text []byte) (*node, error) {
	n := new(node)
	return n, json.Unmarshal(text, n)
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *node) UnmarshalJSON(text []byte) error {
	n.json = bytes.Clone(text)
	d := json.NewDecoder(bytes.NewReader(n.json))
	d.UseNumber()
	switch text[0] {
	case '{':
		n.fields = make(map[string]*node)
	case '[':
		n.items = []*node{}
	default:
		return d.Decode(&n.value)
	}

	_, err := d.Token()
	for err == nil && d.More() {
		child := new(node)
		if n.fields != nil {
			key, _ := d.Token() // what is no key was refused before
			n.keys = append(n.keys, key.(string))
			n.fields[key.(string)] = child
		} else {
			n.items = append(n.items, child)
		}
		err = d.Decode(child)
	}
	return err
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
	if at == nil || at.value == nil {
		return ""
	}
	return fmt.Sprint(at.value)
}

func (n *node) is(path ...string) bool { at := n.get(path...); return at != nil && at.value == true }

func (n *node) list(path ...string) []*node {
	if at := n.get(path...); at != nil {
		return at.items
	}
	return nil
}

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

// deref follows a reference, and returns the name of what it found. A node that is no
// reference is returned as it is.
func (b *builder) deref(n *node) (at *node, name string) {
	ref, isReference := strings.CutPrefix(n.text("$ref"), "#/")
	if !isReference {
		return n, ""
	}
	path := strings.Split(ref, "/")
	return b.root.get(path...), path[len(path)-1]
}
