package api

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"confab/app/api/rest"
	"confab/app/api/template"
	"confab/jobs/filetype"
	"confab/jobs/provider"
)

// exampleTimeout bounds fetching and uploading all files of a template.
const exampleTimeout = 60 * time.Second

// exampleTypes are the MIME types that a header's format accepts.
var exampleTypes = map[string][]string{
	"IMAGE":    {"image/jpeg", "image/png"},
	"VIDEO":    {"video/mp4"},
	"GIF":      {"video/mp4"},
	"DOCUMENT": {"application/pdf"},
}

// exampleUploader uploads the files of a template's examples to the provider.
type exampleUploader struct {
	s       *Server
	account int64
	handles map[string]string // by URL: cards often share one
}

// uploadExamples uploads the files of a template's examples and replaces their URLs
// with handles.
func (s *Server) uploadExamples(r *rest.Request, parts []*template.DraftPart) error {
	ctx, cancel := context.WithTimeout(r.HTTP.Context(), exampleTimeout)
	defer cancel()

	u := exampleUploader{s: s, account: r.Account.ID, handles: make(map[string]string)}
	return u.uploadParts(ctx, "", parts)
}

// uploadParts uploads the files of the parts under a path.
func (u *exampleUploader) uploadParts(ctx context.Context, path string, parts []*template.DraftPart) error {
	for i, p := range parts {
		at := rest.ItemPath(path+"components", i) + "."
		for j, card := range p.Cards {
			if err := u.uploadParts(ctx, rest.ItemPath(at+"cards", j)+".", card.Components); err != nil {
				return err
			}
		}

		url, field := p.Example.Source()
		if url == "" {
			continue
		}

		handle, err := u.upload(ctx, *p.Format, at+"example."+field, url)
		if err != nil {
			return err
		}

		p.Example = &template.DraftExample{HeaderHandle: []string{handle}}
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
		return "", rest.Invalid(param, "points to a file that is too large") // the body itself is not
	}
	if err != nil {
		return "", err
	}
	defer in.File.Discard()

	if types := exampleTypes[format]; !slices.Contains(types, in.MimeType) {
		return "", rest.Invalid(param, "points to a file of type "+in.MimeType+", which is not one of "+strings.Join(types, ", "))
	}

	handle, err := u.s.Accounts.UploadExample(ctx, u.account, provider.File{
		Name:    *cmp.Or(filetype.CleanName(in.Filename), new("example")),
		MIME:    in.MimeType,
		Size:    in.File.Size(),
		Content: in.File,
	})
	if err == nil {
		u.handles[url] = handle
	}

	return handle, ProviderCallError(err, func(e *provider.Error) error {
		return rest.FailAt(rest.InvalidFieldValue, param, "The provider rejected the file: "+ProviderReason(e)).Because(err)
	})
}
