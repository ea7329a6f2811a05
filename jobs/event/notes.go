package event

import "confab/storage"

// NoteView is the public shape of a note, in events and in the API.
type NoteView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	storage.Note
}

// ViewNote shows a note.
func ViewNote(n storage.Note) NoteView { return NoteView{n.ID, "note", n} }

// Note says that a note was written, changed or deleted, and what it says or said.
func Note(kind string, s Subject, n storage.Note) Event {
	return Event{subject: s, kind: kind, data: map[string]any{"note": ViewNote(n), "phone_number_id": s.PhoneNumberID}}
}
