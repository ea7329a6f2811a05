package api

import (
	"cmp"
	"fmt"
	"slices"

	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/storage"
)

const (
	maxNote     = 4096 // characters, as a message's text
	maxMentions = 20
)

// listNotes handles GET /v1/:phone_number_id/conversations/:id/notes.
func (s *Server) listNotes(r *rest.Request) (rest.Reply, error) {
	q := rest.Filters{Values: r.Query()}
	f := storage.NoteFilter{Search: q.Text("search", maxSearch)}
	return rest.ListOf(s.Server, r, rest.Lister[storage.Note, event.NoteView]{
		Scope: fmt.Sprintf("notes %s %#v", r.Param("id"), f),
		Err:   q.Err,
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.Note, storage.After, error) {
			return rx.Within(q.Budget).Notes(r.Param("id"), f, q.After, q.Fetch())
		},
		Key:  func(n storage.Note) storage.After { return storage.After{ID: n.ID} },
		View: event.ViewNote,
	})
}

// newNote is the body of POST /v1/:phone_number_id/conversations/:id/notes.
type newNote struct {
	Text     *string  `json:"text"`
	Mentions []string `json:"mentions"`
}

func (n *newNote) Validate() error {
	return cmp.Or(rest.Required("text", n.Text, maxNote), rest.AtMost("mentions", n.Mentions, maxMentions))
}

// createNote handles POST /v1/:phone_number_id/conversations/:id/notes.
func (s *Server) createNote(r *rest.Request, in newNote) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, ConversationIn, func(tx *storage.Tx, c storage.FullConversation) (rest.Reply, error) {
		mentions, err := mentionedUsers(tx, r, in.Mentions)
		if err != nil {
			return rest.Reply{}, err
		}

		n := storage.Note{AccountID: c.AccountID, ConversationID: c.ID, Text: *in.Text, Mentions: mentions, NoteAuthor: noteAuthor(r)}
		if err := messaging.InsertNote(tx, subject(r), &n); err != nil {
			return rest.Reply{}, err
		}
		return rest.Created(event.ViewNote(n)), notifyMentioned(tx, r, n, nil)
	})
}

func noteAuthor(r *rest.Request) storage.NoteAuthor {
	if r.User != nil {
		return storage.NoteAuthor{Type: storage.NoteByUser, ID: r.User.ID, Name: &r.User.Name}
	}
	return storage.NoteAuthor{Type: storage.NoteByKey, ID: r.Key.ID, Name: r.Key.Label}
}

// mentionedUsers checks the people whom a note mentions, and returns each once.
func mentionedUsers(tx *storage.Tx, r *rest.Request, ids []string) (storage.Strings, error) {
	mentioned := storage.Strings{}
	for i, id := range ids {
		if slices.Contains(mentioned, id) {
			continue
		}
		if err := checkAnyUser(&tx.Rx, r.Org.ID, rest.ItemPath("mentions", i), id); err != nil {
			return nil, err
		}
		mentioned = append(mentioned, id)
	}
	return mentioned, nil
}

// notifyMentioned notifies those whom a note mentions and did not before, its author apart.
func notifyMentioned(tx *storage.Tx, r *rest.Request, n storage.Note, before []string) error {
	users := slices.DeleteFunc(slices.Clone(n.Mentions), func(user string) bool {
		return user == n.NoteAuthor.ID || slices.Contains(before, user)
	})
	if len(users) == 0 {
		return nil
	}
	return jobs.EnqueueNotify(tx, r.Org.ID, jobs.Notice{
		AboutAccount: storage.AboutAccount{Account: n.AccountID},
		Conversation: n.ConversationID,
		Note:         n.ID,
		Users:        users,
	})
}

func noteIn(rx *storage.Rx, r *rest.Request) (storage.Note, error) {
	c, err := ConversationIn(rx, r)
	if err != nil {
		return storage.Note{}, err
	}
	return rest.InPath(r, "note_id", storage.PrefixNote, c.ID, rx.Note)
}

// checkNoteAuthor refuses to let an agent change what somebody else wrote.
func checkNoteAuthor(r *rest.Request, n storage.Note) error {
	if r.User == nil || r.User.Role == storage.RoleAdmin || r.User.ID == n.NoteAuthor.ID {
		return nil
	}
	return rest.Fail(rest.PermissionDenied, "Only its author and admins of the organization can change a note.")
}

// noteChanges is the body of PATCH /v1/:phone_number_id/conversations/:id/notes/:note_id.
type noteChanges struct {
	Text     rest.Patch[string]   `json:"text"`
	Mentions rest.Patch[[]string] `json:"mentions"`
}

func (c *noteChanges) Validate() error {
	if !c.Text.Set && !c.Mentions.Set {
		return rest.NoneGiven("text", "Provide text, mentions or both.")
	}
	return cmp.Or(
		c.Text.NotNull("text"),
		rest.Optional("text", c.Text.OrNil(), maxNote),
		rest.AtMost("mentions", c.Mentions.Value, maxMentions),
	)
}

// updateNote handles PATCH /v1/:phone_number_id/conversations/:id/notes/:note_id.
func (s *Server) updateNote(r *rest.Request, in noteChanges) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, noteIn, func(tx *storage.Tx, n storage.Note) (rest.Reply, error) {
		if err := checkNoteAuthor(r, n); err != nil {
			return rest.Reply{}, err
		}

		before := n.Mentions
		in.Text.Apply(&n.Text)
		if in.Mentions.Set {
			mentions, err := mentionedUsers(tx, r, in.Mentions.Value)
			if err != nil {
				return rest.Reply{}, err
			}
			n.Mentions = mentions
		}

		if err := tx.UpdateNote(&n, before); err != nil {
			return rest.Reply{}, err
		}
		if err := notifyMentioned(tx, r, n, before); err != nil {
			return rest.Reply{}, err
		}
		return rest.OK(event.ViewNote(n)), event.Note(event.TypeNoteUpdated, subject(r), n).Emit(tx)
	})
}

// deleteNote handles DELETE /v1/:phone_number_id/conversations/:id/notes/:note_id.
func (s *Server) deleteNote(r *rest.Request) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, noteIn, func(tx *storage.Tx, n storage.Note) (rest.Reply, error) {
		if err := checkNoteAuthor(r, n); err != nil {
			return rest.Reply{}, err
		}
		if err := tx.DeleteNote(n); err != nil {
			return rest.Reply{}, err
		}
		return rest.Deleted("note", n.ID), event.Note(event.TypeNoteDeleted, subject(r), n).Emit(tx)
	})
}
