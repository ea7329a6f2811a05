package api

import (
	"errors"

	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/storage"
)

// withTemplateSync runs a send. If its template is unknown, the provider's templates
// are synchronized, outside of the transaction, and the send runs once more. A send
// whose template is known costs nothing extra.
func (s *Server) withTemplateSync(r *request, run func() (reply, error)) (reply, error) {
	rep, err := run()
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != InvalidTemplateName {
		return rep, err
	}

	sender, failed := s.DB.Sender(r.http.Context(), r.account.ID)
	if failed != nil || sender.Status != storage.AccountConnected {
		return rep, err // without a connection there is nothing to synchronize
	}

	if failed := s.Accounts.SyncTemplatesOnce(r.http.Context(), r.account.ID); failed != nil {
		if _, theirs := errors.AsType[*provider.Error](failed); theirs || errors.Is(failed, provisioning.ErrTokenUnreadable) {
			return reply{}, errProviderUnavailable(failed)
		}
		return reply{}, failed
	}

	return run()
}
