package content

import (
	"encoding/json"
	"slices"

	"confab/app/api/rest"
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
		out.Template = namedTemplate(raw)
	}
	return out
}

// passedTypes can be sent to the provider, and are known here from being received.
var passedTypes = []string{"location", "contacts", "sticker"}

// namedTemplate is the template that a content names, whatever else it holds.
func namedTemplate(raw json.RawMessage) *templateRef {
	var named struct {
		Name     string          `json:"name"`
		Language json.RawMessage `json:"language"`
	}
	var language struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(raw, &named) // what cannot be read is no template that we know
	if json.Unmarshal(named.Language, &language.Code) != nil {
		_ = json.Unmarshal(named.Language, &language)
	}
	return &templateRef{Name: named.Name, Language: language.Code}
}
