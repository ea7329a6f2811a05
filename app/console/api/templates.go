package api

import (
	"errors"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/jobs/provider"
	"confab/storage"
)

// templateByID finds the template in the path, of any number of the organization.
var templateByID = rest.OfOrganization(storage.PrefixTemplate, (*storage.Rx).TemplateByID)

// deleteTemplate handles DELETE /console/api/templates/:id. The provider goes first: a
// template that it still had would come back with the next sync.
func (s *Server) deleteTemplate(r *rest.Request) (rest.Reply, error) {
	t, err := rest.Find(s.Server, r, templateByID)
	if err != nil {
		return rest.Reply{}, err
	}

	r.DetachContext()
	if err := s.deleteAtProvider(r, t); err != nil {
		return rest.Reply{}, err
	}

	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		return rest.Deleted("template", t.ID), storage.IgnoreNotFound(tx.DeleteTemplate(t.AccountID, t.ID))
	})
}

// deleteAtProvider deletes a template at the provider. One that was never there, or is
// there no longer, counts as deleted.
func (s *Server) deleteAtProvider(r *rest.Request, t storage.Template) error {
	if t.ProviderTemplateID == "" || t.ProviderStatus == api.TemplateDeleted {
		return nil
	}

	err := s.api.Accounts.DeleteTemplate(r.HTTP.Context(), t)
	if api.HasSubcode(err, provider.SubcodeTemplateMissing) || errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return api.ProviderCallError(err, func(e *provider.Error) error {
		return rest.Fail(rest.InvalidFieldValue, "The provider did not delete the template: "+api.ProviderReason(e)).Because(e)
	})
}
