package api

import (
	"errors"

	"confab/jobs"
	"confab/jobs/provider"
	"confab/storage"
)

// withTemplateSync runs a send. Should its template not be known here, the provider is
// asked for its templates, outside of the transaction, and the send runs again.
// That costs a send nothing whose template is known.
func (s *Server) withTemplateSync(r *request, run func() (reply, error)) (reply, error) {
	rep, err := run()
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != InvalidTemplateName {
		return rep, err
	}

	sender, failed := s.DB.Sender(r.http.Context(), r.account.ID)
	if failed != nil || sender.Status != storage.AccountConnected {
		return rep, err // nobody could be asked
	}

	if failed := s.Accounts.LookUpTemplates(r.http.Context(), r.account.ID); failed != nil {
		if _, theirs := errors.AsType[*provider.Error](failed); theirs || errors.Is(failed, jobs.ErrToken) {
			return reply{}, errProviderUnavailable(failed)
		}
		return reply{}, failed
	}

	return run()
}
