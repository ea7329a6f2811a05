package provisioning

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"confab/jobs/provider"
	"confab/storage"
)

// templateBatch bounds the templates of one transaction.
const templateBatch = 100

// templateStatus is our word for the provider's status of a template.
func templateStatus(theirs string) string {
	switch theirs {
	case "APPROVED", "FLAGGED", "REINSTATED":
		return storage.TemplateApproved
	case "PENDING", "IN_APPEAL", "PENDING_DELETION":
		return storage.TemplatePending
	default:
		return storage.TemplateRejected
	}
}

// TemplateLanguage is a language code in the form of most of the provider's
// answers, en_US. Its callbacks also have en-US.
func TemplateLanguage(code string) string { return strings.ReplaceAll(code, "-", "_") }

// templateReason is why a template is not approved. The provider writes NONE for no
// reason.
func templateReason(theirs string) string {
	if theirs == "NONE" {
		return ""
	}
	return theirs
}

// TemplateContent is the text of a template's body.
func TemplateContent(components []byte) string {
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(components, &parts) != nil {
		return ""
	}

	for _, p := range parts {
		if strings.EqualFold(p.Type, "BODY") {
			return p.Text
		}
	}
	return ""
}

// templateOf is the row of a template of the provider.
func templateOf(account int64, t provider.Template) storage.Template {
	components := storage.JSON(t.Components)
	if components == nil {
		components = storage.JSON("[]")
	}

	format := "POSITIONAL"
	if strings.EqualFold(t.ParameterFormat, "NAMED") {
		format = "NAMED"
	}

	return storage.Template{
		AccountID:          account,
		Name:               t.Name,
		Language:           TemplateLanguage(t.Language),
		Status:             templateStatus(t.Status),
		ProviderStatus:     t.Status,
		ProviderTemplateID: string(t.ID),
		Category:           strings.ToUpper(t.Category),
		ParameterFormat:    format,
		Content:            TemplateContent(components),
		Components:         components,
		Reason:             templateReason(t.RejectedReason),
	}
}

// UnknownTemplate is the reason for which a callback about a template that is not
// known here is stored unprocessed.
const UnknownTemplate = "unknown template"

// reviewField is the field of callbacks about reviews.
const reviewField = "message_template_status_update"

// ApplyReview returns a template as it is after a callback about its review.
func ApplyReview(t storage.Template, u provider.TemplateUpdate) storage.Template {
	t.ProviderStatus, t.Status = u.Event, templateStatus(u.Event)
	t.Reason = cmp.Or(templateReason(u.Reason), u.Other.Title)
	t.Category = cmp.Or(strings.ToUpper(u.Category), t.Category)
	t.ProviderTemplateID = cmp.Or(string(u.ID), t.ProviderTemplateID)
	if t.Category == t.CategoryChangeTo {
		t.CategoryChangeTo, t.CategoryChangeAt = "", 0 // it has come
	}
	return t
}

// ApplyEarlyReviews applies the callbacks about a template's review that came before the
// template was stored: a review may take no time.
func ApplyEarlyReviews(rx *storage.Rx, t storage.Template, since storage.Time) (storage.Template, error) {
	early, err := rx.RawCallbacksSince(since, reviewField, UnknownTemplate)
	for _, c := range early {
		u, unreadable := provider.Read[provider.TemplateUpdate](c.Payload)
		if unreadable == nil && string(u.ID) == t.ProviderTemplateID {
			t = ApplyReview(t, u)
		}
	}
	return t, err
}

// TemplateSync is the difference between an account's templates here and at the
// provider.
type TemplateSync struct {
	Created, Updated, Deleted int
	Synced                    int // templates that the provider has

	account int64
	changes []func(*storage.Tx) error // that are not stored yet
}

// CompareTemplates compares an account's templates with the provider's. The changes
// are written by Store; of many changes, all but the last batch are written here,
// so that no transaction gets long.
//
// Ours are read first, so that a template that is created meanwhile does not look
// as if the provider had deleted it.
func (a *Accounts) CompareTemplates(ctx context.Context, account int64) (*TemplateSync, error) {
	c, err := a.credentials(ctx, account)
	if err != nil {
		return nil, err
	}

	ours, err := storage.Query(ctx, a.db, func(rx *storage.Rx) ([]storage.Template, error) { return rx.AllTemplates(account) })
	if err != nil {
		return nil, err
	}

	theirs, err := a.provider.Templates(ctx, c.token, storage.OrEmpty(c.WABAID), "")
	if err != nil {
		return nil, a.recordRefusal(ctx, account, err, true)
	}
	s := &TemplateSync{account: account}
	s.compare(ours, theirs)

	for len(s.changes) > templateBatch {
		batch := s.changes[:templateBatch]
		if err := a.db.Update(ctx, func(tx *storage.Tx) error { return applyChanges(tx, batch) }); err != nil {
			return nil, err
		}
		s.changes = s.changes[templateBatch:]
	}
	return s, nil
}

// compare finds the templates that are new, different or deleted. The provider may
// list one twice; the first counts.
func (s *TemplateSync) compare(ours []storage.Template, theirs []provider.Template) {
	type key struct{ name, language string }
	left := make(map[key]storage.Template, len(ours))
	for _, t := range ours {
		left[key{t.Name, t.Language}] = t
	}

	seen := make(map[key]bool)
	for _, found := range theirs {
		t := templateOf(s.account, found)
		k := key{t.Name, t.Language}
		if seen[k] {
			continue
		}
		seen[k] = true
		s.Synced++

		old, known := left[k]
		delete(left, k)
		switch {
		case !known:
			s.Created++
		case !sameTemplate(old, t):
			s.Updated++
		default:
			continue
		}
		s.changes = append(s.changes, func(tx *storage.Tx) error { return saveTemplate(tx, old, t) })
	}

	for _, gone := range left {
		s.Deleted++
		s.changes = append(s.changes, func(tx *storage.Tx) error { return storage.IgnoreNotFound(tx.DeleteTemplate(s.account, gone.ID)) })
	}
}

// Store writes the changes that are not written yet.
func (s *TemplateSync) Store(tx *storage.Tx) error {
	if err := applyChanges(tx, s.changes); err != nil {
		return err
	}
	return storage.IgnoreNotFound(tx.MarkTemplatesSynced(s.account))
}

func applyChanges(tx *storage.Tx, changes []func(*storage.Tx) error) error {
	for _, change := range changes {
		if err := change(tx); err != nil {
			return err
		}
	}
	return nil
}

// saveTemplate stores the provider's template t under our id. before is our row as
// it was when the provider was asked: a row that has changed since then, by a
// callback or an edit, is newer than t and left alone.
func saveTemplate(tx *storage.Tx, before, t storage.Template) error {
	now, err := tx.Template(t.AccountID, t.Name, t.Language)
	switch {
	case storage.IgnoreNotFound(err) != nil:
		return err
	case err != nil:
		return tx.InsertTemplate(&t)
	case now.ID != before.ID, now.UpdatedAt != before.UpdatedAt, now.ReviewedAt != before.ReviewedAt:
		return nil
	}

	t.ID, t.CreatedAt = now.ID, now.CreatedAt
	if t.Category != now.CategoryChangeTo {
		t.CategoryChangeTo, t.CategoryChangeAt = now.CategoryChangeTo, now.CategoryChangeAt
	}
	return tx.UpdateTemplate(&t)
}

// sameTemplate reports whether a row and a template of the provider are equal, apart
// from what only the row has.
func sameTemplate(old, found storage.Template) bool {
	found.ID, found.ReviewedAt, found.CreatedAt, found.UpdatedAt = old.ID, old.ReviewedAt, old.CreatedAt, old.UpdatedAt
	found.CategoryChangeTo, found.CategoryChangeAt = old.CategoryChangeTo, old.CategoryChangeAt
	if old.Components.Equal(found.Components) {
		found.Components = old.Components
	}
	return reflect.DeepEqual(old, found)
}

// FindTemplate reads one template from the provider. The error is
// storage.ErrNotFound if there is none.
func (a *Accounts) FindTemplate(ctx context.Context, account int64, name, language string) (found storage.Template, err error) {
	err = a.manage(ctx, account, func(c credentials) error {
		all, err := a.provider.Templates(ctx, c.token, storage.OrEmpty(c.WABAID), name)
		if err != nil {
			return err
		}
		for _, t := range all {
			if t.Name == name && TemplateLanguage(t.Language) == language {
				found = templateOf(account, t)
				return nil
			}
		}
		return storage.ErrNotFound
	})
	return found, err
}

// CreateTemplate submits a template for review, and returns it with the id, the
// status and the category that the provider gave it.
func (a *Accounts) CreateTemplate(ctx context.Context, t storage.Template, body []byte) (storage.Template, error) {
	err := a.manage(ctx, t.AccountID, func(c credentials) error {
		made, err := a.provider.CreateTemplate(ctx, c.token, storage.OrEmpty(c.WABAID), body)
		if err != nil {
			return err
		}
		t.ProviderTemplateID, t.ProviderStatus = string(made.ID), cmp.Or(made.Status, "PENDING")
		t.Status, t.Category = templateStatus(t.ProviderStatus), cmp.Or(strings.ToUpper(made.Category), t.Category)
		return nil
	})
	return t, err
}

// EditTemplate edits a template at the provider, which reviews it again.
func (a *Accounts) EditTemplate(ctx context.Context, t storage.Template, body []byte) error {
	return a.manage(ctx, t.AccountID, func(c credentials) error {
		return a.provider.EditTemplate(ctx, c.token, t.ProviderTemplateID, body)
	})
}

// DeleteTemplate deletes a template at the provider, in its language only.
func (a *Accounts) DeleteTemplate(ctx context.Context, t storage.Template) error {
	return a.manage(ctx, t.AccountID, func(c credentials) error {
		return a.provider.DeleteTemplate(ctx, c.token, storage.OrEmpty(c.WABAID), t.Name, t.ProviderTemplateID)
	})
}

// UploadExample uploads an example file for a template's header and returns its
// handle.
func (a *Accounts) UploadExample(ctx context.Context, account int64, f provider.File) (handle string, err error) {
	err = a.manage(ctx, account, func(c credentials) (err error) {
		handle, err = a.provider.UploadHandle(ctx, c.token, f)
		return err
	})
	return handle, err
}
