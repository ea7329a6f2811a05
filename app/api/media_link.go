package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"

	"confab/app/api/rest"
	"confab/jobs/filetype"
	"confab/jobs/guard"
	"confab/storage"
)

// fetch downloads the file at a link, which the field param holds. Anything that goes
// wrong is reported for that field; a file that is too large, with the same code
// as an upload.
func (s *Server) fetch(ctx context.Context, param, link string) (*rest.IncomingFile, error) {
	res, err := s.Fetch.Get(ctx, link)
	if err != nil {
		return nil, errUnreachable(param, err)
	}
	defer res.Body.Close()

	if res.StatusCode != http.StatusOK {
		return nil, rest.Invalid(param, fmt.Sprintf("could not be downloaded: it responded with %d", res.StatusCode))
	}

	file, err := s.Files.Create()
	if err != nil {
		return nil, err
	}

	in := &rest.IncomingFile{
		File:     file,
		Filename: responseFilename(res),
		Declared: []string{filetype.WithoutParameters(res.Header.Get("Content-Type"))},
	}
	if _, err = io.Copy(in, res.Body); err == nil {
		err = cmp.Or(in.Finish(), in.Check(param))
	}
	if err == nil {
		return in, nil
	}

	// A fault of our own disk is not the link's.
	file.Discard()
	switch e, ours := errors.AsType[*rest.Error](err); {
	case ours:
		e.Param = param
		return nil, e
	case errors.Is(err, storage.ErrUnavailable):
		return nil, err
	}

	return nil, errUnreachable(param, err)
}

// errUnreachable reports a link that could not be fetched, and why.
func errUnreachable(param string, err error) error {
	e := rest.Invalid(param, "could not be downloaded: "+guard.Reason(err))
	e.Cause = err
	return e
}

// responseFilename is the name that a response gives its file, in its header or
// else in its URL.
func responseFilename(res *http.Response) string {
	if _, params, err := mime.ParseMediaType(res.Header.Get("Content-Disposition")); err == nil && params["filename"] != "" {
		return params["filename"]
	}
	if name := path.Base(res.Request.URL.Path); name != "/" && name != "." {
		return name
	}
	return ""
}
