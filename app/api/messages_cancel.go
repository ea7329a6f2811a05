package api

import (
	"confab/app/api/rest"
	"confab/jobs"
	"confab/storage"
)

// cancelMessage handles DELETE /v1/:phone_number_id/messages/:id.
func (s *Server) cancelMessage(r *rest.Request) (rest.Reply, error) {
	m, err := s.messageIn(r)
	if err != nil {
		return rest.Reply{}, err
	}
	if m.Direction != storage.Outbound || !s.Calls.Cancel(m.ID) {
		return rest.Reply{}, errNotCancellable()
	}
	defer s.Calls.EndCancel(m.ID)

	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		m, err := tx.OutboundMessage(r.Account.ID, m.ID)
		if err != nil {
			return rest.Reply{}, err
		}

		cancelled, err := jobs.CancelMessage(tx, &m)
		if err == nil && !cancelled {
			err = errNotCancellable()
		}
		return rest.OK(s.viewMessage(m)), err
	})
}

func errNotCancellable() *rest.Error {
	return rest.Fail(rest.MessageNotCancellable, "Only a queued outbound message that is not being sent right now can be cancelled.")
}
