package simulator

import (
	"strconv"
	"strings"
)

// card is an interactive message or a template as a person sees it, from any
// source: texts with their variables filled in, and what can be tapped.
type card struct {
	Header  *cardHeader  `json:"header,omitempty"`
	Body    string       `json:"body"`
	Footer  string       `json:"footer,omitempty"`
	Buttons []cardButton `json:"buttons,omitempty"`
	List    *cardList    `json:"list,omitempty"`
	Cards   []*card      `json:"cards,omitempty"` // of a carousel
}

// cardHeader is a text, or a file by its id or link.
type cardHeader struct {
	Type string `json:"type"` // text, image, video, document or location
	Text string `json:"text,omitempty"`
	File object `json:"file,omitempty"`
}

// cardButton is something to tap: a reply, which the business gets, or a link.
type cardButton struct {
	Type string `json:"type"` // reply, quick_reply, url, phone_number, copy_code, location, contact, flow
	ID   string `json:"id,omitempty"`
	Text string `json:"text"`
	URL  string `json:"url,omitempty"`
}

// cardList is a menu of rows, of which one can be chosen.
type cardList struct {
	Button   string `json:"button"`
	Sections []any  `json:"sections"`
}

// cardOf is the card of a message that the business sent; nil for those that have none.
func (s *Server) cardOf(m *message, in object) *card {
	switch m.Type {
	case "interactive":
		return interactiveCard(in.child("interactive"))
	case "template":
		return s.templateCard(m, in.child("template"))
	}
	return nil
}

func interactiveCard(in object) *card {
	action := in.child("action")
	c := &card{Body: in.child("body").text("text"), Footer: in.child("footer").text("text")}
	if header := in.child("header"); header != nil {
		kind := header.text("type")
		c.Header = &cardHeader{Type: kind, Text: header.text("text"), File: header.child(kind)}
	}

	switch in.text("type") {
	case "button":
		for _, item := range action.objects("buttons") {
			reply := item.child("reply")
			c.Buttons = append(c.Buttons, cardButton{Type: "reply", ID: reply.text("id"), Text: reply.text("title")})
		}
	case "list":
		c.List = &cardList{Button: action.text("button"), Sections: action.list("sections")}
	case "cta_url":
		link := action.child("parameters")
		c.Buttons = []cardButton{{Type: "url", Text: link.text("display_text"), URL: link.text("url")}}
	case "location_request_message":
		c.Buttons = []cardButton{{Type: "location", Text: "Send location"}}
	case "request_contact_info":
		c.Buttons = []cardButton{{Type: "contact", Text: "Share contact info"}}
	case "flow":
		c.Buttons = []cardButton{{Type: "flow", Text: action.child("parameters").text("flow_cta")}}
	}
	return c
}

// templateCard fills a template with the parameters of a message. Without the template,
// which may have been deleted, there is only its name.
func (s *Server) templateCard(m *message, in object) *card {
	components := m.components
	if components == nil {
		t := s.world.findTemplate(s.world.Numbers[m.Number].Account, in.text("name"), languageOf(in))
		if t == nil {
			return &card{Body: in.text("name")}
		}
		components = t.Components
	}
	return cardOfComponents(components, groupByType(in.objects("components")))
}

// cardOfComponents is the card of one set of components: those of a template, or of a card
// in it.
func cardOfComponents(components []object, given map[string][]object) *card {
	c := &card{}

	for _, comp := range components {
		switch comp.text("type") {
		case "HEADER":
			c.Header = filledHeader(comp, firstIn(given["header"]))
		case "BODY":
			c.Body = fillVariables(comp.text("text"), firstIn(given["body"]))
		case "FOOTER":
			c.Footer = comp.text("text")
		case "BUTTONS":
			c.Buttons = filledButtons(comp.objects("buttons"), given["button"])
		case "CAROUSEL":
			cards := firstIn(given["carousel"]).objects("cards")
			for i, item := range comp.objects("cards") {
				own := firstIn(cards[min(i, len(cards)):])
				c.Cards = append(c.Cards, cardOfComponents(item.objects("components"), groupByType(own.objects("components"))))
			}
		}
	}
	return c
}

// filledHeader is the header of a template: its text, or the file that the message gave.
func filledHeader(comp, given object) *cardHeader {
	kind := strings.ToLower(comp.text("format"))
	if kind == "text" {
		return &cardHeader{Type: kind, Text: fillVariables(comp.text("text"), given)}
	}

	h := &cardHeader{Type: kind}
	for _, p := range given.objects("parameters") {
		h.File = p.child(kind)
	}
	return h
}

// fillVariables replaces {{1}} or {{name}} by the parameters of a component, in one pass:
// what a parameter holds is not filled in again.
func fillVariables(text string, given object) string {
	values := map[string]string{}
	for i, p := range given.objects("parameters") {
		name := firstOf(p.text("parameter_name"), strconv.Itoa(i+1))
		values["{{"+name+"}}"] = firstOf(p.text("text"), p.child(p.text("type")).text("fallback_value"))
	}
	return variablePattern.ReplaceAllStringFunc(text, func(variable string) string { return firstOf(values[variable], variable) })
}

// filledButtons are the buttons of a template. A quick reply answers with the payload that
// the message gave it, else with its text.
func filledButtons(buttons, given []object) (all []cardButton) {
	parameters := map[string]object{}
	for _, g := range given {
		parameters[g.text("index")] = firstIn(g.objects("parameters"))
	}

	for i, b := range buttons {
		p := parameters[strconv.Itoa(i)]
		button := cardButton{Type: strings.ToLower(b.text("type")), Text: b.text("text")}
		switch button.Type {
		case "quick_reply":
			button.ID = firstOf(p.text("payload"), button.Text)
		case "url":
			button.URL = variablePattern.ReplaceAllLiteralString(b.text("url"), p.text("text"))
		case "phone_number":
			button.URL = "tel:" + b.text("phone_number")
		case "copy_code":
			button.ID = p.text("coupon_code")
		}
		button.Text = firstOf(button.Text, "Copy code")
		all = append(all, button)
	}
	return all
}
