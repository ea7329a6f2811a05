package content

import (
	"encoding/json"
	"slices"

	"confab/app/api/rest"
	"confab/jobs/provider"
	"confab/storage"
)

// OtherType is the type of a message that a client of the provider sent and for which we have no
// name. Its content is the type's own name, and under it what was sent.
const OtherType = "other"

// Passed is a message that a client of the provider sends, as far as we understand it. Nothing
// is refused: that is the provider's to do.
func Passed(kind string, raw json.RawMessage) OutgoingMessage {
	out := OutgoingMessage{Type: kind, Content: raw, Source: storage.SourceGateway}
	isObject := len(raw) > 0 && (raw[0] == '{' || raw[0] == '[' && kind == "contacts")
	if !isObject || !slices.Contains(MessageTypes, kind) && !slices.Contains(passedTypes, kind) {
		named := map[string]json.RawMessage{kind: raw}
		if raw == nil {
			named[kind] = json.RawMessage("null")
		}
		out.Type = OtherType
		out.Content, _ = json.Marshal(named) // what is in it was JSON before
		return out
	}

	if slices.Contains(MessageTypes, kind) {
		b := MessageBody{Type: &kind}
		_, c := b.contentByType()
		if rest.ReadObject(kind, raw, c) == nil && c.Check(AnyHTTP) == nil {
			c.Describe(&out)
			out.Media = nil // its ids are the provider's
		}
	}
	if kind == "template" && out.Template == nil {
		name, language := provider.NamedTemplate(raw)
		out.Template = &templateRef{Name: name, Language: language}
	}
	return out
}

// passedTypes can be sent to the provider, and are known here from being received.
var passedTypes = []string{"location", "contacts", "sticker"}
