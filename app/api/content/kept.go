package content

import (
	"encoding/json"
	"reflect"
	"slices"

	"confab/app/api/rest"
)

// keptContent is the content of a valid send as it is stored and shown: every field
// that its type has, with its value as it was sent. Fields that are ignored are left
// out, because a client could store anything in them, of any size.
func (b *MessageBody) keptContent() json.RawMessage {
	raw, _ := b.contentByType()
	k := contentKeeper{BodyChecker: rest.BodyChecker{Text: raw}}
	k.keepValue(reflect.ValueOf(b.content))
	return k.kept
}

// contentKeeper copies a valid JSON text without what a Go value that was decoded from
// it does not hold: unknown fields, and those that check has dropped.
type contentKeeper struct {
	rest.BodyChecker
	kept []byte
}

func (k *contentKeeper) keepValue(v reflect.Value) {
	k.SkipSpace()
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}

	start, first := k.At, k.Text[k.At]
	switch t := v.Type(); {
	case t == reflect.TypeFor[json.RawMessage](): // check may have made it shorter
		k.SkipValue()
		k.kept = append(k.kept, rest.Compact(v.Bytes())...)
	case t.Kind() == reflect.Struct && first == '{' && !rest.HasUnmarshaler(t):
		k.keepObject(v)
	case t.Kind() == reflect.Slice && first == '[' && !rest.HasUnmarshaler(t):
		k.keepArray(v)
	default:
		k.SkipValue()
		k.kept = append(k.kept, k.Text[start:k.At]...)
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
	fields := rest.StructFields(v.Type())
	var members []member

	k.At++
	for k.NextMember('}') {
		name := k.ReadKey()
		if field, known := fields[name]; known {
			members = slices.DeleteFunc(members, func(m member) bool { return m.name == name })
			members = append(members, member{name, k.At, v.FieldByIndex(field.Index)})
		}
		k.SkipSpace()
		k.SkipValue()
	}
	end := k.At

	k.kept = append(k.kept, '{')
	for _, m := range members {
		if m.value.IsZero() {
			continue
		}
		if k.kept[len(k.kept)-1] != '{' {
			k.kept = append(k.kept, ',')
		}
		k.kept = append(append(append(k.kept, '"'), m.name...), `":`...)
		k.At = m.start
		k.keepValue(m.value)
	}
	k.kept, k.At = append(k.kept, '}'), end
}

func (k *contentKeeper) keepArray(v reflect.Value) {
	k.kept = append(k.kept, '[')
	k.At++
	for i := 0; k.NextMember(']'); i++ {
		if i > 0 {
			k.kept = append(k.kept, ',')
		}
		k.keepValue(v.Index(i))
	}
	k.kept = append(k.kept, ']')
}
