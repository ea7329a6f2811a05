package content

import (
	"cmp"
	"net/url"
	"strings"
	"unicode"

	"confab/app/api/rest"
	"confab/jobs/filetype"
	"confab/jobs/guard"
)

const (
	maxCaption = 1024
	maxMediaID = 128 // longer than any
)

// MediaRef is a file of the library that a message uses.
type MediaRef struct {
	Param   string // where it is in the body: image, interactive.header.image
	Kind    string // image, document, video, audio; gif in a template
	MediaID string
}

// source is a file, on the web or in the library: all of an audio message, and a part of others.
type source struct {
	Link *string `json:"link,omitempty"`
	ID   *string `json:"id,omitempty"`
	kind string
}

func (s *source) Check(allowHTTP PlainHTTP) error {
	switch {
	case s.Link == nil && s.ID == nil:
		return rest.NoneGiven("link", "link or id is required.")
	case s.Link != nil && s.ID != nil:
		return rest.Invalid("link", "cannot be given together with id")
	case s.ID != nil:
		return rest.Required("id", s.ID, maxMediaID)
	}
	return CheckLink("link", s.Link, allowHTTP)
}

func (s *source) Describe(out *OutgoingMessage) { out.Media = s.addTo(nil, s.kind) }

// addTo adds a file to those of the library that a message uses, if there is one and it is such.
func (s *source) addTo(all []MediaRef, param string) []MediaRef {
	if s == nil || s.ID == nil {
		return all
	}
	return append(all, MediaRef{param, s.kind, *s.ID})
}

// pictureBody is the content of an image or a video.
type pictureBody struct {
	source
	Caption *string `json:"caption,omitempty"`
}

func (p *pictureBody) Check(allowHTTP PlainHTTP) error {
	return cmp.Or(p.source.Check(allowHTTP), rest.Optional("caption", p.Caption, maxCaption))
}

func (p *pictureBody) Describe(out *OutgoingMessage) {
	p.source.Describe(out)
	out.Body = p.Caption
}

// fileBody is a document in a header: a file with a name.
type fileBody struct {
	source
	Filename *string `json:"filename,omitempty"`
}

func (f *fileBody) checkName() error { return rest.Optional("filename", f.Filename, filetype.MaxName) }

// documentBody is the content of a document.
type documentBody struct {
	fileBody
	Caption *string `json:"caption,omitempty"`
}

func (d *documentBody) Check(allowHTTP PlainHTTP) error {
	return cmp.Or(d.source.Check(allowHTTP), rest.Optional("caption", d.Caption, maxCaption), d.checkName())
}

func (d *documentBody) Describe(out *OutgoingMessage) {
	d.source.Describe(out)
	out.Body = d.Caption
}

// audioBody is the content of an audio message. It has no caption.
type audioBody struct {
	source
	Voice *bool `json:"voice,omitempty"` // it is a voice note
}

// attachment is a file in a header or a parameter, under the name of its kind.
type attachment struct {
	Image    *source   `json:"image,omitempty"`
	Video    *source   `json:"video,omitempty"`
	Document *fileBody `json:"document,omitempty"`
	GIF      *source   `json:"gif,omitempty"`
}

// only returns the attachment with nothing but the file of one kind.
func (a attachment) only(kind string) (one attachment) {
	switch kind {
	case "image":
		one.Image = a.Image
	case "video":
		one.Video = a.Video
	case "document":
		one.Document = a.Document
	case "gif":
		one.GIF = a.GIF
	}
	return one
}

// file returns the file of a kind, nil when there is none.
func (a attachment) file(kind string) *source {
	one := a.only(kind)
	if one.Document != nil {
		return &one.Document.source
	}
	return cmp.Or(one.Image, one.Video, one.GIF)
}

// checkFile checks that there is a file of a kind, and the file.
func (a attachment) checkFile(kind string, allowHTTP PlainHTTP) error {
	return rest.Object(kind, a.file(kind), func(s *source) error {
		s.kind = kind
		err := s.Check(allowHTTP)
		if err == nil && kind == "document" {
			err = a.Document.checkName()
		}
		return err
	})
}

const MaxLink = 2048

// PlainHTTP says which URLs need not be https.
type PlainHTTP int

const (
	NoHTTP    PlainHTTP = iota
	LocalHTTP           // those of this machine
	AnyHTTP
)

func (p PlainHTTP) Admits(u *url.URL) bool {
	return u.Scheme == "http" && (p == AnyHTTP || p == LocalHTTP && guard.IsLocalHost(u.Hostname()))
}

// CheckLink checks a URL that the provider or we will fetch.
func CheckLink(name string, s *string, allowHTTP PlainHTTP) error {
	if err := rest.Required(name, s, MaxLink); err != nil {
		return err
	}

	u, err := url.Parse(*s)
	switch {
	case err != nil,
		!guard.IsHostname(u.Hostname()) && !guard.IsAddress(u.Hostname()),
		strings.ContainsFunc(*s, func(r rune) bool { return r == ' ' || unicode.IsControl(r) }), // also in the fragment
		u.Scheme != "https" && !allowHTTP.Admits(u):
		return rest.Invalid(name, "must be an https URL")
	case u.User != nil:
		return rest.Invalid(name, "must not contain a user name or password")
	}
	return nil
}
