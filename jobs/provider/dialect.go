package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// The provider's API and ours use the same JSON documents, except for a few
// words: the name of the product and of the object in callbacks, and the type of
// reply buttons. This file holds both dialects and translates between them; no
// other file knows the words.
//
// A translation is a list of rules, each a path and the text to replace there.
// The rules are compiled into a tree of keys, and a scanner walks the document
// along that tree: it skips what the tree does not name and copies it byte
// for byte. So unknown keys, odd spacing, large numbers and texts of users stay
// as they are, and a document without a match is returned without a copy.
const (
	theirProduct = "whatsapp"
	theirObject  = "whatsapp_business_account"
	theirButtons = "button"

	ourProduct = "chat"
	ourObject  = "chat_business_account"
	ourButtons = "reply_buttons"
)

// ErrNotJSON means that a document to translate is not valid JSON.
var ErrNotJSON = errors.New("not a JSON document")

// ToProvider translates a message from our dialect into the provider's: the
// name of the product, the type of reply buttons, and a template language
// that is a plain string. Everything else stays as it is, byte for byte, and so
// does every text of a user, with any words in it. The result may share
// memory with the argument.
func ToProvider(doc []byte) ([]byte, error) {
	if !json.Valid(doc) {
		return nil, ErrNotJSON
	}
	return rewrite(doc, toProvider), nil
}

// rule replaces the string at a path, if it is from, by to. A star in the path
// matches each element of an array.
type rule struct {
	path     string
	from, to string
}

const (
	inValue  = "entry.*.changes.*.value."
	inErrors = "errors.*.error_data.messaging_product"
)

var (
	// toProvider is for messages that are sent.
	toProvider = compileRules(
		rule{"messaging_product", ourProduct, theirProduct},
		rule{"interactive.type", ourButtons, theirButtons},
		rule{path: "template.language"}, // without from: any string becomes {"code": string}
	)
	// fromProvider is for callbacks.
	fromProvider = compileRules(
		rule{"object", theirObject, ourObject},
		rule{inValue + "messaging_product", theirProduct, ourProduct},
		rule{inValue + inErrors, theirProduct, ourProduct},
		rule{inValue + "messages.*." + inErrors, theirProduct, ourProduct},
		rule{inValue + "message_echoes.*." + inErrors, theirProduct, ourProduct},
		rule{inValue + "statuses.*." + inErrors, theirProduct, ourProduct},
		rule{inValue + "history.*." + inErrors, theirProduct, ourProduct},
	)
)

// node is one step of the paths of all rules. A key that no node names is skipped unread.
type node struct {
	keys map[string]*node // of an object
	each *node            // for every element of an array
	rule *rule            // whose path ends here; nil for none
}

// compileRules makes one tree of the paths of all rules.
func compileRules(rules ...rule) *node {
	root := &node{keys: map[string]*node{}}
	for _, r := range rules {
		at := root
		for key := range strings.SplitSeq(r.path, ".") {
			at = at.child(key)
		}
		at.rule = &r
	}
	return root
}

func (n *node) child(key string) *node {
	if key == "*" {
		if n.each == nil {
			n.each = &node{keys: map[string]*node{}}
		}
		return n.each
	}

	if n.keys[key] == nil {
		n.keys[key] = &node{keys: map[string]*node{}}
	}
	return n.keys[key]
}

// rewrite replaces the strings that the rules name and copies all else, of a document
// that is known to be valid.
func rewrite(doc []byte, rules *node) []byte {
	s := scanner{doc: doc}
	s.walk(rules)
	return apply(doc, s.edits)
}

// scanner moves through a document that is known to be valid JSON: it does not
// check for the end where valid JSON must go on.
type scanner struct {
	doc   []byte
	pos   int
	edits []edit // that walk has found
}

// walk moves past the next value and applies the rules below n.
func (s *scanner) walk(n *node) {
	s.skipSpace()

	switch c := s.doc[s.pos]; {
	case n == nil:
		s.skipValue()
	case c == '{':
		s.members(func(key []byte, _ int) { s.walk(n.keys[string(key)]) })
	case c == '[':
		s.elements(func() { s.walk(n.each) })
	case c == '"' && n.rule != nil:
		s.replaceText(s.value(), *n.rule)
	default:
		s.skipValue()
	}
}

// replaceText applies a rule to a string.
func (s *scanner) replaceText(at span, r rule) {
	switch raw := at.of(s.doc); {
	case r.from == "":
		s.edits = append(s.edits, edit{at, slices.Concat([]byte(`{"code":`), raw, []byte("}"))})
	case string(unquote(raw)) == r.from:
		s.edits = append(s.edits, edit{at, []byte(`"` + r.to + `"`)})
	}
}

// members visits each member of the object that starts here, with its key and where that begins.
// The visit moves past the value.
func (s *scanner) members(visit func(key []byte, start int)) {
	for s.pos++; s.skipSpace() != '}'; {
		start := s.pos
		s.skipValue()
		key := unquote(s.doc[start:s.pos])

		s.skipSpace()
		s.pos++ // the colon

		visit(key, start)
		if s.skipSpace() == ',' {
			s.pos++
		}
	}
	s.pos++
}

// elements visits each element of the array that starts here.
func (s *scanner) elements(visit func()) {
	for s.pos++; s.skipSpace() != ']'; {
		visit()
		if s.skipSpace() == ',' {
			s.pos++
		}
	}
	s.pos++
}

// skipSpace moves to the next token and returns its first byte.
func (s *scanner) skipSpace() byte {
	for {
		switch c := s.doc[s.pos]; c {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return c
		}
	}
}

// skipValue moves past the value that starts here. It does not recurse, so
// that a deeply nested value needs no stack.
func (s *scanner) skipValue() {
	for depth := 0; s.pos < len(s.doc); {
		switch s.doc[s.pos] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return // a number ends where its object or array ends
			}

			depth--
			if depth == 0 {
				s.pos++
				return
			}
		case '"':
			s.skipString()
			if depth == 0 {
				return
			}
			continue
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return
			}
		}
		s.pos++
	}
}

// SkipValue is where the value ends that starts at a place in a valid JSON text.
func SkipValue(doc []byte, at int) int {
	s := scanner{doc: doc, pos: at}
	s.skipValue()
	return s.pos
}

// value moves past the next value and returns its position.
func (s *scanner) value() span {
	s.skipSpace()
	start := s.pos
	s.skipValue()
	return span{start, s.pos}
}

// skipString moves past the string that starts here.
func (s *scanner) skipString() {
	for s.pos++; s.doc[s.pos] != '"'; s.pos++ {
		if s.doc[s.pos] == '\\' {
			s.pos++
		}
	}
	s.pos++
}

// unquote returns the content of a JSON string, without a copy where nothing is escaped.
func unquote(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return nil
	}
	return []byte(text)
}
