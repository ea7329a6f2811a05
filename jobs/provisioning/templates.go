package provisioning

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"confab/jobs/provider"
	"confab/storage"
)

const (
	// templateBatch bounds the templates of one transaction.
	templateBatch = 100
	// lookupPause is how long an account's templates count as complete after a
	// lookup: an unknown template does not cause another one so soon.
	lookupPause = time.Minute
	// lookupTime is how long one lookup may take.
	lookupTime = 30 * time.Second
)

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

// templateReason is why a template is not approved; the provider writes NONE for no reason.
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

// TemplateSync counts what a sync changed, in the API's shape.
type TemplateSync struct {
	Object  string `json:"object"`
	Created int    `json:"created"`
	Updated int    `json:"updated"`
	Deleted int    `json:"deleted"`
	Synced  int    `json:"synced"` // templates that the provider has
}

// SyncTemplates fetches an account's templates from the provider, and stores what has changed in
// batches, so that no transaction gets long.
//
// Ours are read first, so that a template that is created meanwhile does not look
// as if the provider had deleted it.
func (a *Accounts) SyncTemplates(ctx context.Context, account int64) (s TemplateSync, err error) {
	c, err := a.credentials(ctx, account)
	if err != nil {
		return s, err
	}
	ours, err := storage.Query(ctx, a.db, func(rx *storage.Rx) ([]storage.Template, error) { return rx.AllTemplates(account) })
	if err != nil {
		return s, err
	}
	theirs, err := a.provider.Templates(ctx, c.token, storage.OrEmpty(c.WABAID), "")
	if err != nil {
		return s, a.recordRefusal(ctx, account, err, true)
	}

	s, changes := compareTemplates(account, ours, theirs)
	for batch := range slices.Chunk(changes, templateBatch) {
		err := a.db.Update(ctx, func(tx *storage.Tx) error {
			for _, change := range batch {
				if err := change(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// compareTemplates finds the templates that are new, different or deleted. The provider may
// list one twice; the first counts.
func compareTemplates(
	account int64, ours []storage.Template, theirs []provider.Template,
) (s TemplateSync, changes []func(*storage.Tx) error) {
	type key struct{ name, language string }
	left := make(map[key]storage.Template, len(ours))
	for _, t := range ours {
		left[key{t.Name, t.Language}] = t
	}

	s.Object = "template_sync"
	seen := make(map[key]bool)
	for _, found := range theirs {
		t := templateOf(account, found)
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
		changes = append(changes, func(tx *storage.Tx) error { return saveTemplate(tx, old, t) })
	}

	for _, gone := range left {
		s.Deleted++
		changes = append(changes, func(tx *storage.Tx) error { return storage.IgnoreNotFound(tx.DeleteTemplate(account, gone.ID)) })
	}
	return s, changes
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

// sameTemplate reports whether a row equals a template of the provider, but for what only rows have.
func sameTemplate(old, found storage.Template) bool {
	found.ID, found.ReviewedAt, found.CreatedAt, found.UpdatedAt = old.ID, old.ReviewedAt, old.CreatedAt, old.UpdatedAt
	found.CategoryChangeTo, found.CategoryChangeAt = old.CategoryChangeTo, old.CategoryChangeAt
	if old.Components.Equal(found.Components) {
		found.Components = old.Components
	}
	return reflect.DeepEqual(old, found)
}

// SyncTemplatesOnce syncs an account's templates because one is not known here: at
// most once a minute, and once for all who ask at the same time. A failed lookup
// does not count: the next caller tries again.
func (a *Accounts) SyncTemplatesOnce(ctx context.Context, account int64) error {
	_, err, _ := a.lookups.Do(strconv.FormatInt(account, 10), func() (any, error) {
		a.mu.Lock()
		last := a.lookedUp[account]
		a.mu.Unlock()
		if time.Since(last) < lookupPause {
			return nil, nil
		}

		// It goes on when its caller has gone away: others may wait for it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTime)
		defer cancel()
		_, err := a.SyncTemplates(ctx, account)
		if err == nil {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.lookedUp[account] = time.Now()
		}
		return nil, err
	})
	return err
}

// FindTemplate reads one template from the provider; ErrNotFound if there is none.
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

// UploadExample uploads the example of a template's header and returns its handle.
func (a *Accounts) UploadExample(ctx context.Context, account int64, f provider.File) (handle string, err error) {
	err = a.manage(ctx, account, func(c credentials) (err error) {
		handle, err = a.provider.UploadHandle(ctx, c.token, f)
		return err
	})
	return handle, err
}
