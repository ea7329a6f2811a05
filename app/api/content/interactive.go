package content

import (
	"cmp"
	"encoding/json"
	"strconv"

	"confab/app/api/rest"
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

// interactiveBody is the content of a message with something to tap on.
type interactiveBody struct {
	Type   *string     `json:"type,omitempty"`
	Header *headerBody `json:"header,omitempty"`
	Body   *textObject `json:"body,omitempty"`
	Footer *textObject `json:"footer,omitempty"`
	Action *actionBody `json:"action,omitempty"`
}

type textObject struct {
	Text *string `json:"text,omitempty"`
}

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

func (in *interactiveBody) Check(allowHTTP PlainHTTP) error {
	if err := cmp.Or(
		rest.OneOf("type", in.Type, "reply_buttons", "button", "cta_url", "list", "request_contact_info"),
		in.checkHeader(allowHTTP),
		in.checkTexts(),
	); err != nil {
		return err
	}
	return rest.Object("action", in.Action, func(*actionBody) error { return in.checkAction(allowHTTP) })
}

// CheckQuickReply checks the buttons or the list of a quick reply, whose text is what stands above
// them unless they say otherwise, and returns them as they are stored.
func CheckQuickReply(raw json.RawMessage, text string) (json.RawMessage, error) {
	var in interactiveBody
	if err := rest.ReadObject("interactive", raw, &in); err != nil {
		return nil, err
	}

	own := in.Body
	if own == nil {
		in.Body = &textObject{&text}
	}
	err := cmp.Or(rest.OneOf("type", in.Type, "reply_buttons", "button", "list"), in.Check(NoHTTP))
	if err != nil {
		return nil, rest.Within("interactive", err)
	}

	in.Body = own
	return json.Marshal(in)
}

func (in *interactiveBody) checkHeader(allowHTTP PlainHTTP) error {
	if in.Header == nil || in.Type == nil {
		return nil
	}

	kinds := []string{"text", "image", "video", "document"}
	if *in.Type == "list" || *in.Type == "request_contact_info" {
		kinds = kinds[:1]
	}
	return rest.Within("header", in.Header.Check(kinds, allowHTTP))
}

func (h *headerBody) Check(kinds []string, allowHTTP PlainHTTP) error {
	if err := rest.OneOf("type", h.Type, kinds...); err != nil {
		return err
	}

	h.attachment = h.only(*h.Type)
	if *h.Type == "text" {
		return rest.Required("text", h.Text, maxSmallText)
	}

	h.Text = nil
	return h.checkFile(*h.Type, allowHTTP)
}

func (in *interactiveBody) checkTexts() error {
	most := maxInteractiveText
	if in.Type != nil && *in.Type == "list" {
		most = maxListBody
	}

	err := rest.Object("body", in.Body, func(b *textObject) error { return rest.Required("text", b.Text, most) })
	if err != nil || in.Footer == nil {
		return err
	}
	return rest.Within("footer", rest.Required("text", in.Footer.Text, maxSmallText))
}

// checkAction checks the fields that belong to the type and drops the others.
func (in *interactiveBody) checkAction(allowHTTP PlainHTTP) error {
	a := in.Action

	switch *in.Type {
	case "list":
		in.Action = &actionBody{Button: a.Button, Sections: a.Sections}
		return a.checkList()
	case "cta_url":
		in.Action = &actionBody{Name: a.Name, Parameters: a.Parameters}
		return a.checkLink(allowHTTP)
	case "request_contact_info":
		in.Action = &actionBody{Name: a.Name}
		return rest.OneOf("name", a.Name, "request_contact_info")
	default:
		in.Action = &actionBody{Buttons: a.Buttons}
		return a.checkButtons()
	}
}

func (in *interactiveBody) Describe(s *OutgoingMessage) {
	s.Body = in.Body.Text
	if h := in.Header; h != nil {
		s.Media = h.file(*h.Type).addTo(nil, "interactive.header."+*h.Type)
	}
}

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
	return cmp.Or(rest.Count("buttons", a.Buttons, maxButtons), rest.Each("buttons", a.Buttons, func(b *buttonBody) error {
		if err := rest.OneOf("type", b.Type, "reply"); err != nil {
			return err
		}
		return rest.Object("reply", b.Reply, func(r *replyBody) error { return r.Check(ids, titles) })
	}))
}

func (r *replyBody) Check(ids, titles map[string]bool) error {
	if err := cmp.Or(rest.Required("id", r.ID, maxButtonID), rest.Required("title", r.Title, maxButtonTitle)); err != nil {
		return err
	}
	return cmp.Or(rest.Unique("id", *r.ID, ids), rest.Unique("title", *r.Title, titles))
}

// linkBody is the one button of a cta_url message.
type linkBody struct {
	DisplayText *string `json:"display_text,omitempty"`
	URL         *string `json:"url,omitempty"`
}

func (a *actionBody) checkLink(allowHTTP PlainHTTP) error {
	return cmp.Or(rest.OneOf("name", a.Name, "cta_url"), rest.Object("parameters", a.Parameters, func(l *linkBody) error {
		return cmp.Or(rest.Required("display_text", l.DisplayText, maxButtonTitle), CheckLink("url", l.URL, allowHTTP))
	}))
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
	if err := cmp.Or(rest.Required("button", a.Button, maxButtonTitle), rest.Count("sections", a.Sections, maxSections)); err != nil {
		return err
	}

	ids, rows := make(map[string]bool), 0
	return rest.Each("sections", a.Sections, func(s *sectionBody) error {
		if s.Title == nil && len(a.Sections) > 1 {
			return rest.Missing("title")
		}

		if err := cmp.Or(rest.Optional("title", s.Title, maxRowTitle), rest.Count("rows", s.Rows, maxRows)); err != nil {
			return err
		}
		if rows += len(s.Rows); rows > maxRows {
			return rest.Invalid("rows", "must be at most "+strconv.Itoa(maxRows)+" across all sections")
		}

		return rest.Each("rows", s.Rows, func(r *rowBody) error { return r.Check(ids) })
	})
}

func (r *rowBody) Check(ids map[string]bool) error {
	if err := cmp.Or(
		rest.Required("id", r.ID, maxRowID),
		rest.Required("title", r.Title, maxRowTitle),
		rest.Optional("description", r.Description, maxRowDescription),
	); err != nil {
		return err
	}

	return rest.Unique("id", *r.ID, ids)
}
