package api

import (
	"cmp"
	"encoding/csv"
	"fmt"

	"confab/app/api/rest"
	"confab/jobs/contactsheet"
	"confab/storage"
)

type recipientView struct {
	To            *string        `json:"to"`
	ContactID     *string        `json:"contact_id"`
	Status        string         `json:"status"`
	MessageID     *string        `json:"message_id"`
	Error         *sendErrorView `json:"error"`
	SkippedReason *string        `json:"skipped_reason"`
}

func viewRecipient(r storage.BroadcastRecipient) recipientView {
	v := recipientView{To: r.PhoneNumber, ContactID: r.ContactID, Status: r.Status.String(), MessageID: r.MessageID}
	switch {
	case r.Status == storage.RecipientSkipped:
		v.SkippedReason = r.Reason
	case r.Reason != nil:
		v.Error = &sendErrorView{Code: *r.Reason, Message: storage.OrEmpty(r.Error), ProviderCode: r.Code}
	}
	return v
}

// recipientStatus reads the filter of a list of recipients.
func recipientStatus(r *rest.Request) (string, error) {
	f := rest.Filters{Values: r.Query()}
	status := f.OneOf("status", storage.RecipientStates()...)
	return status, f.Err
}

// listBroadcastRecipients handles GET /v1/:phone_number_id/broadcasts/:id/recipients.
func (s *Server) listBroadcastRecipients(r *rest.Request) (rest.Reply, error) {
	status, err := recipientStatus(r)
	return rest.ListOf(s.Server, r, rest.Lister[storage.BroadcastRecipient, recipientView]{
		Scope: fmt.Sprintf("recipients %s %q", r.Param("id"), status),
		Err:   err,
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.BroadcastRecipient, storage.After, error) {
			rows, reached, err := recipientsAfter(rx, r, status, rest.NumberOf(q.After), q.Fetch())
			return rows, storage.After{Key: storage.Time(reached)}, err
		},
		Key:  func(r storage.BroadcastRecipient) storage.After { return storage.After{Key: storage.Time(r.Number)} },
		View: viewRecipient,
	})
}

var recipientColumns = []string{"to", "contact_id", "status", "message_id", "error", "skipped_reason"}

// exportBroadcastRecipients handles GET /v1/:phone_number_id/broadcasts/:id/recipients.csv.
func (s *Server) exportBroadcastRecipients(r *rest.Request) (rest.Reply, error) {
	status, err := recipientStatus(r)
	if err != nil {
		return rest.Reply{}, err
	}

	return s.export(r, "recipients-"+r.Param("id")+".csv", func(x *rest.Exchange, check func() error) error {
		out := csv.NewWriter(x)
		_ = out.Write(recipientColumns)
		for after := int64(0); ; {
			var rows []storage.BroadcastRecipient
			var reached int64
			err := s.List(r, func(rx *storage.Rx) (err error) {
				rows, reached, err = recipientsAfter(rx, r, status, after, exportBatch)
				return err
			})
			if err := cmp.Or(err, check()); err != nil {
				return err
			}
			for _, row := range rows {
				_ = out.Write(recipientCells(viewRecipient(row)))
				after = row.Number
			}

			after = max(after, reached)
			if out.Flush(); out.Error() != nil || len(rows) < exportBatch && reached == 0 {
				return out.Error()
			}
		}
	})
}

func recipientsAfter(
	rx *storage.Rx, r *rest.Request, status string, after int64, limit int,
) (rows []storage.BroadcastRecipient, reached int64, err error) {
	b, err := BroadcastIn(rx, r)
	if err != nil {
		return nil, 0, err
	}
	return rx.BroadcastRecipients(b, status, after, limit)
}

func recipientCells(v recipientView) []string {
	code := ""
	if v.Error != nil {
		code = v.Error.Code
	}
	to := storage.OrEmpty(v.To)
	if v.Status == storage.RecipientSkipped.String() && !rest.IsPhone(to) {
		to = contactsheet.Guard(to)
	}
	reason := contactsheet.Guard(storage.OrEmpty(v.SkippedReason))
	return []string{to, storage.OrEmpty(v.ContactID), v.Status, storage.OrEmpty(v.MessageID), contactsheet.Guard(code), reason}
}
