package api

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"confab/jobs"
	"confab/jobs/provider"
	"confab/storage"
)

// submission is a template that the provider has taken.
type submission struct {
	storage.Template
	adopted bool         // the provider had it before
	began   storage.Time // when it was submitted
}

// submit hands a template to the provider. One that the provider has already is
// adopted when it is the same: then an earlier request got that far and no
// further.
func (s *Server) submit(r *request, in *newTemplate) (out submission, err error) {
	out.began = storage.Now()
	if out.Template, err = in.row(r.account.ID); err != nil {
		return out, err
	}
	body, err := in.wire()
	if err != nil {
		return out, err
	}
	made, err := s.Accounts.CreateTemplate(r.http.Context(), out.Template, body)
	if hasSubcode(err, provider.SubcodeTemplateExists) {
		out.adopted = true
		out.Template, err = s.adopt(r, out.Template, err)
		return out, err
	}
	out.Template = made
	return out, upstream(err, func(e *provider.Error) error { return templateRefused(e, in.Components) })
}

// store stores the template. A sync may have seen it at the provider first; one
// that was adopted, however, has been stored meanwhile by whoever submitted it.
func (out submission) store(tx *storage.Tx) (storage.Template, error) {
	t, err := jobs.ReviewedMeanwhile(&tx.Rx, out.Template, out.began)
	if err != nil {
		return t, err
	}
	old, err := tx.Template(t.AccountID, t.Name, t.Language)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return t, tx.InsertTemplate(&t)
	case err != nil:
		return t, err
	case old.ProviderStatus == templateDeleted:
		if err := tx.DeleteTemplate(old.AccountID, old.ID); err != nil {
			return t, err
		}
		return t, tx.InsertTemplate(&t)
	case out.adopted || old.ProviderTemplateID != t.ProviderTemplateID:
		return t, errTemplateExists(nil)
	}
	t.ID, t.CreatedAt = old.ID, old.CreatedAt
	return t, tx.UpdateTemplate(&t)
}

// adopt takes over a template that the provider has, if it is the one that was
// to be made.
func (s *Server) adopt(r *request, t storage.Template, exists error) (storage.Template, error) {
	found, err := s.Accounts.FindTemplate(r.http.Context(), r.account.ID, t.Name, t.Language)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return t, errTemplateExists(exists)
	case err != nil:
		return t, upstream(err, unforeseen)
	case !alike(found, t):
		return t, errTemplateExists(exists)
	}
	t.ProviderTemplateID, t.ProviderStatus, t.Status = found.ProviderTemplateID, found.ProviderStatus, found.Status
	t.Category, t.Reason = found.Category, found.Reason
	return t, nil
}

// edit changes a template at the provider, and returns it as it is to be kept.
func (s *Server) edit(r *request, t storage.Template, in *templateChanges) (storage.Template, error) {
	body, err := in.body()
	if err != nil {
		return t, err
	}
	if t.ProviderTemplateID == "" { // nobody told so far
		found, err := s.Accounts.FindTemplate(r.http.Context(), r.account.ID, t.Name, t.Language)
		if err != nil {
			return t, upstream(err, unforeseen)
		}
		t.ProviderTemplateID = found.ProviderTemplateID
	}
	if t, err = in.apply(t); err != nil {
		return t, err
	}
	err = s.Accounts.EditTemplate(r.http.Context(), t, body)
	switch {
	case hasSubcode(err, provider.SubcodeTemplateLocked) && s.edited(r, t, in):
		return t, nil
	case provider.Missing(err):
		return t, &Error{Code: ResourceNotFound, Message: "The provider has this template no longer.", cause: err}
	}
	return t, upstream(err, func(e *provider.Error) error { return templateRefused(e, in.Components.Value) })
}

// storeEdited stores a template that the provider reviews again. Where a callback
// has told its verdict already, that stays.
func storeEdited(tx *storage.Tx, before, after storage.Template) (storage.Template, error) {
	now, err := tx.Template(before.AccountID, before.Name, before.Language)
	if err != nil {
		return after, err
	}
	if now.ReviewedAt != before.ReviewedAt {
		after.Status, after.ProviderStatus, after.Reason = now.Status, now.ProviderStatus, now.Reason
	}
	return after, tx.UpdateTemplate(&after)
}

// edited tells whether the provider reviews these very changes already: then an
// earlier request got that far and no further.
func (s *Server) edited(r *request, t storage.Template, in *templateChanges) bool {
	found, err := s.Accounts.FindTemplate(r.http.Context(), r.account.ID, t.Name, t.Language)
	return err == nil && in.Components.Set && found.Status == storage.TemplatePending && found.Category == t.Category && alike(found, t)
}

// hasSubcode tells whether the provider gave this reason.
func hasSubcode(err error, subcode int) bool {
	e, ok := errors.AsType[*provider.Error](err)
	return ok && e.Subcode == subcode
}

func errTemplateExists(cause error) *Error {
	return &Error{Code: TemplateAlreadyExists, Param: "name", Message: "There is a template of that name in that language.", cause: cause}
}

// unforeseen words a refusal that no request should meet.
func unforeseen(e *provider.Error) error {
	return &Error{Code: ProviderUnavailable, Message: "The provider refuses: " + explained(e), cause: e}
}

// templateRefused words what the provider has against a template.
func templateRefused(e *provider.Error, parts []*draftPart) error {
	return &Error{Code: InvalidFieldValue, Param: blamed(e, parts), Message: "The provider refuses the template: " + explained(e), cause: e}
}

// templateFields are what a body can be blamed for.
var templateFields = []string{"name", "language", "category", "components", "parameter_format", "message_send_ttl_seconds"}

// mentioned finds the field that a refusal names in its text.
var mentioned = regexp.MustCompile(`(?:[Pp]aram(?:eter)?|The) (?:parameter )?([a-z_]+)\b`)

// blamed is the field that the provider names, "" if it names none.
func blamed(e *provider.Error, parts []*draftPart) string {
	for _, path := range e.Blame {
		if field, _, _ := strings.Cut(strings.ReplaceAll(path, "[", "."), "."); slices.Contains(templateFields, field) {
			return path
		}
	}
	switch e.Subcode {
	case provider.SubcodeTemplateNameFormat, provider.SubcodeLanguageDeleted:
		return "name"
	case provider.SubcodeTemplateHeaderFormat:
		return partOf(headerPart, parts)
	case provider.SubcodeTemplateBodyFormat, provider.SubcodeTemplateVariableRatio, provider.SubcodeTemplateVariableEdge:
		return partOf(bodyPart, parts)
	case provider.SubcodeTemplateFooterFormat:
		return partOf(footerPart, parts)
	}
	for _, text := range []string{e.Message, e.UserMessage} {
		if found := mentioned.FindStringSubmatch(text); found != nil && slices.Contains(templateFields, found[1]) {
			return found[1]
		}
	}
	return ""
}

// partOf is the path of the part of a type.
func partOf(kind string, parts []*draftPart) string {
	i := slices.IndexFunc(parts, func(p *draftPart) bool { return *p.Type == kind })
	if i < 0 {
		return "components"
	}
	return item("components", i)
}

// apply puts the changes into a template, which is reviewed again.
func (c *templateChanges) apply(t storage.Template) (storage.Template, error) {
	if c.Components.Set {
		components, err := json.Marshal(c.Components.Value)
		if err != nil {
			return t, err
		}
		t.Components, t.Content = components, jobs.TemplateContent(components)
	}
	if c.Category.Set {
		t.Category = strings.ToUpper(c.Category.Value)
	}
	t.Status, t.ProviderStatus, t.Reason = storage.TemplatePending, "PENDING", ""
	return t, nil
}
