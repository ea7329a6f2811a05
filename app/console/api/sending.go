package api

import (
	"errors"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/jobs/errorcode"
	"confab/jobs/messaging"
	"confab/storage"
)

// sendingView says whether anything can be sent from a number: the error that any send would
// get now, or none; and which one a template would get to a contact, and one of marketing.
type sendingView struct {
	Refusal   *messaging.Refusal `json:"refusal"`
	Template  *messaging.Refusal `json:"template"`
	Marketing *messaging.Refusal `json:"marketing"`
}

// getSending handles GET /console/api/:phone_number_id/sending, so that people know before they
// write: to anybody, or to the contact in contact_id.
func (s *Server) getSending(r *rest.Request) (rest.Reply, error) {
	var view sendingView
	err := s.DB.View(r.HTTP.Context(), func(rx *storage.Rx) error {
		sender, err := rx.Sender(r.Account.ID)
		if err != nil {
			return err
		}
		if id := r.Query().Get("contact_id"); id != "" {
			to, err := rx.Contact(r.Account.ID, id)
			if err != nil {
				return err
			}
			view.Template = messaging.RefusalFor(sender, to, false)
			view.Marketing = messaging.RefusalFor(sender, to, true)
		}
		return api.CheckSender(r, sender, func() (int64, error) { return rx.StoredUsage(r.Org.ID, s.DB.Now()) })
	})

	if e, ok := errors.AsType[*rest.Error](err); ok {
		view.Refusal, err = &messaging.Refusal{Code: errorcode.Code(e.Code.Name), Text: e.Message}, nil
	}
	return rest.OK(view), err
}
