package event

import "confab/storage"

// NoteView is the public shape of a note, in events and in the API.
type NoteView struct {
	ID             string       `json:"id"`
	Object         string       `json:"object"`
	ConversationID string       `json:"conversation_id"`
	Text           string       `json:"text"`
	Mentions       []string     `json:"mentions"`
	Author         noteAuthor   `json:"author"`
	CreatedAt      storage.Time `json:"created_at"`
	UpdatedAt      storage.Time `json:"updated_at"`
}

type noteAuthor struct {
	Type string  `json:"type"`
	ID   string  `json:"id"`
	Name *string `json:"name"`
}

// ViewNote shows a note.
func ViewNote(n storage.Note) NoteView {
	return NoteView{
		ID:             n.ID,
		Object:         "note",
		ConversationID: n.ConversationID,
		Text:           n.Text,
		Mentions:       n.MentionedUsers(),
		Author:         noteAuthor{n.AuthorType, n.AuthorID, n.AuthorName},
		CreatedAt:      n.CreatedAt,
		UpdatedAt:      n.UpdatedAt,
	}
}

// Note says that a note was written, changed or deleted, and what it says or said.
func Note(kind string, s Subject, n storage.Note) Event {
	return Event{subject: s, kind: kind, data: map[string]any{"note": ViewNote(n), "phone_number_id": s.PhoneNumberID}}
}
