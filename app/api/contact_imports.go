package api

import (
	"errors"
	"io"
	"net/http"
	"time"

	"confab/jobs"
	"confab/jobs/contactsheet"
	"confab/storage"
)

const (
	// importWait is how long a request waits for the end of its import, and importPoll how
	// often it looks.
	importWait, importPoll = 2 * time.Second, 20 * time.Millisecond
)

// ContactImportView is the public shape of an import, on the command line too.
type ContactImportView struct {
	ID        string       `json:"id"`
	Object    string       `json:"object"`
	Status    string       `json:"status"`
	DryRun    bool         `json:"dry_run"`
	LabelID   *string      `json:"label_id"`
	Lines     int64        `json:"lines"`
	Created   int64        `json:"created"`
	Updated   int64        `json:"updated"`
	Unchanged int64        `json:"unchanged"`
	Failed    int64        `json:"failed"`
	Errors    storage.JSON `json:"errors"`
	CreatedAt storage.Time `json:"created_at"`
	UpdatedAt storage.Time `json:"updated_at"`
}

// ViewContactImport shows an import.
func ViewContactImport(i storage.ContactImport) ContactImportView {
	return ContactImportView{
		ID:        i.ID,
		Object:    "contact_import",
		Status:    i.Status,
		DryRun:    i.DryRun,
		LabelID:   i.LabelID,
		Lines:     i.Lines,
		Created:   i.Created,
		Updated:   i.Updated,
		Unchanged: i.Unchanged,
		Failed:    i.Failed,
		Errors:    i.Errors,
		CreatedAt: i.CreatedAt,
		UpdatedAt: i.UpdatedAt,
	}
}

// importContacts handles POST /v1/:phone_number_id/contact_imports. The file is durable
// before the row of its import; one without a row is removed later.
func (s *Server) importContacts(r *request) (reply, error) {
	i, err := r.newContactImport()
	if err != nil {
		return reply{}, err
	}
	if i.LabelID != nil {
		err := s.view(r, func(rx *storage.Rx) error {
			_, err := labelToAttach(rx, r.account, *i.LabelID)
			return err
		})
		if err != nil {
			return reply{}, err
		}
	}

	i.ID = s.DB.NewID(storage.PrefixImport)
	if err := s.Imports.Save(i.ID, r.form.reader()); err != nil {
		return reply{}, err
	}
	rep, err := s.update(r, func(tx *storage.Tx) (reply, error) {
		stored := i
		if err := tx.InsertContactImport(&stored); err != nil {
			return reply{}, err
		}
		rep := accepted(ViewContactImport(stored))
		rep.unchanged = i.DryRun
		return rep, jobs.EnqueueContactImport(tx, stored)
	})
	if err != nil {
		return reply{}, errors.Join(err, s.Imports.Remove(i.ID))
	}
	return s.awaitImport(r, i.ID, rep)
}

// newContactImport reads the form.
func (r *request) newContactImport() (i storage.ContactImport, err error) {
	if r.form == nil {
		return i, missing("file")
	}
	switch r.form.files {
	case 0:
		return i, missing("file")
	case 1:
	default:
		return i, invalid("file", "must be given once")
	}

	switch value, given := r.form.fields["dry_run"]; {
	case given && value != "true" && value != "false":
		return i, invalid("dry_run", "must be true or false")
	default:
		i.DryRun = value == "true"
	}
	if label, given := r.form.fields["label_id"]; given {
		if !storage.ValidID(storage.PrefixLabel, label) {
			return i, errLabelID()
		}
		i.LabelID = &label
	}

	layout, err := contactsheet.ReadLayout(r.form.reader())
	if err != nil {
		return i, invalid("file", err.Error())
	}
	i.AccountID, i.Offset, i.Line = r.account.ID, layout.First, 1
	return i, nil
}

// reader reads the file from its beginning.
func (f *form) reader() io.Reader { return io.NewSectionReader(f.file, 0, f.file.Size()) }

// awaitImport waits a moment for the end of an import, and then answers how far it is. A
// repeated request gets the same answer.
func (s *Server) awaitImport(r *request, id string, rep reply) (reply, error) {
	until := time.Now().Add(importWait)
	for {
		i, err := find(s, r, func(rx *storage.Rx, r *request) (storage.ContactImport, error) {
			return rx.ContactImport(r.account.ID, id)
		})
		if err != nil {
			return rep, nil // it is accepted, whatever becomes of it
		}

		if i.Status != storage.ImportRunning || time.Now().After(until) {
			later := reply{status: http.StatusAccepted, data: ViewContactImport(i)}
			if r.idempotency != nil {
				err = s.DB.Update(r.http.Context(), func(tx *storage.Tx) error { return s.saveAnswer(tx, r, &later) })
			}
			if err != nil {
				return rep, nil
			}
			return later, nil
		}

		select {
		case <-r.http.Context().Done():
			return rep, nil
		case <-time.After(importPoll):
		}
	}
}

// getContactImport handles GET /v1/:phone_number_id/contact_imports/:id.
func (s *Server) getContactImport(r *request) (reply, error) {
	i, err := find(s, r, func(rx *storage.Rx, r *request) (storage.ContactImport, error) {
		return inPath(r, "id", storage.PrefixImport, r.account.ID, rx.ContactImport)
	})
	return ok(ViewContactImport(i)), err
}
