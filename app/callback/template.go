package callback

import (
	"strings"

	"confab/jobs"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/storage"
)

// prepareTemplate reads a change of a template. It applies to every account of the
// business account, because they share their templates.
func (s *Server) prepareTemplate(n provider.CallbackChange) []piece {
	u, err := provider.Read[provider.TemplateUpdate](n.Value)
	if err != nil {
		return s.keepChange(n, "unreadable")
	}

	apply := templateChangeFor(n.Field, u)
	if apply == nil {
		return s.keepChange(n, "no effect")
	}

	find := func(tx *storage.Tx) ([]storage.Template, error) {
		return tx.TemplatesAtProvider(n.WABA, string(u.ID), u.Name, provisioning.TemplateLanguage(u.Language))
	}
	return []piece{{wholeChange(n), applyToAll(find, apply, s.keepRaw(wholeChange(n), provisioning.UnknownTemplate))}}
}

// applyToAll returns the step that applies a change to all rows that it is about. If there
// are none, the change is kept.
func applyToAll[T any](find func(*storage.Tx) ([]T, error), apply func(*storage.Tx, T) error, keep step) step {
	return func(tx *storage.Tx) error {
		all, err := find(tx)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return keep(tx)
		}

		for _, one := range all {
			if err := apply(tx, one); err != nil {
				return err
			}
		}
		return nil
	}
}

// templateChangeFor returns what an update does to a template, or nil if nothing.
func templateChangeFor(field string, u provider.TemplateUpdate) func(*storage.Tx, storage.Template) error {
	switch {
	case field == "message_template_status_update" && u.Event != "":
		return func(tx *storage.Tx, t storage.Template) error {
			if err := tx.MarkTemplateReviewed(t.AccountID, t.ID); err != nil {
				return err
			}
			return updateIfChanged(tx, t, provisioning.ApplyReview(t, u))
		}

	case field == "template_category_update" && u.PreviousCategory != "" && u.NewCategory != "":
		return func(tx *storage.Tx, t storage.Template) error {
			changed := t
			changed.Category = strings.ToUpper(u.NewCategory)
			return updateIfChanged(tx, t, changed)
		}

	case field == "message_template_components_update":
		// The callback has only a part of the components, so that the job reads
		// the templates from the provider.
		return func(tx *storage.Tx, t storage.Template) error { return jobs.EnqueueAccountCheck(tx, t.AccountID) }
	}
	return nil
}

// updateIfChanged stores a template, unless it is as before: a callback that comes
// twice must not change the time of the last update.
func updateIfChanged(tx *storage.Tx, before, after storage.Template) error {
	if after.ProviderStatus == before.ProviderStatus && after.Reason == before.Reason &&
		after.Category == before.Category && after.ProviderTemplateID == before.ProviderTemplateID {
		return nil
	}
	return tx.UpdateTemplate(&after)
}
