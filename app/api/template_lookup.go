package api

import (
	"errors"

	"confab/app/api/rest"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/storage"
)

// withTemplateSync runs a send. If its template is unknown, the provider's templates
// are synchronized, outside of the transaction, and the send runs once more. A send
// whose template is known costs nothing extra.
func (s *Server) withTemplateSync(r *rest.Request, run func() (rest.Reply, error)) (rest.Reply, error) {
	rep, err := run()
	if e, ok := errors.AsType[*rest.Error](err); !ok || e.Code != rest.InvalidTemplateName {
		return rep, err
	}

	sender, failed := s.DB.Sender(r.HTTP.Context(), r.Account.ID)
	if failed != nil || sender.Status != storage.AccountConnected {
		return rep, err // without a connection there is nothing to synchronize
	}

	if failed := s.Accounts.SyncTemplatesOnce(r.HTTP.Context(), r.Account.ID); failed != nil {
		if _, theirs := errors.AsType[*provider.Error](failed); theirs || errors.Is(failed, provisioning.ErrTokenUnreadable) {
			return rest.Reply{}, errProviderUnavailable(failed)
		}
		return rest.Reply{}, failed
	}

	return run()
}
