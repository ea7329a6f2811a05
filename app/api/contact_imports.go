package api

import (
	"errors"
	"net/http"
	"time"

	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/contactsheet"
	"confab/storage"
)

// importWait is how long a request waits for the end of its import, and importPoll how often it looks.
const importWait, importPoll = 2 * time.Second, 20 * time.Millisecond

// ContactImportView is the public shape of an import, on the command line too.
type ContactImportView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	storage.ContactImport
}

// ViewContactImport shows an import.
func ViewContactImport(i storage.ContactImport) ContactImportView {
	return ContactImportView{i.ID, "contact_import", i}
}

// importContacts handles POST /v1/:phone_number_id/contact_imports. The file is durable
// before the row of its import; one without a row is removed later.
func (s *Server) importContacts(r *rest.Request) (rest.Reply, error) {
	i, err := newContactImport(r)
	if err != nil {
		return rest.Reply{}, err
	}
	if i.LabelID != nil {
		err := s.View(r, func(rx *storage.Rx) error {
			_, err := labelToAttach(rx, r.Account, *i.LabelID)
			return err
		})
		if err != nil {
			return rest.Reply{}, err
		}
	}

	i.ID = s.DB.NewID(storage.PrefixImport)
	if err := s.Imports.Save(i.ID, r.Form.File.Reader()); err != nil {
		return rest.Reply{}, err
	}
	rep, err := s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		stored := i
		if err := tx.InsertContactImport(&stored); err != nil {
			return rest.Reply{}, err
		}
		rep := rest.Accepted(ViewContactImport(stored))
		rep.Unchanged = i.DryRun
		return rep, jobs.EnqueueContactImport(tx, stored)
	})
	if err != nil {
		return rest.Reply{}, errors.Join(err, s.Imports.Remove(i.ID))
	}
	return s.awaitImport(r, i.ID, rep)
}

func newContactImport(r *rest.Request) (i storage.ContactImport, err error) {
	if err := r.Form.CheckFiles("file"); err != nil {
		return i, err
	}

	dryRun, given := r.Form.Fields["dry_run"]
	if given && dryRun != "true" && dryRun != "false" {
		return i, rest.Invalid("dry_run", "must be true or false")
	}
	i.DryRun = dryRun == "true"
	if label, given := r.Form.Fields["label_id"]; given {
		i.LabelID = &label
		if err := checkLabelID("label_id", i.LabelID); err != nil {
			return i, err
		}
	}

	layout, err := contactsheet.ReadLayout(r.Form.File.Reader())
	if err != nil {
		return i, rest.Invalid("file", err.Error())
	}
	i.AccountID, i.Offset, i.Line = r.Account.ID, layout.First, 1
	return i, nil
}

// awaitImport waits a moment for the end of an import, and then answers how far it is. A
// repeated request gets the same answer.
func (s *Server) awaitImport(r *rest.Request, id string, rep rest.Reply) (rest.Reply, error) {
	until := time.Now().Add(importWait)
	for {
		i, err := rest.Query(s.Server, r, func(rx *storage.Rx) (storage.ContactImport, error) { return rx.ContactImport(r.Account.ID, id) })
		if err != nil {
			return rep, nil // it is accepted, even if it fails later
		}

		if i.Status != storage.ImportRunning || time.Now().After(until) {
			later := rest.Reply{Status: http.StatusAccepted, Data: ViewContactImport(i)}
			if r.Idempotency != nil {
				err = s.DB.Update(r.HTTP.Context(), func(tx *storage.Tx) error { return s.SaveAnswer(tx, r, &later) })
			}
			if err != nil {
				return rep, nil
			}
			return later, nil
		}

		select {
		case <-r.HTTP.Context().Done():
			return rep, nil
		case <-time.After(importPoll):
		}
	}
}

var contactImportIn = rest.OfNumber(storage.PrefixImport, (*storage.Rx).ContactImport)
