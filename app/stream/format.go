package stream

import (
	"bytes"
	"encoding/json"
	"strings"

	"confab/storage"
)

// Gap says that events are missing: they were removed, or the database is another.
type Gap struct {
	Reason string       `json:"reason"`
	Oldest storage.Time `json:"oldest"` // of the kept events; null if there is none
}

// Explain says in words which events are missing and why.
func (g Gap) Explain() string {
	why := "some were deleted because of their age"
	if g.Reason == gapRestored {
		why = "the database was replaced, perhaps by a restored backup"
	}
	if g.Oldest == 0 {
		return why + "; none are stored"
	}
	return why + "; the oldest one stored is from " + g.Oldest.String()
}

// Format is how a stream is written. Each method appends to the bytes about to be sent.
type Format interface {
	ContentType() string
	AppendEvent(b []byte, e storage.EventItem, position string) []byte
	AppendGap(b []byte, g Gap, position string) []byte
	// AppendOpening gives its position to a client that had nothing to read yet.
	AppendOpening(b []byte, position string) []byte
	// AppendIdle says that nothing happened, and up to where.
	AppendIdle(b []byte, position string) []byte
}

// Item is an event as clients read it.
type Item storage.EventItem

// MarshalJSON implements json.Marshaler.
func (e Item) MarshalJSON() ([]byte, error) { return append(e.appendFields(nil), '}'), nil }

// appendFields appends the fields of an event, without the brace that ends them. It is
// done by hand because very many are written; the payload goes out as it is stored, on
// one line.
func (e Item) appendFields(b []byte) []byte {
	b = appendText(append(b, `{"id":`...), e.ID)
	b = appendText(append(b, `,"object":"event","type":`...), e.Type)
	b = appendText(append(b, `,"source":`...), e.Source)
	b = appendText(append(b, `,"event_id":`...), e.EventID)
	b = appendOptional(append(b, `,"phone_number_id":`...), e.PhoneNumberID)
	b = appendText(append(b, `,"created_at":`...), e.CreatedAt.String())
	return appendLine(append(b, `,"payload":`...), e.Payload)
}

func appendText(b []byte, text string) []byte {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		quoted, _ := json.Marshal(text) // a text can always be written
		return append(b, quoted...)
	}
	return append(append(append(b, '"'), text...), '"')
}

func appendOptional(b []byte, text *string) []byte {
	if text == nil {
		return append(b, "null"...)
	}
	return appendText(b, *text)
}

// appendLine appends JSON without line breaks.
func appendLine(b, text []byte) []byte {
	if !bytes.ContainsAny(text, "\r\n") {
		return append(b, text...)
	}

	line := bytes.NewBuffer(b)
	if err := json.Compact(line, text); err != nil {
		return append(b, "null"...) // only JSON is stored
	}
	return line.Bytes()
}

// EventStream is the format of server-sent events.
type EventStream struct {
	// AppendItem appends an event; nil for the form of the API.
	AppendItem func(b []byte, e storage.EventItem) []byte
}

func (EventStream) ContentType() string { return "text/event-stream" }

func (f EventStream) AppendEvent(b []byte, e storage.EventItem, position string) []byte {
	b = append(append(b, "id: "...), position...)
	b = append(append(b, "\nevent: "...), e.Type...)
	b = append(b, "\ndata: "...)
	if f.AppendItem != nil {
		b = f.AppendItem(b, e)
	} else {
		b = append(Item(e).appendFields(b), '}')
	}
	return append(b, "\n\n"...)
}

func (EventStream) AppendGap(b []byte, g Gap, position string) []byte {
	b = append(append(b, "id: "...), position...)
	b = append(append(b, "\nevent: gap\ndata: "...), g.fields()...)
	return append(b, "\n\n"...)
}

func (f EventStream) AppendOpening(b []byte, position string) []byte {
	return f.AppendIdle(b, position)
}

// AppendIdle implements Format. A block without data moves a browser's position, and
// nothing else.
func (EventStream) AppendIdle(b []byte, position string) []byte {
	return append(append(append(b, "id: "...), position...), "\n\n"...)
}

// fields are those of a gap, as an object.
func (g Gap) fields() []byte {
	text, _ := json.Marshal(g) // texts and times can always be written
	return text
}

// Lines is the format of one JSON object a line.
type Lines struct{}

func (Lines) ContentType() string { return "application/x-ndjson" }

func (Lines) AppendEvent(b []byte, e storage.EventItem, position string) []byte {
	b = appendText(append(Item(e).appendFields(b), `,"position":`...), position)
	return append(b, "}\n"...)
}

func (Lines) AppendGap(b []byte, g Gap, position string) []byte {
	b = append(append(b, `{"object":"gap",`...), bytes.Trim(g.fields(), "{}")...)
	b = appendText(append(b, `,"position":`...), position)
	return append(b, "}\n"...)
}

// AppendOpening implements Format. A line without an item has no place for a position.
func (Lines) AppendOpening(b []byte, _ string) []byte { return b }

// AppendIdle implements Format.
func (Lines) AppendIdle(b []byte, _ string) []byte { return append(b, '\n') }

// AppendOperatorItem appends an event for the operator of the server: with the
// organization that it belongs to, and of a replay its delivery.
func AppendOperatorItem(b []byte, e storage.EventItem) []byte {
	b = appendText(append(Item(e).appendFields(b), `,"organization_id":`...), e.Organization)
	b = appendOptional(append(b, `,"delivery_id":`...), e.DeliveryID)
	b = appendOptional(append(b, `,"replayed_from":`...), e.ReplayedFrom)
	return append(b, '}')
}
