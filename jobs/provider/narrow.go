package provider

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Place is an item of a change: the list that it is in, and where in that.
type Place struct {
	List  string // messages, statuses, message_echoes; "" for the whole change
	Index int
}

// Narrowing says what stays of a change.
type Narrowing struct {
	Without map[Place]bool    // items that are left out
	Tags    map[Place]*string // by which the tags of statuses are replaced; nil takes one away
}

// narrowed are the lists of which items can be left out.
var narrowed = []string{"messages", "statuses", "message_echoes"}

// TagMember is the member of sends and statuses that holds what the sender wrote.
const TagMember = "biz_opaque_callback_data"

// Narrow writes a callback with some of its changes only: those for which stays returns what
// stays of them, by their index in what ParseCallback returned. Everything that stays keeps its
// bytes. The result is nil if nothing does.
func Narrow(body []byte, changes []CallbackChange, stays func(i int) *Narrowing) []byte {
	root := findMembers(body, 0, "entry")
	entries := elementSpans(body, root[0])
	kept := make([][]bool, len(entries)) // by entry and change
	spans := make([][]span, len(entries))

	var edits []edit
	for i, n := range changes {
		narrowing := stays(i)
		kept[n.entry] = append(kept[n.entry], narrowing != nil)
		spans[n.entry] = append(spans[n.entry], n.at)
		if narrowing != nil {
			edits = narrowing.edit(edits, body, n.value)
		}
	}

	isAnyKept := false
	for e := range entries {
		isAnyKept = isAnyKept || slices.Contains(kept[e], true)
		edits = cut(edits, spans[e], func(i int) bool { return kept[e][i] })
	}
	if !isAnyKept {
		return nil
	}
	return apply(body, cut(edits, entries, func(e int) bool { return slices.Contains(kept[e], true) }))
}

// edit adds what changes in the value of a change that stays.
func (n *Narrowing) edit(edits []edit, body []byte, value span) []edit {
	if value.empty() || body[value.from] != '{' {
		return edits
	}

	lists := findMembers(body, value.from, narrowed...)
	for l, name := range narrowed {
		if lists[l].empty() || body[lists[l].from] != '[' {
			continue
		}

		items := elementSpans(body, lists[l])
		for i, item := range items {
			if tag, given := n.Tags[Place{name, i}]; given {
				var text []byte
				if tag != nil {
					text = encode(*tag)
				}
				edits = editMember(edits, body, item.from, TagMember, text)
			}
		}
		edits = cut(edits, items, func(i int) bool { return !n.Without[Place{name, i}] })
	}
	return edits
}

// editMember replaces the value of a member of the object at a place, or takes the member away.
func editMember(edits []edit, body []byte, at int, key string, with []byte) []edit {
	s := scanner{doc: body, pos: at}
	if s.skipSpace() != '{' {
		return edits
	}

	var members []span
	var stay []bool
	s.members(func(name []byte, start int) {
		value, isIt := s.value(), string(name) == key
		if isIt && with != nil {
			edits = append(edits, edit{value, with})
		}
		members, stay = append(members, span{start, value.to}), append(stay, !isIt || with != nil)
	})
	return cut(edits, members, func(i int) bool { return stay[i] })
}

// DeleteMember returns an object without a member. The others keep their bytes.
func DeleteMember(object json.RawMessage, key string) json.RawMessage {
	return apply(object, editMember(nil, object, 0, key, nil))
}

// SetMember returns an object with a value set for one key, as its first member.
func SetMember(object json.RawMessage, key string, value json.RawMessage) json.RawMessage {
	rest := bytes.TrimSpace(DeleteMember(object, key))
	rest = bytes.TrimSpace(rest[1 : len(rest)-1])
	doc := slices.Concat([]byte("{"), encode(key), []byte(":"), value)
	if len(rest) > 0 {
		doc = append(append(doc, ','), rest...)
	}
	return append(doc, '}')
}

// edit replaces a part of a document.
type edit struct {
	span
	with []byte
}

// cut adds the edits that leave out the elements of a list, or the members of an object, that do
// not stay, each with a comma. What is around the others keeps its spaces.
func cut(edits []edit, elements []span, stays func(i int) bool) []edit {
	last := len(elements) - 1 // that stays
	for last >= 0 && !stays(last) {
		last--
	}

	for i := range last {
		if !stays(i) {
			edits = append(edits, edit{span: span{elements[i].from, elements[i+1].from}})
		}
	}

	switch end := len(elements) - 1; {
	case last == end:
	case last < 0:
		edits = append(edits, edit{span: span{elements[0].from, elements[end].to}})
	default:
		edits = append(edits, edit{span: span{elements[last].to, elements[end].to}})
	}
	return edits
}

// apply makes edits. One within a part that another leaves out is lost with it.
func apply(doc []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return doc
	}

	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	out := make([]byte, 0, len(doc)+64)
	at := 0
	for _, e := range edits {
		if e.from < at {
			continue
		}
		out = append(append(out, doc[at:e.from]...), e.with...)
		at = e.to
	}
	return append(out, doc[at:]...)
}

// ReplaceMember is a JSON object with another value of a member that it has. All else keeps its
// bytes, and so does any other document.
func ReplaceMember(doc []byte, key string, value json.RawMessage) []byte {
	if !isObject(doc) {
		return doc
	}
	found := findMembers(doc, 0, key)
	if found[0].empty() {
		return doc
	}
	return apply(doc, []edit{{found[0], value}})
}

// FilterList is a JSON object of which a list has only the items that stay. All else keeps its
// bytes, and so does any other document.
func FilterList(doc []byte, key string, stays func(item []byte) bool) []byte {
	if !isObject(doc) {
		return doc
	}
	list := findMembers(doc, 0, key)[0]
	if list.empty() || doc[list.from] != '[' {
		return doc
	}

	items := elementSpans(doc, list)
	return apply(doc, cut(nil, items, func(i int) bool { return stays(items[i].of(doc)) }))
}

func isObject(doc []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(doc, " \t\r\n"), []byte("{")) && json.Valid(doc)
}
