package api

import (
	"errors"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/storage"
)

// sendingView says whether anything can be sent from a number: the error that any send would
// get now, or none.
type sendingView struct {
	Refusal *refusalView `json:"refusal"`
}

type refusalView struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// getSending handles GET /console/api/:phone_number_id/sending, so that people know before they
// write.
func (s *Server) getSending(r *rest.Request) (rest.Reply, error) {
	refused := s.DB.View(r.HTTP.Context(), func(rx *storage.Rx) error {
		sender, err := rx.Sender(r.Account.ID)
		if err != nil {
			return err
		}
		return api.CheckSender(r, sender, func() (int64, error) { return rx.StoredUsage(r.Org.ID, s.DB.Now()) })
	})

	if e, ok := errors.AsType[*rest.Error](refused); ok {
		return rest.OK(sendingView{&refusalView{Code: e.Code.Name, Message: e.Message}}), nil
	}
	return rest.OK(sendingView{}), refused
}
