package callback

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// wild are values that may be where others are expected.
var wild = []string{`null`, `true`, `0`, `-1`, `7`, `1e300`, `15550001111`, `""`, `"x"`, `"null"`, `"15550001111"`, `"+15550001111"`, `"wamid.in"`, `"wamid.1"`,
	`"US.1"`, `"US.ENT.1"`, `"text"`, `"image"`, `"edit"`, `"1750030073"`, `"\u0000"`, `[]`, `[null]`, `{}`, `{"id":"x","body":"y","type":"text"}`}

// TestAnyMutationOfACallbackIsTaken changes good callbacks in a few places, in
// ways that no reader expects.
func TestAnyMutationOfACallbackIsTaken(t *testing.T) {
	l := newLine(t)
	l.hear(hello("wamid.in", "hi"))
	l.outbound(l.account, "wamid.1")
	seeds := mutable(t)
	rapid.Check(t, func(r *rapid.T) {
		var tree any
		if err := json.Unmarshal(rapid.SampledFrom(seeds).Draw(r, "seed"), &tree); err != nil {
			r.Fatal(err)
		}
		for range rapid.IntRange(1, 4).Draw(r, "changes") {
			tree = mutate(r, tree, 0)
		}
		body, err := json.Marshal(tree)
		if err != nil {
			r.Fatal(err)
		}
		code, refused := post(t, l.server, string(body), sign(string(body)))
		if refused != nil || code != 200 {
			r.Fatalf("%d %v: %s", code, refused, body)
		}
	})
	checkWholeness(t, l)
	for _, e := range l.events() {
		if !json.Valid(e.Payload) {
			t.Errorf("%s is no JSON", e.Payload)
		}
	}
}

// mutable are callbacks of every kind.
func mutable(t *testing.T) (seeds [][]byte) {
	t.Helper()
	all := []string{
		envelope(change(ourNumber, status("wamid.1", "read", ""), status("wamid.1", "failed", `,"errors":[{"code":131026,"title":"No"}]`))),
		envelope(news("messages", "messages", anasProfile, revoke("wamid.r", "wamid.in"), edit("wamid.e", "wamid.in", "new"))),
		envelope(news("messages", "messages", anasProfile, moved("wamid.s", `{"wa_id":"15550003333","user_id":"US.3","type":"user_changed_number"}`))),
		envelope(news("smb_message_echoes", "message_echoes", anasProfile, echo("wamid.o", "text", `"text":{"body":"hi"}`), echo("wamid.p", "image", `"image":{"id":"7"}`))),
		envelope(news("user_id_update", "user_id_update", anasProfile, rotated(`"wa_id":"15550001111",`, "US.13491208655302741918", "US.4"))),
		envelope(news("user_preferences", "user_preferences", anasProfile, preference(`"user_id":"US.9"`, "stop"))),
		envelope(news("messages", "messages", anasProfile, written("wamid.f", "document", `"document":{"id":"77","caption":"x","filename":"y"},"errors":[{"code":131052}]`))),
	}
	for _, name := range slices.Sorted(maps.Keys(received)) {
		all = append(all, envelope(news("messages", "messages", anasProfile, written("wamid."+name, wireType(name), received[name]), hello("wamid.after."+name, "hi"))))
	}
	for _, text := range all {
		seeds = append(seeds, []byte(text))
	}
	return seeds
}

// mutate changes one place in a tree: it puts something else there, takes it
// away, or doubles it.
func mutate(r *rapid.T, v any, depth int) any {
	if depth > 3 && rapid.IntRange(0, 3).Draw(r, "here") == 0 {
		return strange(r, v)
	}
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 {
			return strange(r, v)
		}
		key := rapid.SampledFrom(keys).Draw(r, "key")
		switch rapid.IntRange(0, 9).Draw(r, "how") {
		case 0:
			delete(v, key)
		case 1:
			v[rapid.SampledFrom([]string{"id", "type", "from", "errors", "context", "text", "brand_new"}).Draw(r, "new key")] = v[key]
		default:
			v[key] = mutate(r, v[key], depth+1)
		}
		return v
	case []any:
		if len(v) == 0 {
			return strange(r, v)
		}
		i := rapid.IntRange(0, len(v)-1).Draw(r, "index")
		if rapid.IntRange(0, 5).Draw(r, "double") == 0 {
			return append(v, v[i])
		}
		v[i] = mutate(r, v[i], depth+1)
		return v
	}
	return strange(r, v)
}

// strange is a value that is not expected.
func strange(r *rapid.T, v any) any {
	if text, ok := v.(string); ok && rapid.Bool().Draw(r, "still a text") {
		return rapid.OneOf(rapid.String(), rapid.Just(text+text), rapid.Just("")).Draw(r, "text")
	}
	var value any
	if err := json.Unmarshal([]byte(rapid.SampledFrom(wild).Draw(r, "value")), &value); err != nil {
		r.Fatal(err)
	}
	return value
}
