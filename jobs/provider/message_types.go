package provider

import "encoding/json"

// Message is a message from a person, or an echo of one that the business sent
// from its phone.
type Message struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Timestamp Int    `json:"timestamp"`

	From             string `json:"from"` // digits; empty for a person who hides the number
	FromUserID       string `json:"from_user_id"`
	FromParentUserID string `json:"from_parent_user_id"`
	To               string `json:"to"` // in an echo only, as the next two
	ToUserID         string `json:"to_user_id"`
	ToParentUserID   string `json:"to_parent_user_id"`

	Context Context     `json:"context"`
	Errors  List[Fault] `json:"errors"`
}

// Context names the message that another one answers.
type Context struct{ ID string }

// UnmarshalJSON reads a context leniently: a message is still of use without it.
func (c *Context) UnmarshalJSON(raw []byte) error {
	*c = Context{}
	if id := GetMember(raw, "id"); id != nil {
		_ = json.Unmarshal(id, &c.ID) // anything but a string is no id
	}
	return nil
}

// GetMember returns the raw value of one key of an object, or nil. The content of a
// message, for example, is the member that has the name of the message's type.
// Of a key that appears twice the last value counts, as in encoding/json.
func GetMember(object json.RawMessage, key string) json.RawMessage {
	if !isObject(object) {
		return nil
	}

	s := scanner{doc: object}
	s.skipSpace()
	var found json.RawMessage
	s.members(func(k []byte, _ int) {
		if value := s.value(); string(k) == key {
			found = value.of(object)
		}
	})
	return found
}

// NamedTemplate is the template that the content of a message names, whatever else it holds. Its
// language is a text, or an object with a code; what cannot be read is empty.
func NamedTemplate(content json.RawMessage) (name, language string) {
	_ = json.Unmarshal(GetMember(content, "name"), &name)
	given := GetMember(content, "language")
	if json.Unmarshal(given, &language) != nil {
		_ = json.Unmarshal(GetMember(given, "code"), &language)
	}
	return name, language
}

// Attachment is the content of an image, video, audio, document or sticker.
type Attachment struct {
	ID       ID     `json:"id"`
	Caption  string `json:"caption"`
	Filename string `json:"filename"`
}

// Reaction is the content of a reaction. Without an emoji it takes an earlier
// one back.
type Reaction struct {
	MessageID string `json:"message_id"`
}

// System is the content of a system message: a change of number or identity.
type System struct {
	WaID         string `json:"wa_id"`
	NewWaID      string `json:"new_wa_id"` // as older versions name it
	UserID       string `json:"user_id"`
	ParentUserID string `json:"parent_user_id"`

	PreviousUserID       string `json:"previous_user_id"`
	PreviousParentUserID string `json:"previous_parent_user_id"`
}

// ContactCard is one of the content of a message of type contacts. Its origin is
// contact_request where somebody answers our request for their own number.
type ContactCard struct {
	Origin string `json:"origin"`
	Phones List[struct {
		Phone string `json:"phone"`
		WaID  string `json:"wa_id"`
	}] `json:"phones"`
}

// OwnNumber returns the number that a person has given on request, "" if the card is of
// somebody else.
func (c ContactCard) OwnNumber() string {
	if c.Origin != "contact_request" {
		return ""
	}

	for _, p := range c.Phones {
		for _, written := range []string{p.WaID, p.Phone} {
			if number, ok := ParseWrittenPhone(written); ok {
				return number
			}
		}
	}
	return ""
}

// Edit is the content of an edit: the message as it is now, raw.
type Edit struct {
	OriginalID string          `json:"original_message_id"`
	Message    json.RawMessage `json:"message"`
}

// Revoke is the content of a revocation.
type Revoke struct {
	OriginalID string `json:"original_message_id"`
}
