package api

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/jobs/filetype"
	"confab/jobs/provider"
)

// exampleTimeout bounds fetching and uploading all files of a template.
const exampleTimeout = 60 * time.Second

// maxHandle is longer than the provider's handles.
const maxHandle = 8192

// uploadHandle is the form of the provider's handles of uploaded files.
var uploadHandle = regexp.MustCompile(`^[0-9]+:`)

// exampleTypes are the MIME types that a header's format accepts.
var exampleTypes = map[string][]string{
	"IMAGE":    {"image/jpeg", "image/png"},
	"VIDEO":    {"video/mp4"},
	"GIF":      {"video/mp4"},
	"DOCUMENT": {"application/pdf"},
}

// checkFile checks the example of a header that is a file: a handle of the provider,
// or a URL to fetch it from. The URL may also stand in the handle's place.
func (p *draftPart) checkFile(allowHTTP content.PlainHTTP) error {
	given := p.Example
	if given == nil {
		return rest.Missing("example")
	}

	p.Example = &draftExample{HeaderHandle: given.HeaderHandle, HeaderURL: given.HeaderURL}

	switch {
	case given.HeaderHandle != nil && given.HeaderURL != nil:
		return rest.Within("example", rest.Invalid("header_url", "cannot be given beside header_handle"))
	case given.HeaderURL != nil:
		return rest.Within("example", content.CheckLink("header_url", &given.HeaderURL.text, allowHTTP))
	case given.HeaderHandle == nil:
		return rest.Missing("example.header_handle")
	case len(given.HeaderHandle) != 1:
		return rest.Invalid("example.header_handle", "must have one item")
	}

	handle := given.HeaderHandle[0]
	switch {
	case !rest.Between(handle, 1, maxHandle):
		return rest.Invalid("example.header_handle[0]", rest.LengthRule(1, maxHandle))
	case uploadHandle.MatchString(handle) || isProviderURL(handle):
		return nil
	case strings.Contains(handle, "://"):
		return rest.Within("example", content.CheckLink("header_handle[0]", &handle, allowHTTP))
	}
	return rest.Invalid("example.header_handle[0]", "must be a handle of the provider's upload, or an https URL")
}

// isProviderURL tells whether the provider itself serves an example under a URL.
func isProviderURL(url string) bool { return strings.HasPrefix(url, "https://scontent.whatsapp.net/") }

// source is the URL from which an example's file must be fetched, and the field that
// holds it; "" if the provider has the file already.
func (e *draftExample) source() (url, field string) {
	switch {
	case e == nil:
		return "", ""
	case e.HeaderURL != nil:
		return e.HeaderURL.text, "header_url"
	case len(e.HeaderHandle) == 1 && !uploadHandle.MatchString(e.HeaderHandle[0]) && !isProviderURL(e.HeaderHandle[0]):
		return e.HeaderHandle[0], "header_handle[0]"
	}
	return "", ""
}

// exampleUploader uploads the files of a template's examples to the provider.
type exampleUploader struct {
	s       *Server
	account int64
	handles map[string]string // by URL: cards often share one
}

// uploadExamples uploads the files of a template's examples and replaces their URLs
// with handles.
func (s *Server) uploadExamples(r *rest.Request, parts []*draftPart) error {
	ctx, cancel := context.WithTimeout(r.HTTP.Context(), exampleTimeout)
	defer cancel()

	u := exampleUploader{s: s, account: r.Account.ID, handles: make(map[string]string)}
	return u.uploadParts(ctx, "", parts)
}

// uploadParts uploads the files of the parts under a path.
func (u *exampleUploader) uploadParts(ctx context.Context, path string, parts []*draftPart) error {
	for i, p := range parts {
		at := rest.ItemPath(path+"components", i) + "."
		for j, card := range p.Cards {
			if err := u.uploadParts(ctx, rest.ItemPath(at+"cards", j)+".", card.Components); err != nil {
				return err
			}
		}

		url, field := p.Example.source()
		if url == "" {
			continue
		}

		handle, err := u.upload(ctx, *p.Format, at+"example."+field, url)
		if err != nil {
			return err
		}

		p.Example = &draftExample{HeaderHandle: []string{handle}}
	}
	return nil
}

// upload fetches a file and uploads it.
func (u *exampleUploader) upload(ctx context.Context, format, param, url string) (string, error) {
	if handle, ok := u.handles[url]; ok {
		return handle, nil
	}

	in, err := u.s.fetch(ctx, param, url)
	if e, ours := errors.AsType[*rest.Error](err); ours && e.Code == rest.RequestTooLarge {
		return "", rest.Invalid(param, "leads to a file that is too large") // the body itself is not
	}
	if err != nil {
		return "", err
	}
	defer in.File.Discard()

	if types := exampleTypes[format]; !slices.Contains(types, in.MimeType) {
		return "", rest.Invalid(param, "leads to a file of type "+in.MimeType+", which is none of "+strings.Join(types, ", "))
	}

	name := "example"
	if clean := filetype.CleanName(in.Filename); clean != nil {
		name = *clean
	}

	handle, err := u.s.Accounts.UploadExample(ctx, u.account, provider.File{
		Name:    name,
		MIME:    in.MimeType,
		Size:    in.File.Size(),
		Content: in.File,
	})
	if err == nil {
		u.handles[url] = handle
	}

	return handle, providerCallError(err, func(e *provider.Error) error {
		return &rest.Error{
			Code:    rest.InvalidFieldValue,
			Param:   param,
			Message: "The provider refuses the file: " + providerReason(e),
			Cause:   err,
		}
	})
}
