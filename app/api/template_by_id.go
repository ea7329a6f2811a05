package api

import (
	"errors"

	"confab/jobs/provider"
	"confab/storage"
)

// templateByID finds the template in the path, of whichever number of the organization.
func templateByID(rx *storage.Rx, r *request) (storage.Template, error) {
	return inPath(r, "id", storage.PrefixTemplate, r.org.ID, rx.TemplateByID)
}

// getTemplateByID handles GET /console/api/templates/:id.
func (s *Server) getTemplateByID(r *request) (reply, error) {
	return showFound(s, r, templateByID, showTemplate)
}

// deleteTemplate handles DELETE /console/api/templates/:id. The provider goes first: a
// template that it still had would come back with the next sync.
func (s *Server) deleteTemplate(r *request) (reply, error) {
	t, err := find(s, r, templateByID)
	if err != nil {
		return reply{}, err
	}

	r.detachContext()
	if err := s.deleteAtProvider(r, t); err != nil {
		return reply{}, err
	}

	return s.update(r, func(tx *storage.Tx) (reply, error) {
		return deleted("template", t.ID), ignoreNotFound(tx.DeleteTemplate(t.AccountID, t.ID))
	})
}

// deleteAtProvider deletes a template at the provider. One that was never there, or is
// there no longer, counts as deleted.
func (s *Server) deleteAtProvider(r *request, t storage.Template) error {
	if t.ProviderTemplateID == "" || t.ProviderStatus == templateDeleted {
		return nil
	}

	err := s.Accounts.DeleteTemplate(r.http.Context(), t)
	if hasSubcode(err, provider.SubcodeTemplateMissing) || errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return providerCallError(err, func(e *provider.Error) error {
		return &Error{Code: InvalidFieldValue, Message: "The provider does not delete the template: " + providerReason(e), cause: e}
	})
}
