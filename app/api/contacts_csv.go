package api

import (
	"net/http"
	"time"

	"confab/app/api/rest"
	"confab/jobs/contactsheet"
	"confab/storage"
)

// exportBatch is how many contacts of an export are read at once. Each read is a snapshot
// of its own, so that a long export does not keep the log of writes from being shortened.
const exportBatch = 500

// exportContacts handles GET /v1/:phone_number_id/contacts.csv. The contacts are gone over
// twice, because the header line names all keys of their metadata.
func (s *Server) exportContacts(r *rest.Request) (rest.Reply, error) {
	f, err := contactFilters(r)
	if err != nil {
		return rest.Reply{}, err
	}

	if err := s.auditExport(r); err != nil {
		return rest.Reply{}, err
	}

	keys := make(contactsheet.Keys)
	err = s.eachContact(r, f, false, func(c storage.Contact, _ []storage.AttachedLabel) (bool, error) {
		return keys.Add(c.Metadata), nil
	})
	return rest.Reply{Stream: func(x *rest.Exchange) { s.streamContacts(x, f, keys) }}, err
}

// streamContacts writes an export. When it cannot go on, it cuts the connection, so that
// the client does not take a part for the whole.
func (s *Server) streamContacts(x *rest.Exchange, f storage.ContactFilter, keys contactsheet.Keys) {
	if !beginExport(x, "contacts.csv") {
		return
	}
	control, written := http.NewResponseController(x.ResponseWriter), 0

	w, err := contactsheet.NewWriter(x, keys)
	if err == nil {
		err = s.eachContact(x.Request, f, true, func(c storage.Contact, labels []storage.AttachedLabel) (bool, error) {
			if written++; written%exportBatch == 1 { // the whole may take longer than any answer
				_ = control.SetWriteDeadline(time.Now().Add(rest.UploadTime))
			}
			return true, w.Write(c, labels)
		})
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		x.Failure = err
		panic(http.ErrAbortHandler)
	}
}

// eachContact calls fn with all contacts that a filter leaves, newest first, until it
// wants no more. It reads page by page, as long as the caller may have them.
func (s *Server) eachContact(
	r *rest.Request, f storage.ContactFilter, withLabels bool, fn func(storage.Contact, []storage.AttachedLabel) (more bool, err error),
) error {
	mayGoOn := s.mayGoOn(r)
	for after := storage.First; after != storage.Last; {
		if !mayGoOn(r.HTTP.Context()) {
			return errExportEnded()
		}

		var rows []storage.Contact
		var labels map[string][]storage.AttachedLabel
		next := after
		err := s.List(r, func(rx *storage.Rx) (err error) { // perhaps more than once, from the same place
			budget := storage.NewBudget(rest.MaxPage)
			if rows, next, err = rx.Within(budget).Contacts(r.Account.ID, f, after, exportBatch); err != nil {
				return err
			}
			if n := len(rows); n == exportBatch || budget.Cut() {
				next = storage.After{Key: rows[n-1].CreatedAt, ID: rows[n-1].ID}
			}
			if withLabels {
				labels, err = rx.ContactLabels(idsOf(rows)...)
			}
			return err
		})
		if err != nil {
			return err
		}

		after = next
		for _, c := range rows {
			if more, err := fn(c, labels[c.ID]); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

func idsOf(contacts []storage.Contact) []string {
	ids := make([]string, len(contacts))
	for i, c := range contacts {
		ids[i] = c.ID
	}
	return ids
}
