package callback

import (
	"strings"

	"confab/jobs"
	"confab/jobs/provider"
	"confab/storage"
)

// takeTemplate applies what the provider says about a template, in each account
// that shares it.
func (s *Server) takeTemplate(n provider.News) []step {
	u, err := provider.Read[provider.TemplateUpdate](n.Value)
	if err != nil {
		return s.keeping(n, "unreadable")
	}
	apply := templateMove(n.Field, u)
	if apply == nil {
		return s.keeping(n, "no effect")
	}
	return []step{func(tx *storage.Tx) error {
		all, err := tx.TemplatesAtProvider(n.WABA, string(u.ID), u.Name, jobs.TemplateLanguage(u.Language))
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return s.keep(whole(n), jobs.UnknownTemplate)(tx)
		}
		for _, t := range all {
			if err := apply(tx, t); err != nil {
				return err
			}
		}
		return nil
	}}
}

// templateMove is what news does to a template, nil for nothing.
func templateMove(field string, u provider.TemplateUpdate) func(*storage.Tx, storage.Template) error {
	switch {
	case field == "message_template_status_update" && u.Event != "":
		return func(tx *storage.Tx, t storage.Template) error {
			if err := tx.MarkTemplateReviewed(t.AccountID, t.ID); err != nil {
				return err
			}
			return changeTemplate(tx, t, jobs.Reviewed(t, u))
		}
	case field == "template_category_update" && u.PreviousCategory != "" && u.NewCategory != "":
		return func(tx *storage.Tx, t storage.Template) error {
			changed := t
			changed.Category = strings.ToUpper(u.NewCategory)
			return changeTemplate(tx, t, changed)
		}
	case field == "message_template_components_update":
		// The news tells only half of what there is now.
		return func(tx *storage.Tx, t storage.Template) error { return jobs.EnqueueAccountCheck(tx, t.AccountID) }
	}
	return nil
}

// changeTemplate stores a template that is not as it was. News that comes twice
// leaves its time alone.
func changeTemplate(tx *storage.Tx, before, after storage.Template) error {
	if after.ProviderStatus == before.ProviderStatus && after.Reason == before.Reason && after.Category == before.Category && after.ProviderTemplateID == before.ProviderTemplateID {
		return nil
	}
	return tx.UpdateTemplate(&after)
}
