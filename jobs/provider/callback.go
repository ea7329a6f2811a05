package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// CallbackChange is one change of a callback, together with the callback around it: the
// documents that customers receive hold a whole callback with a single item, and
// every key that we do not know must still be in it.
//
// The callback is therefore never decoded and encoded again. ParseCallback finds
// the value of each change by its position and keeps the bytes before and after
// it, without the other entries and changes. WithOneItem then writes these bytes
// again around a value with one item.
type CallbackChange struct {
	Change
	WABA string // the business account that it is about

	head, tail []byte   // the callback before and after the value, without other changes
	members    []member // of the value: found once, because each of a thousand items needs them
	deep       bool     // something in the callback is nested deeper than MaxDepth

	entry     int  // the number of its entry
	at, value span // where the change and its value are in the callback
}

type member struct {
	name  string
	value []byte
}

// MaxDepth is the deepest nesting of a document that we store: far more than the
// provider uses, and less than the database accepts in JSON.
const MaxDepth = 200

// errNoEntries means that a callback does not have the shape of one.
var errNoEntries = errors.New("entry is not a list")

// ParseCallback splits a callback into its changes. Their values stay raw: one
// that cannot be read must not spoil the others. An entry or a change of another
// shape becomes a change without a field, with all of it as the value.
func ParseCallback(body []byte) ([]CallbackChange, error) {
	if !json.Valid(body) {
		return nil, fmt.Errorf("read callback: %w", ErrNotJSON)
	}

	root := findMembers(body, 0, "object", "entry")
	if root == nil || body[root[0].from] != '"' || string(unquote(root[0].of(body))) != theirObject {
		return nil, fmt.Errorf("read callback: %w", ErrOtherObject)
	}
	entries := root[1]
	if entries.empty() || body[entries.from] != '[' {
		return nil, fmt.Errorf("read callback: %w", errNoEntries)
	}

	deep := JSONDepth(body) > MaxDepth
	var all []CallbackChange
	for e, entry := range elementSpans(body, entries) {
		for _, n := range readEntry(body, entry) {
			n.entry, n.deep = e, deep
			n.head = slices.Concat(body[:entries.from], []byte("["), n.head)
			n.tail = slices.Concat(n.tail, []byte("]"), body[entries.to:])
			all = append(all, n)
		}
	}
	return all, nil
}

// readEntry reads the changes of an entry, each with the entry around it.
func readEntry(body []byte, entry span) (all []CallbackChange) {
	found := findMembers(body, entry.from, "id", "changes")
	if found == nil || !found[1].empty() && body[found[1].from] != '[' {
		return []CallbackChange{{Change: Change{Value: entry.of(body)}}}
	}
	changes := found[1]
	if changes.empty() {
		return nil
	}

	var id ID
	_ = json.Unmarshal(found[0].of(body), &id) // the changes are of use without it

	for _, change := range elementSpans(body, changes) {
		n := readChange(body, change)
		n.WABA, n.at = string(id), change
		n.head = slices.Concat(body[entry.from:changes.from], []byte("["), n.head)
		n.tail = slices.Concat(n.tail, []byte("]"), body[changes.to:entry.to])
		all = append(all, n)
	}
	return all
}

// readChange reads the field and the value of a change, with the change around the value.
func readChange(body []byte, change span) CallbackChange {
	found := findMembers(body, change.from, "field", "value")
	if found == nil {
		return CallbackChange{Change: Change{Value: change.of(body)}}
	}

	n := CallbackChange{head: change.of(body)}
	if field := found[0].of(body); len(field) > 0 && field[0] == '"' {
		n.Field = string(unquote(field))
	}
	if value := found[1]; !value.empty() {
		n.Value, n.value = value.of(body), value
		n.head, n.tail = body[change.from:value.from], body[value.to:change.to]
		if s := (scanner{doc: body, pos: value.from}); body[value.from] == '{' {
			s.members(func(key []byte, _ int) { n.members = append(n.members, member{string(key), s.value().of(body)}) })
		}
	}
	return n
}

// itemLists are the members of a value that hold items, of which WithOneItem keeps one.
var itemLists = map[string]bool{
	"messages": true, "message_echoes": true, "statuses": true, "errors": true,
	"user_id_update": true, "user_preferences": true, "history": true, "state_sync": true,
}

// WithOneItem writes the callback as if it had brought nothing but one item of a list
// and the people that it is about. The result is in our own dialect and has
// every key that we do not know. It is nil if it would be nested too deep.
func (n CallbackChange) WithOneItem(list string, item json.RawMessage, people []json.RawMessage) []byte {
	doc := append(slices.Concat(n.head), '{')
	first := true
	for _, m := range n.members {
		if m.name != list && itemLists[m.name] {
			continue
		}

		if !first {
			doc = append(doc, ',')
		}
		first = false
		doc = append(append(doc, encode(m.name)...), ':')

		switch m.name {
		case list:
			doc = append(append(append(doc, '['), item...), ']')
		case "contacts":
			doc = appendList(doc, people)
		default:
			doc = append(doc, m.value...)
		}
	}
	doc = append(append(doc, '}'), n.tail...)

	if n.TooDeep(doc) {
		return nil
	}
	return rewrite(doc, fromProvider)
}

// TooDeep reports whether a part of the change is nested deeper than MaxDepth.
func (n CallbackChange) TooDeep(part json.RawMessage) bool {
	return n.deep && JSONDepth(part) > MaxDepth
}

func appendList(doc []byte, all []json.RawMessage) []byte {
	doc = append(doc, '[')
	for i, raw := range all {
		if i > 0 {
			doc = append(doc, ',')
		}
		doc = append(doc, raw...)
	}
	return append(doc, ']')
}

// span is the position of a value in a document.
type span struct{ from, to int }

func (s span) empty() bool { return s.from == s.to }

// of returns the value. Its capacity ends with it, so that appending copies.
func (s span) of(doc []byte) []byte { return doc[s.from:s.to:s.to] }

// findMembers finds the values of some keys of the object at a place. A key that is missing
// or null has an empty span; of a key that appears twice the last value counts.
// It returns nil for any other value than an object.
func findMembers(doc []byte, at int, keys ...string) []span {
	s := scanner{doc: doc, pos: at}
	if s.skipSpace() != '{' {
		return nil
	}

	found := make([]span, len(keys))
	s.members(func(name []byte, _ int) {
		value := s.value()
		if string(value.of(doc)) == "null" {
			value = span{}
		}
		for i, key := range keys {
			if string(name) == key {
				found[i] = value
			}
		}
	})
	return found
}

func elementSpans(doc []byte, array span) (all []span) {
	s := scanner{doc: doc, pos: array.from}
	s.elements(func() { all = append(all, s.value()) })
	return all
}

// JSONDepth is how deep a valid document is nested: 1 for an object without another.
func JSONDepth(doc []byte) (deepest int) {
	s := scanner{doc: doc}

	for level := 0; s.pos < len(doc); {
		switch doc[s.pos] {
		case '"':
			s.skipString()
			continue
		case '{', '[':
			level++
			deepest = max(deepest, level)
		case '}', ']':
			level--
		}
		s.pos++
	}
	return deepest
}
