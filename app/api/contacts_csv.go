package api

import (
	"confab/app/api/rest"
	"confab/jobs/contactsheet"
	"confab/storage"
)

// exportContacts handles GET /v1/:phone_number_id/contacts.csv. The contacts are gone over
// twice, because the header line names all keys of their metadata.
func (s *Server) exportContacts(r *rest.Request) (rest.Reply, error) {
	f, err := contactFilters(r)
	if err != nil {
		return rest.Reply{}, err
	}

	keys := make(contactsheet.Keys)
	err = s.eachContact(r, f, false, s.checkExport(r), func(c storage.Contact, _ []storage.AttachedLabel) (bool, error) {
		return keys.Add(c.Metadata), nil
	})
	if err != nil {
		return rest.Reply{}, err
	}

	return s.export(r, "contacts.csv", func(x *rest.Exchange, check func() error) error {
		w, err := contactsheet.NewWriter(x, keys)
		if err != nil {
			return err
		}
		err = s.eachContact(r, f, true, check, func(c storage.Contact, labels []storage.AttachedLabel) (bool, error) {
			return true, w.Write(c, labels)
		})
		if err != nil {
			return err
		}
		return w.Flush()
	})
}

// eachContact calls fn with all contacts that a filter leaves, newest first, until it
// wants no more. It reads page by page, and calls check before each.
func (s *Server) eachContact(
	r *rest.Request, f storage.ContactFilter, withLabels bool, check func() error,
	fn func(storage.Contact, []storage.AttachedLabel) (more bool, err error),
) error {
	for after := storage.First; after != storage.Last; {
		if err := check(); err != nil {
			return err
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
