package api

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"confab/app/api/rest"
	"confab/app/api/template"
	"confab/jobs/filetype"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/storage"
)

// submission is a template that the provider has accepted for review.
type submission struct {
	storage.Template
	adopted bool         // the provider had it before
	began   storage.Time // when it was submitted
}

// submitToProvider submits a template. If the provider has the same template already,
// it is adopted: an earlier request submitted it and failed before it was stored.
func (s *Server) submitToProvider(r *rest.Request, in *template.Draft) (out submission, err error) {
	out.began = s.DB.Now()
	if out.Template, err = in.Row(r.Account.ID); err != nil {
		return out, err
	}

	body, err := in.ProviderBody()
	if err != nil {
		return out, err
	}

	made, err := s.Accounts.CreateTemplate(r.HTTP.Context(), out.Template, body)
	if HasSubcode(err, provider.SubcodeTemplateExists) {
		out.adopted = true
		out.Template, err = s.adopt(r, out.Template, err)
		return out, err
	}

	out.Template = made
	return out, ProviderCallError(err, func(e *provider.Error) error { return errTemplateRefused(e, in.Components) })
}

// store stores the template. A sync may have stored it first, and then its row is
// updated. An adopted template with a row, however, was stored by the request that
// submitted it, so it exists.
func (out submission) store(tx *storage.Tx) (storage.Template, error) {
	t, err := provisioning.ApplyEarlyReviews(&tx.Rx, out.Template, out.began)
	if err != nil {
		return t, err
	}

	old, err := tx.Template(t.AccountID, t.Name, t.Language)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return t, tx.InsertTemplate(&t)
	case err != nil:
		return t, err
	case old.ProviderStatus == TemplateDeleted:
		if err := tx.DeleteTemplate(old.AccountID, old.ID); err != nil {
			return t, err
		}
		err := tx.InsertTemplate(&t)
		return t, err
	case out.adopted || old.ProviderTemplateID != t.ProviderTemplateID:
		return t, errTemplateExists(nil)
	}

	t.ID, t.CreatedAt = old.ID, old.CreatedAt
	return t, tx.UpdateTemplate(&t)
}

// adopt takes over a template that the provider has, if it is the same as the one to
// create.
func (s *Server) adopt(r *rest.Request, t storage.Template, exists error) (storage.Template, error) {
	found, err := s.Accounts.FindTemplate(r.HTTP.Context(), r.Account.ID, t.Name, t.Language)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return t, errTemplateExists(exists)
	case err != nil:
		return t, ProviderCallError(err, errUnexpectedRefusal)
	case !template.Same(found, t):
		return t, errTemplateExists(exists)
	}

	t.ProviderTemplateID, t.ProviderStatus, t.Status = found.ProviderTemplateID, found.ProviderStatus, found.Status
	t.Category, t.Reason = found.Category, found.Reason
	return t, nil
}

// editAtProvider changes a template at the provider, and returns it as it will be
// stored.
func (s *Server) editAtProvider(r *rest.Request, t storage.Template, in *template.Changes) (storage.Template, error) {
	body, err := in.ProviderBody()
	if err != nil {
		return t, err
	}

	// An edit needs the provider's id, which is stored only once the provider gave it.
	if t.ProviderTemplateID == "" {
		found, err := s.Accounts.FindTemplate(r.HTTP.Context(), r.Account.ID, t.Name, t.Language)
		if err != nil {
			return t, ProviderCallError(err, errUnexpectedRefusal)
		}
		t.ProviderTemplateID = found.ProviderTemplateID
	}

	if t, err = in.Apply(t); err != nil {
		return t, err
	}

	err = s.Accounts.EditTemplate(r.HTTP.Context(), t, body)
	switch {
	case HasSubcode(err, provider.SubcodeTemplateLocked) && s.alreadyEdited(r, t, in):
		return t, nil
	case provider.IsMissing(err):
		return t, &rest.Error{Code: rest.ResourceNotFound, Message: "The provider no longer has this template.", Cause: err}
	}
	return t, ProviderCallError(err, func(e *provider.Error) error { return errTemplateRefused(e, in.Components.Value) })
}

// storeEdited stores a template that the provider reviews again. If a callback has
// brought the result already, that stays.
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

// alreadyEdited reports whether the provider is reviewing the same changes already: an
// earlier request submitted them and failed before they were stored.
func (s *Server) alreadyEdited(r *rest.Request, t storage.Template, in *template.Changes) bool {
	found, err := s.Accounts.FindTemplate(r.HTTP.Context(), r.Account.ID, t.Name, t.Language)
	return err == nil && in.Components.Set && found.Status == storage.TemplatePending &&
		found.Category == t.Category && template.Same(found, t)
}

// HasSubcode reports whether the provider refused with a subcode.
func HasSubcode(err error, subcode int) bool {
	e, ok := errors.AsType[*provider.Error](err)
	return ok && e.Subcode == subcode
}

func errTemplateExists(cause error) *rest.Error {
	return rest.FailAt(rest.TemplateAlreadyExists, "name", "A template with that name and language already exists.").Because(cause)
}

// errUnexpectedRefusal reports a refusal that should not happen.
func errUnexpectedRefusal(e *provider.Error) error {
	return &rest.Error{Code: rest.ProviderUnavailable, Message: "The provider rejected the request: " + ProviderReason(e), Cause: e}
}

// errTemplateRefused reports why the provider refuses a template.
func errTemplateRefused(e *provider.Error, parts []*template.DraftPart) error {
	why := "The provider rejected the template: " + ProviderReason(e)
	return rest.FailAt(rest.InvalidFieldValue, refusedField(e, parts), why).Because(e)
}

// templateFields are the fields of a body that an error can name.
var templateFields = []string{"name", "language", "category", "components", "parameter_format", "message_send_ttl_seconds"}

// fieldInText finds the field that a refusal names in its text.
var fieldInText = regexp.MustCompile(`(?:[Pp]aram(?:eter)?|The) (?:parameter )?([a-z_]+)\b`)

// refusedField is the field that the provider objects to: if it names none, all that was
// composed.
func refusedField(e *provider.Error, parts []*template.DraftPart) string {
	for _, path := range e.Blame {
		if field, _, _ := strings.Cut(strings.ReplaceAll(path, "[", "."), "."); slices.Contains(templateFields, field) {
			return path
		}
	}

	switch e.Subcode {
	case provider.SubcodeTemplateNameFormat, provider.SubcodeLanguageDeleted:
		return "name"
	case provider.SubcodeTemplateHeaderFormat:
		return partPath(template.HeaderPart, parts)
	case provider.SubcodeTemplateBodyFormat, provider.SubcodeTemplateVariableRatio, provider.SubcodeTemplateVariableEdge:
		return partPath(template.BodyPart, parts)
	case provider.SubcodeTemplateFooterFormat:
		return partPath(template.FooterPart, parts)
	}

	for _, text := range []string{e.Message, e.UserMessage} {
		if found := fieldInText.FindStringSubmatch(text); found != nil && slices.Contains(templateFields, found[1]) {
			return found[1]
		}
	}
	return "components"
}

// partPath is the path of the part of a type, or of all components without one.
func partPath(kind string, parts []*template.DraftPart) string {
	i := slices.IndexFunc(parts, func(p *template.DraftPart) bool { return *p.Type == kind })
	if i < 0 {
		return "components"
	}
	return rest.ItemPath("components", i)
}

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
		if _, theirs := errors.AsType[*provider.Error](failed); theirs || errors.Is(failed, storage.ErrSealed) {
			return rest.Reply{}, errProviderUnavailable(failed)
		}
		return rest.Reply{}, failed
	}

	return run()
}

// exampleTimeout bounds fetching and uploading all files of a template.
const exampleTimeout = 60 * time.Second

// exampleTypes are the MIME types that a header's format accepts.
var exampleTypes = map[string][]string{
	"IMAGE":    {"image/jpeg", "image/png"},
	"VIDEO":    {"video/mp4"},
	"GIF":      {"video/mp4"},
	"DOCUMENT": {"application/pdf"},
}

// uploadExamples uploads the files of a template's examples to the provider and replaces their
// URLs with handles.
func (s *Server) uploadExamples(r *rest.Request, parts []*template.DraftPart) error {
	ctx, cancel := context.WithTimeout(r.HTTP.Context(), exampleTimeout)
	defer cancel()

	handles := make(map[string]string) // by format and URL: cards often share one
	return s.uploadParts(ctx, r.Account.ID, handles, "", parts)
}

// uploadParts uploads the files of the parts under a path.
func (s *Server) uploadParts(
	ctx context.Context, account int64, handles map[string]string, path string, parts []*template.DraftPart,
) error {
	for i, p := range parts {
		at := rest.ItemPath(path+"components", i) + "."
		for j, card := range p.Cards {
			if err := s.uploadParts(ctx, account, handles, rest.ItemPath(at+"cards", j)+".", card.Components); err != nil {
				return err
			}
		}

		url, field := p.Example.Source()
		if url == "" {
			continue
		}

		key := *p.Format + " " + url
		if handles[key] == "" {
			handle, err := s.upload(ctx, account, *p.Format, at+"example."+field, url)
			if err != nil {
				return err
			}
			handles[key] = handle
		}
		p.Example = &template.DraftExample{HeaderHandle: []string{handles[key]}}
	}
	return nil
}

// upload fetches a file and uploads it.
func (s *Server) upload(ctx context.Context, account int64, format, param, url string) (string, error) {
	in, err := s.fetch(ctx, param, url)
	if e, ours := errors.AsType[*rest.Error](err); ours && e.Code == rest.RequestTooLarge {
		return "", rest.Invalid(param, "points to a file that is too large") // the body itself is not
	}
	if err != nil {
		return "", err
	}
	defer in.File.Discard()

	if types := exampleTypes[format]; !slices.Contains(types, in.MimeType) {
		return "", rest.Invalid(param, "points to a file of type "+in.MimeType+", which is not one of "+strings.Join(types, ", "))
	}

	handle, err := s.Accounts.UploadExample(ctx, account, provider.File{
		Name:    *cmp.Or(filetype.CleanName(in.Filename), new("example")),
		MIME:    in.MimeType,
		Size:    in.File.Size(),
		Content: in.File,
	})
	return handle, ProviderCallError(err, func(e *provider.Error) error {
		return rest.FailAt(rest.InvalidFieldValue, param, "The provider rejected the file: "+ProviderReason(e)).Because(err)
	})
}
