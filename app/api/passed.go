package api

import (
	"encoding/json"
	"errors"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/jobs"
	"confab/storage"
)

// passedView is what is remembered of a message that was passed on.
type passedView struct {
	ID string `json:"id"`
}

// PassOn accepts a message that a client of the provider wrote, by the same steps as any other;
// only its content is the provider's to judge. The body is what the provider gets. A tag is the
// client's own. Before anybody can send the message, hold is called with its id.
func (s *Server) PassOn(
	r *rest.Request, out content.OutgoingMessage, body json.RawMessage, tag *string, hold func(string),
) (rest.Reply, error) {
	run := func() (rest.Reply, error) {
		return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
			m, err := s.acceptMessage(tx, r, out)
			if err != nil {
				return rest.Reply{}, err
			}

			kept := tag != nil || r.Idempotency != nil
			if kept {
				if err := tx.InsertGatewaySend(m, tag); err != nil {
					return rest.Reply{}, err
				}
			}
			hold(m.ID)
			return rest.OK(passedView{m.ID}), jobs.EnqueuePassed(tx, m, body, kept)
		})
	}

	rep, err := s.withTemplateSync(r, run)
	e, ok := errors.AsType[*rest.Error](err)
	if ok && out.Template != nil && (e.Code == rest.InvalidTemplateName || e.Code == rest.ProviderUnavailable) {
		out.AnyTemplate = true
		return run()
	}
	return rep, err
}

// CheckReceipt refuses a read receipt of a number that may not send one.
func (s *Server) CheckReceipt(r *rest.Request) error {
	return s.View(r, func(rx *storage.Rx) error { return checkReceiptAllowed(rx, r.Account.ID) })
}

// RecordRead records that a message was read, of which the provider was told. One that is not
// known here, or did not come in, changes nothing.
func (s *Server) RecordRead(r *rest.Request, providerID string) error {
	unread, err := s.unreadAfter(r, providerID)
	if err == nil {
		err = s.DB.Update(r.HTTP.Context(), func(tx *storage.Tx) error {
			m, err := tx.MessageByProviderID(r.Account.ID, providerID)
			if err != nil {
				return err
			}
			return tx.MarkRead(&m, unread)
		})
	}
	if err != nil && rest.AsError(err).Code == rest.ResourceNotFound {
		return nil
	}
	return err
}
