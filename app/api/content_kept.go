package api

import (
	"encoding/json"
	"reflect"
	"slices"
)

// keptContent is the content of a valid send as it is stored and shown: every field
// that its type has, with its value as it was sent. Fields that are ignored are left
// out, because a client could store anything in them, of any size.
func (b *messageBody) keptContent() json.RawMessage {
	raw, _ := b.contentByType()
	k := contentKeeper{bodyChecker: bodyChecker{text: raw}}
	k.keepValue(reflect.ValueOf(b.content))
	return k.kept
}

// contentKeeper copies a valid JSON text without what a Go value that was decoded from
// it does not hold: unknown fields, and those that check has dropped.
type contentKeeper struct {
	bodyChecker
	kept []byte
}

// keepValue copies the current value.
func (k *contentKeeper) keepValue(v reflect.Value) {
	k.skipSpace()
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}

	start, first := k.at, k.text[k.at]
	switch t := v.Type(); {
	case t == reflect.TypeFor[json.RawMessage](): // check may have made it shorter
		k.skipValue()
		k.kept = append(k.kept, compact(v.Bytes())...)
	case hasUnmarshaler(t):
		k.skipValue()
		k.kept = append(k.kept, k.text[start:k.at]...)
	case t.Kind() == reflect.Struct && first == '{':
		k.keepObject(v)
	case t.Kind() == reflect.Slice && first == '[':
		k.keepArray(v)
	default:
		k.skipValue()
		k.kept = append(k.kept, k.text[start:k.at]...)
	}
}

// member is a field of an object, where its value begins, and the Go value of it.
type member struct {
	name  string
	start int
	value reflect.Value
}

// keepObject copies the fields that v holds, in the order in which they were sent. Of
// a repeated field the last one counts.
func (k *contentKeeper) keepObject(v reflect.Value) {
	fields := structFields(v.Type())
	var members []member

	k.at++
	for k.nextMember('}') {
		name := k.readKey()
		if field, known := fields[name]; known {
			members = slices.DeleteFunc(members, func(m member) bool { return m.name == name })
			members = append(members, member{name, k.at, v.FieldByIndex(field.Index)})
		}
		k.skipSpace()
		k.skipValue()
	}
	end := k.at

	k.kept = append(k.kept, '{')
	for _, m := range members {
		if m.value.IsZero() {
			continue
		}
		if k.kept[len(k.kept)-1] != '{' {
			k.kept = append(k.kept, ',')
		}
		k.kept = append(append(append(k.kept, '"'), m.name...), `":`...)
		k.at = m.start
		k.keepValue(m.value)
	}
	k.kept, k.at = append(k.kept, '}'), end
}

// keepArray copies the items of an array.
func (k *contentKeeper) keepArray(v reflect.Value) {
	k.kept = append(k.kept, '[')
	k.at++
	for i := 0; k.nextMember(']'); i++ {
		if i > 0 {
			k.kept = append(k.kept, ',')
		}
		k.keepValue(v.Index(i))
	}
	k.kept = append(k.kept, ']')
}
