package callback

import (
	"strings"
	"time"

	"confab/jobs"
	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/storage"
)

// latestSecond is the end of the year 9999: no later time can be written.
const latestSecond = 253402300800

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
	return []piece{{item: wholeChange(n), apply: applyToAll(find, apply, s.keepRaw(wholeChange(n), provisioning.UnknownTemplate))}}
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
			changed.CategoryChangeTo, changed.CategoryChangeAt = "", 0
			return updateIfChanged(tx, t, changed)
		}

	case field == "template_category_update" && u.PreviousCategory == "" && u.CorrectCategory != "":
		return func(tx *storage.Tx, t storage.Template) error { return announceCategory(tx, t, u) }

	case field == "message_template_components_update":
		// The callback has only a part of the components, so that the job reads
		// the templates from the provider.
		return func(tx *storage.Tx, t storage.Template) error { return jobs.EnqueueAccountCheck(tx, t.AccountID) }
	}
	return nil
}

// announceCategory stores a change of category that is to come, and emits
// template.category_changing, once.
func announceCategory(tx *storage.Tx, t storage.Template, u provider.TemplateUpdate) error {
	to, at := strings.ToUpper(u.CorrectCategory), storage.Time(0)
	if seconds := int64(u.CategoryUpdateAt); 0 < seconds && seconds < latestSecond {
		at = storage.At(time.Unix(seconds, 0))
	}
	if t.Category == to || t.CategoryChangeTo == to && t.CategoryChangeAt == at {
		return nil
	}

	t.CategoryChangeTo, t.CategoryChangeAt = to, at
	if err := tx.UpdateTemplate(&t); err != nil {
		return err
	}
	account, err := tx.AccountDetail(t.AccountID)
	if err != nil {
		return err
	}
	return event.TemplateCategoryChanging(messaging.SubjectOf(account.Account), t).Emit(tx)
}

// updateIfChanged stores a template, unless it is as before: a callback that comes
// twice must not change the time of the last update.
func updateIfChanged(tx *storage.Tx, before, after storage.Template) error {
	if after.ProviderStatus == before.ProviderStatus && after.Reason == before.Reason &&
		after.Category == before.Category && after.ProviderTemplateID == before.ProviderTemplateID &&
		after.CategoryChangeTo == before.CategoryChangeTo {
		return nil
	}
	return tx.UpdateTemplate(&after)
}
