package provider

import (
	"encoding/json"
	"errors"
	"fmt"
)

// News is one change of a callback, and the callback around it.
type News struct {
	Change
	WABA string // the business account that it is about
	At   Int    // when it happened, in seconds; 0 where that is not told

	head, tail []byte   // the callback around the value, with nothing else in it
	members    []member // of the value: found once, because each of a thousand items needs them
	deep       bool     // something in the callback is nested too deep
}

// member is one member of an object.
type member struct {
	name  string
	value []byte
}

// maxDepth is far more than the provider uses, and less than a database takes
// for JSON.
const maxDepth = 200

// errNoEntries means that a callback is not built as callbacks are.
var errNoEntries = errors.New("entry is not a list")

// ParseCallback splits a callback into its changes. Their values stay raw: one
// that cannot be read must not hold up the others. An entry or a change that is
// none becomes news without a field.
func ParseCallback(body []byte) ([]News, error) {
	if !json.Valid(body) {
		return nil, fmt.Errorf("read callback: %w", ErrNotJSON)
	}
	root := findMembers(body, "object", "entry")
	if root == nil || body[root[0].from] != '"' || string(unquote(root[0].of(body))) != theirObject {
		return nil, fmt.Errorf("read callback: %w", ErrForeign)
	}
	if root[1].empty() || body[root[1].from] != '[' {
		return nil, fmt.Errorf("read callback: %w", errNoEntries)
	}
	deep := depth(body) > maxDepth
	var all []News
	for _, at := range elementSpans(body, root[1]) {
		found := append(all, readEntry(at.of(body))...)
		for i := len(all); i < len(found); i++ {
			n := &found[i]
			n.head = concat(body[:root[1].from], []byte("["), n.head)
			n.tail = concat(n.tail, []byte("]"), body[root[1].to:])
			n.deep = deep
		}
		all = found
	}
	return all, nil
}

// readEntry reads the changes of an entry, each with the entry around it.
func readEntry(entry []byte) (all []News) {
	found := findMembers(entry, "id", "time", "changes")
	if found == nil || !found[2].empty() && entry[found[2].from] != '[' {
		return []News{{Change: Change{Value: entry}}}
	}
	if found[2].empty() {
		return nil
	}
	var id ID
	var at Int
	if !found[0].empty() {
		_ = json.Unmarshal(found[0].of(entry), &id) // what is no id names nobody
	}
	if !found[1].empty() {
		_ = json.Unmarshal(found[1].of(entry), &at)
	}
	for _, where := range elementSpans(entry, found[2]) {
		n := readChange(where.of(entry))
		n.WABA, n.At = string(id), at
		n.head = concat(entry[:found[2].from], []byte("["), n.head)
		n.tail = concat(n.tail, []byte("]"), entry[found[2].to:])
		all = append(all, n)
	}
	return all
}

func readChange(change []byte) News {
	found := findMembers(change, "field", "value")
	if found == nil {
		return News{Change: Change{Value: change}}
	}
	n := News{head: change, tail: nil}
	if field := found[0].of(change); len(field) > 0 && field[0] == '"' {
		n.Field = string(unquote(field))
	}
	if !found[1].empty() {
		n.Value = found[1].of(change)
		n.head, n.tail, n.members = change[:found[1].from], change[found[1].to:], membersOf(n.Value)
	}
	return n
}

// membersOf lists the members of an object; what is none has none.
func membersOf(object []byte) (all []member) {
	s := scanner{doc: object}
	if s.skipSpace() != '{' {
		return nil
	}
	s.members(func(key []byte) {
		s.skipSpace()
		start := s.pos
		s.skipValue()
		all = append(all, member{string(key), object[start:s.pos]})
	})
	return all
}

// concat puts pieces together in memory of their own.
func concat(pieces ...[]byte) []byte {
	size := 0
	for _, p := range pieces {
		size += len(p)
	}
	all := make([]byte, 0, size)
	for _, p := range pieces {
		all = append(all, p...)
	}
	return all
}

// itemLists are the members of a value that hold its items.
var itemLists = map[string]bool{
	"messages": true, "message_echoes": true, "statuses": true, "errors": true,
	"user_id_update": true, "user_preferences": true, "history": true, "state_sync": true,
}

// Narrow is the callback as if it had brought nothing but one item of a list and
// the people that it is about: in our own dialect, with every key that we do not
// know. It returns nil for what is nested too deep.
func (n News) Narrow(list string, item json.RawMessage, people []json.RawMessage) []byte {
	doc := append(concat(n.head), '{')
	first := true
	for _, m := range n.members {
		if m.name != list && itemLists[m.name] {
			continue
		}
		if !first {
			doc = append(doc, ',')
		}
		first = false
		doc = append(appendText(doc, m.name), ':')
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

// TooDeep tells whether a part of the change is nested deeper than makes sense.
func (n News) TooDeep(part json.RawMessage) bool { return n.deep && depth(part) > maxDepth }

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

func appendText(doc []byte, text string) []byte {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err) // texts always encode
	}
	return append(doc, raw...)
}

// Without is an object without one of its members.
func Without(object json.RawMessage, key string) json.RawMessage {
	var doc []byte
	s := scanner{doc: object}
	s.skipSpace()
	s.members(func(name []byte) {
		s.skipSpace()
		start := s.pos
		s.skipValue()
		if string(name) == key {
			return
		}
		if doc != nil {
			doc = append(doc, ',')
		} else {
			doc = append(make([]byte, 0, len(object)), '{')
		}
		doc = append(append(appendText(doc, string(name)), ':'), object[start:s.pos]...)
	})
	if doc == nil {
		return json.RawMessage(`{}`)
	}
	return append(doc, '}')
}

// With is an object with one member more, or with another value for it.
func With(object json.RawMessage, key string, value json.RawMessage) json.RawMessage {
	rest := Without(object, key)
	doc := append(append(appendText([]byte("{"), key), ':'), value...)
	if len(rest) > len("{}") {
		doc = append(append(doc, ','), rest[1:]...)
		return doc
	}
	return append(doc, '}')
}

// span is a piece of a document.
type span struct{ from, to int }

func (s span) empty() bool { return s.from == s.to }

func (s span) of(doc []byte) []byte { return doc[s.from:s.to:s.to] }

// findMembers finds the values of some keys of an object, the last of each; nulls and
// what is not there have an empty span. It returns nil for what is no object.
func findMembers(doc []byte, keys ...string) []span {
	s := scanner{doc: doc}
	if s.skipSpace() != '{' {
		return nil
	}
	found := make([]span, len(keys))
	s.members(func(name []byte) {
		s.skipSpace()
		start := s.pos
		s.skipValue()
		for i, key := range keys {
			if string(name) == key {
				found[i] = span{start, s.pos}
				if string(doc[start:s.pos]) == "null" {
					found[i] = span{}
				}
			}
		}
	})
	return found
}

// elementSpans finds the elements of an array.
func elementSpans(doc []byte, array span) (all []span) {
	s := scanner{doc: doc, pos: array.from}
	s.elements(func() {
		s.skipSpace()
		start := s.pos
		s.skipValue()
		all = append(all, span{start, s.pos})
	})
	return all
}

// depth is how deep a document is nested.
func depth(doc []byte) (deepest int) {
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
