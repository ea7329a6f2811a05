package content

import (
	"cmp"

	"confab/app/api/rest"
	"confab/jobs/filetype"
	"confab/storage"
)

const (
	maxCaption = 1024
	maxMediaID = 128 // longer than any
)

// MediaTypes are the messages that consist of a file.
var MediaTypes = []string{"image", "document", "video", "audio"}

// MediaRef is a file that a message uses.
type MediaRef struct {
	Param    string // where it is in the body: image, interactive.header.image
	Kind     string // image, document, video, audio; gif in a template
	Link     string // where it is on the web, "" for one of the library
	MediaID  string // in the library, "" for one by link
	Filename string
	Caption  string
	Voice    bool // audio as a voice note
}

// source says where a file comes from: the web or the library.
type source struct {
	Link *string `json:"link,omitempty"`
	ID   *string `json:"id,omitempty"`
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

// ref describes the file for the list of all files that a message uses.
func (s *source) ref(param, kind string) MediaRef {
	return MediaRef{Param: param, Kind: kind, Link: storage.OrEmpty(s.Link), MediaID: storage.OrEmpty(s.ID)}
}

// pictureBody is the content of an image or a video.
type pictureBody struct {
	source
	Caption *string `json:"caption,omitempty"`
	kind    string
}

func (p *pictureBody) Check(allowHTTP PlainHTTP) error {
	return cmp.Or(p.source.Check(allowHTTP), rest.Optional("caption", p.Caption, maxCaption))
}

func (p *pictureBody) Describe(s *OutgoingMessage) {
	ref := p.ref(p.kind, p.kind)
	ref.Caption = storage.OrEmpty(p.Caption)
	s.Media, s.Body = []MediaRef{ref}, p.Caption
}

// documentBody is the content of a document.
type documentBody struct {
	fileBody
	Caption *string `json:"caption,omitempty"`
}

func (d *documentBody) Check(allowHTTP PlainHTTP) error {
	return cmp.Or(d.source.Check(allowHTTP), rest.Optional("caption", d.Caption, maxCaption), d.checkName())
}

func (d *documentBody) Describe(s *OutgoingMessage) {
	ref := d.ref("document", "document")
	ref.Caption = storage.OrEmpty(d.Caption)
	s.Media, s.Body = []MediaRef{ref}, d.Caption
}

// audioBody is the content of an audio message. It has no caption.
type audioBody struct {
	source
	Voice *bool `json:"voice,omitempty"`
}

func (a *audioBody) Describe(s *OutgoingMessage) {
	ref := a.ref("audio", "audio")
	ref.Voice = a.Voice != nil && *a.Voice
	s.Media = []MediaRef{ref}
}

// fileBody is a document, as a message or in a header: a file with a name.
type fileBody struct {
	source
	Filename *string `json:"filename,omitempty"`
}

func (f *fileBody) Check(allowHTTP PlainHTTP) error {
	return cmp.Or(f.source.Check(allowHTTP), f.checkName())
}

func (f *fileBody) checkName() error { return rest.Optional("filename", f.Filename, filetype.MaxName) }

func (f *fileBody) ref(param, kind string) MediaRef {
	ref := f.source.ref(param, kind)
	ref.Filename = storage.OrEmpty(f.Filename)
	return ref
}

// attachment is a file in a header or a parameter, under the name of its kind.
type attachment struct {
	Image    *source   `json:"image,omitempty"`
	Video    *source   `json:"video,omitempty"`
	Document *fileBody `json:"document,omitempty"`
	GIF      *source   `json:"gif,omitempty"`
}

// only returns the attachment with nothing but the file of one kind.
func (a attachment) only(kind string) attachment {
	switch kind {
	case "image":
		return attachment{Image: a.Image}
	case "video":
		return attachment{Video: a.Video}
	case "document":
		return attachment{Document: a.Document}
	case "gif":
		return attachment{GIF: a.GIF}
	}
	return attachment{}
}

// file returns the file of a kind, nil when there is none.
func (a attachment) file(kind string) file {
	switch one := a.only(kind); {
	case one.Image != nil:
		return one.Image
	case one.Video != nil:
		return one.Video
	case one.Document != nil:
		return one.Document
	case one.GIF != nil:
		return one.GIF
	}
	return nil
}

// file is a source, with or without a name.
type file interface {
	Check(allowHTTP PlainHTTP) error
	ref(param, kind string) MediaRef
}

// checkFile checks that there is a file of a kind, and the file.
func (a attachment) checkFile(kind string, allowHTTP PlainHTTP) error {
	f := a.file(kind)
	if f == nil {
		return rest.Missing(kind)
	}
	return rest.Within(kind, f.Check(allowHTTP))
}
