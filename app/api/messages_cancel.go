package api

import (
	"confab/jobs"
	"confab/storage"
)

// cancelMessage handles DELETE /v1/:phone_number_id/messages/:id.
func (s *Server) cancelMessage(r *request) (reply, error) {
	m, err := s.messageIn(r)
	if err != nil {
		return reply{}, err
	}
	if m.Direction != storage.Outbound || !s.Calls.Cancel(m.ID) {
		return reply{}, errNotCancellable()
	}
	defer s.Calls.EndCancel(m.ID)

	return s.update(r, func(tx *storage.Tx) (reply, error) {
		m, err := tx.OutboundMessage(r.account.ID, m.ID)
		if err != nil {
			return reply{}, err
		}

		cancelled, err := jobs.CancelMessage(tx, &m)
		if err == nil && !cancelled {
			err = errNotCancellable()
		}
		return ok(s.viewMessage(m)), err
	})
}

func errNotCancellable() *Error {
	return fail(MessageNotCancellable, "Only an outbound message that is queued, and not being sent just now, can be cancelled.")
}
