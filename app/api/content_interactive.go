package api

import (
	"cmp"
	"strconv"
)

const (
	maxInteractiveText = 1024
	maxListBody        = 4096
	maxSmallText       = 60 // of headers and footers
	maxButtons         = 3
	maxButtonID        = 256
	maxButtonTitle     = 20
	maxSections        = 10
	maxRows            = 10 // in all sections together
	maxRowID           = 200
	maxRowTitle        = 24
	maxRowDescription  = 72
)

// interactiveBody is the content of a message with buttons or a list.
type interactiveBody struct {
	Type   *string     `json:"type,omitempty"`
	Header *headerBody `json:"header,omitempty"`
	Body   *textObject `json:"body,omitempty"`
	Footer *textObject `json:"footer,omitempty"`
	Action *actionBody `json:"action,omitempty"`
}

// textObject is a text inside of an object.
type textObject struct {
	Text *string `json:"text,omitempty"`
}

// headerBody is the header above the text.
type headerBody struct {
	Type *string `json:"type,omitempty"`
	Text *string `json:"text,omitempty"`
	attachment
}

// actionBody holds the buttons or the list, with the fields of all types.
type actionBody struct {
	Buttons    []*buttonBody  `json:"buttons,omitempty"`
	Button     *string        `json:"button,omitempty"`
	Sections   []*sectionBody `json:"sections,omitempty"`
	Name       *string        `json:"name,omitempty"`
	Parameters *linkBody      `json:"parameters,omitempty"`
}

func (in *interactiveBody) check(allowHTTP plainHTTP) error {
	if err := cmp.Or(
		oneOf("type", in.Type, "reply_buttons", "button", "cta_url", "list"),
		in.checkHeader(allowHTTP),
		in.checkTexts(),
	); err != nil {
		return err
	}

	if in.Action == nil {
		return missing("action")
	}
	return within("action", in.checkAction(allowHTTP))
}

func (in *interactiveBody) checkHeader(allowHTTP plainHTTP) error {
	if in.Header == nil || in.Type == nil {
		return nil
	}

	kinds := []string{"text", "image", "video", "document"}
	if *in.Type == "list" {
		kinds = kinds[:1]
	}
	return within("header", in.Header.check(kinds, allowHTTP))
}

func (h *headerBody) check(kinds []string, allowHTTP plainHTTP) error {
	if err := oneOf("type", h.Type, kinds...); err != nil {
		return err
	}

	h.attachment = h.only(*h.Type)
	if *h.Type == "text" {
		return required("text", h.Text, maxSmallText)
	}

	h.Text = nil
	return h.checkFile(*h.Type, allowHTTP)
}

func (in *interactiveBody) checkTexts() error {
	most := maxInteractiveText
	if in.Type != nil && *in.Type == "list" {
		most = maxListBody
	}

	if in.Body == nil {
		return missing("body")
	}
	if err := required("text", in.Body.Text, most); err != nil {
		return within("body", err)
	}

	if in.Footer == nil {
		return nil
	}
	return within("footer", required("text", in.Footer.Text, maxSmallText))
}

// checkAction checks the fields that belong to the type and drops the others.
func (in *interactiveBody) checkAction(allowHTTP plainHTTP) error {
	a := in.Action

	switch *in.Type {
	case "list":
		in.Action = &actionBody{Button: a.Button, Sections: a.Sections}
		return a.checkList()
	case "cta_url":
		in.Action = &actionBody{Name: a.Name, Parameters: a.Parameters}
		return a.checkLink(allowHTTP)
	default:
		in.Action = &actionBody{Buttons: a.Buttons}
		return a.checkButtons()
	}
}

func (in *interactiveBody) describe(s *outgoingMessage) {
	s.Body = in.Body.Text
	if h := in.Header; h != nil {
		if f := h.file(*h.Type); f != nil {
			s.Media = []mediaRef{f.ref("interactive.header."+*h.Type, *h.Type)}
		}
	}
}

// buttonBody is a button whose tap sends a reply.
type buttonBody struct {
	Type  *string    `json:"type,omitempty"`
	Reply *replyBody `json:"reply,omitempty"`
}

type replyBody struct {
	ID    *string `json:"id,omitempty"`
	Title *string `json:"title,omitempty"`
}

func (a *actionBody) checkButtons() error {
	ids, titles := make(map[string]bool), make(map[string]bool)
	return cmp.Or(count("buttons", a.Buttons, maxButtons), each("buttons", a.Buttons, func(b *buttonBody) error {
		if err := oneOf("type", b.Type, "reply"); err != nil {
			return err
		}
		if b.Reply == nil {
			return missing("reply")
		}

		return within("reply", b.Reply.check(ids, titles))
	}))
}

func (r *replyBody) check(ids, titles map[string]bool) error {
	if err := cmp.Or(required("id", r.ID, maxButtonID), required("title", r.Title, maxButtonTitle)); err != nil {
		return err
	}
	return cmp.Or(unique("id", *r.ID, ids), unique("title", *r.Title, titles))
}

// linkBody is the one button of a cta_url message.
type linkBody struct {
	DisplayText *string `json:"display_text,omitempty"`
	URL         *string `json:"url,omitempty"`
}

func (a *actionBody) checkLink(allowHTTP plainHTTP) error {
	if err := oneOf("name", a.Name, "cta_url"); err != nil {
		return err
	}
	if a.Parameters == nil {
		return missing("parameters")
	}

	return within("parameters", cmp.Or(
		required("display_text", a.Parameters.DisplayText, maxButtonTitle),
		checkLink("url", a.Parameters.URL, allowHTTP),
	))
}

type sectionBody struct {
	Title *string    `json:"title,omitempty"`
	Rows  []*rowBody `json:"rows,omitempty"`
}

type rowBody struct {
	ID          *string `json:"id,omitempty"`
	Title       *string `json:"title,omitempty"`
	Description *string `json:"description,omitempty"`
}

func (a *actionBody) checkList() error {
	if err := cmp.Or(required("button", a.Button, maxButtonTitle), count("sections", a.Sections, maxSections)); err != nil {
		return err
	}

	ids, rows := make(map[string]bool), 0
	return each("sections", a.Sections, func(s *sectionBody) error {
		if s.Title == nil && len(a.Sections) > 1 {
			return missing("title")
		}

		if err := cmp.Or(optional("title", s.Title, maxRowTitle), count("rows", s.Rows, maxRows)); err != nil {
			return err
		}
		if rows += len(s.Rows); rows > maxRows {
			return invalid("rows", "must be at most "+strconv.Itoa(maxRows)+" in all sections together")
		}

		return each("rows", s.Rows, func(r *rowBody) error { return r.check(ids) })
	})
}

func (r *rowBody) check(ids map[string]bool) error {
	if err := cmp.Or(
		required("id", r.ID, maxRowID),
		required("title", r.Title, maxRowTitle),
		optional("description", r.Description, maxRowDescription),
	); err != nil {
		return err
	}

	return unique("id", *r.ID, ids)
}
