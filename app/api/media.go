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

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/filetype"
	"confab/jobs/guard"
	"confab/storage"
)

// What a person may upload in the console in a day.
const (
	filesADay = 1000
	bytesADay = 5 << 30
)

type libraryView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	storage.Media
}

func (s *Server) viewMedia(m storage.Media) libraryView {
	m.URL = s.Publisher.PublicURL + storage.MediaPath(m.URLToken, m.Filename)
	return libraryView{m.ID, "media", m}
}

// mediaBody is the JSON body of POST /v1/:phone_number_id/media.
type mediaBody struct {
	Link *string `json:"link"`

	allowHTTP content.PlainHTTP
}

func (b *mediaBody) Validate() error { return content.CheckLink("link", b.Link, b.allowHTTP) }

// createMedia handles POST /v1/:phone_number_id/media.
//
// The file is durable before its row. A crash between the two leaves a file without a
// row, which is swept later, but never a row without a file.
func (s *Server) createMedia(r *rest.Request) (rest.Reply, error) {
	in, err := s.receivedFile(r)
	if err != nil {
		return rest.Reply{}, err
	}
	defer in.File.Discard()

	made := []rest.Made{{What: "files", N: 1, ADay: filesADay}, {What: "bytes of files", N: in.File.Size(), ADay: bytesADay}}
	return s.LimitMade(r, made, func() (rest.Reply, error) { return s.keepMedia(r, in) })
}

func (s *Server) keepMedia(r *rest.Request, in *rest.IncomingFile) (rest.Reply, error) {
	sum, err := in.File.Keep(r.HTTP.Context())
	if err != nil {
		return rest.Reply{}, err
	}

	file := storage.Media{
		AccountID: r.Account.ID,
		Origin:    storage.OriginLibrary,
		SHA256:    sum,
		MIMEType:  in.MimeType,
		Size:      in.File.Size(),
		Filename:  filetype.CleanName(in.Filename),
	}
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		m := file
		err := tx.InsertMedia(&m)
		return rest.Created(s.viewMedia(m)), err
	})
}

// receivedFile is the uploaded file, or the one that the body's link leads to.
func (s *Server) receivedFile(r *rest.Request) (*rest.IncomingFile, error) {
	if r.Form != nil {
		return &r.Form.IncomingFile, cmp.Or(r.Form.CheckFiles("file"), r.Form.Check("file"))
	}

	in := mediaBody{allowHTTP: s.plainHTTP()}
	if err := r.Decode(&in); err != nil {
		return nil, err
	}

	return s.fetch(r.HTTP.Context(), "link", *in.Link)
}

func mediaIn(rx *storage.Rx, r *rest.Request) (storage.Media, error) {
	return rx.Media(r.Account.ID, r.Param("id"))
}

// deleteMedia handles DELETE /v1/:phone_number_id/media/:id.
func (s *Server) deleteMedia(r *rest.Request) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, mediaIn, func(tx *storage.Tx, m storage.Media) (rest.Reply, error) {
		if err := tx.MarkMediaDeleted(r.Account.ID, m.ID); err != nil {
			return rest.Reply{}, err
		}
		return rest.Deleted("media", m.ID), jobs.EnqueueMediaRemoval(tx, m)
	})
}

// findMedia finds the library files that a message uses: those of the team, or of the numbers
// that the key is bound to. A file that does not exist is only recorded here, because other
// refusals come first.
func findMedia(rx *storage.Rx, team int64, of storage.Accounts, out *content.OutgoingMessage) error {
	for _, ref := range out.Media {
		m, err := rx.TeamMedia(team, ref.MediaID)
		switch {
		case errors.Is(err, storage.ErrNotFound), err == nil && !of.Has(&m.AccountID):
			missing := rest.FailAt(rest.MediaNotFound, ref.Param+".id", "This number's team has no such media in its library.")
			out.MissingMedia = cmp.Or(out.MissingMedia, error(missing))
			continue
		case err != nil:
			return err
		case !rest.CanBeSentAs(m.MIMEType, ref.Kind):
			return rest.Invalid(ref.Param+".id", "is of type "+m.MIMEType+", which cannot be sent as "+ref.Kind)
		}

		if ref.Param == out.Type { // the file that the message consists of
			out.LibraryFile = &m
		}
	}
	return nil
}

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
