package api

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"net/http"

	"confab/jobs/contactsheet"
	"confab/storage"
)

// recipientView is the public shape of a recipient.
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

// recipientStatus reads the filter of a list of recipients, if the broadcast in the path
// exists.
func (s *Server) recipientStatus(r *request) (string, error) {
	if _, err := find(s, r, broadcastIn); err != nil {
		return "", err
	}
	f := filters{values: r.query()}
	status := f.oneOf("status", storage.RecipientStates()...)
	return status, f.err
}

// listBroadcastRecipients handles GET /v1/:phone_number_id/broadcasts/:id/recipients.
func (s *Server) listBroadcastRecipients(r *request) (reply, error) {
	status, err := s.recipientStatus(r)
	if err != nil {
		return reply{}, err
	}

	return listOf(s, r, lister[storage.BroadcastRecipient, recipientView]{
		scope: fmt.Sprintf("recipients %s %q", r.param("id"), status),
		read: func(rx *storage.Rx, q *listQuery) (rows []storage.BroadcastRecipient, _ storage.After, err error) {
			var reached int64
			b, err := broadcastIn(rx, r)
			if err == nil {
				rows, reached, err = rx.BroadcastRecipients(b, status, numberOf(q.after), q.fetch())
			}
			return rows, storage.After{Key: storage.Time(reached)}, err
		},
		key:  func(r storage.BroadcastRecipient) storage.After { return storage.After{Key: storage.Time(r.Number)} },
		view: viewRecipient,
	})
}

// recipientColumns are the columns of recipients.csv.
var recipientColumns = []string{"to", "contact_id", "status", "message_id", "error", "skipped_reason"}

// exportedAtOnce is how many recipients are read at once for a file.
const exportedAtOnce = 1000

// exportBroadcastRecipients handles GET /v1/:phone_number_id/broadcasts/:id/recipients.csv.
func (s *Server) exportBroadcastRecipients(r *request) (reply, error) {
	status, err := s.recipientStatus(r)
	return reply{stream: func(x *exchange) { s.sendRecipients(x, status) }}, err
}

// sendRecipients writes the file in pages, each of which is read by itself: so memory stays
// small, and no snapshot is held for long. If one cannot be read, the connection is closed,
// so that nobody takes a part for the whole.
func (s *Server) sendRecipients(x *exchange, status string) {
	r := x.request
	h := x.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="recipients-`+r.param("id")+`.csv"`)
	h["X-Content-Type-Options"] = noSniff
	x.WriteHeader(http.StatusOK)
	if r.http.Method == http.MethodHead {
		return
	}
	_ = http.NewResponseController(x).Flush() // its length is not known

	buffered := bufio.NewWriter(x)
	out := csv.NewWriter(buffered)
	_ = out.Write(recipientColumns)
	for after := int64(0); ; {
		rows, reached, err := s.recipientsAfter(r, status, after)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		for _, row := range rows {
			_ = out.Write(recipientCells(viewRecipient(row)))
			after = row.Number
		}

		after = max(after, reached)
		if out.Flush(); out.Error() != nil || len(rows) < exportedAtOnce && reached == 0 {
			break
		}
	}
	_ = buffered.Flush()
}

func (s *Server) recipientsAfter(r *request, status string, after int64) (rows []storage.BroadcastRecipient, reached int64, err error) {
	err = s.list(r, func(rx *storage.Rx) error {
		b, err := broadcastIn(rx, r)
		if err == nil {
			rows, reached, err = rx.BroadcastRecipients(b, status, after, exportedAtOnce)
		}
		return err
	})
	return rows, reached, err
}

// recipientCells are the cells of a recipient.
func recipientCells(v recipientView) []string {
	code := ""
	if v.Error != nil {
		code = v.Error.Code
	}
	to := storage.OrEmpty(v.To)
	if v.Status == storage.RecipientSkipped.String() {
		to = guardPhone(to)
	}
	reason := contactsheet.Guard(storage.OrEmpty(v.SkippedReason))
	return []string{to, storage.OrEmpty(v.ContactID), v.Status, storage.OrEmpty(v.MessageID), contactsheet.Guard(code), reason}
}

// guardPhone is contactsheet.Guard for what should be a number: one that is, is written as it is.
func guardPhone(cell string) string {
	if isPhone(cell) {
		return cell
	}
	return contactsheet.Guard(cell)
}
