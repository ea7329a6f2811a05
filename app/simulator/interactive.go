package simulator

import (
	"slices"
	"strings"
)

const (
	maxInteractiveBody = 1024
	maxListBody        = 4096
	maxSmallText       = 60 // headers and footers
	maxButtons         = 3
	maxButtonTitle     = 20
	maxButtonID        = 256
	maxRows            = 10
	maxRowID           = 200
	maxRowTitle        = 24
	maxRowDescription  = 72
)

// uncheckedInteractives are accepted without a check: commerce and calling.
var uncheckedInteractives = []string{
	"product", "product_list", "catalog_message", "address_message", "order_details", "order_status",
	"call_permission_request", "voice_call", "carousel",
}

func checkInteractive(s *Server, c *call, d *draft) error {
	in := c.params.child("interactive")
	kind := in.text("type")
	action := in.child("action")

	switch {
	case in == nil:
		return badParameter("Param interactive must be a JSON object.")
	case kind == "":
		return requiredParameter("interactive['type']")
	case action == nil:
		return requiredParameter("interactive['action']")
	case slices.Contains(uncheckedInteractives, kind):
		return nil
	}

	if err := s.checkFrame(d, kind, in); err != nil {
		return err
	}

	switch kind {
	case "button":
		return checkReplyButtons(action)
	case "list":
		return checkList(action)
	case "cta_url":
		return checkLinkButton(action)
	case "location_request_message":
		return requireName(action, "send_location")
	case "request_contact_info":
		return requireName(action, "request_contact_info")
	case "flow":
		return checkFlow(action)
	}
	return badParameter("Param interactive['type'] must be one of "+
		"{BUTTON, LIST, CTA_URL, LOCATION_REQUEST_MESSAGE, REQUEST_CONTACT_INFO, FLOW, …} - got \"%s\".", kind)
}

func between(text string, low, high int) bool {
	n := chars(text)
	return n >= low && n <= high
}

func (s *Server) checkFrame(d *draft, kind string, in object) error {
	limit := maxInteractiveBody
	if kind == "list" {
		limit = maxListBody
	}

	body := in.child("body").text("text")
	switch {
	case body == "":
		return requiredParameter("interactive['body']['text']")
	case chars(body) > limit:
		return notValid("Body text length invalid. Min length: 1, Max length: %d", limit)
	case chars(in.child("footer").text("text")) > maxSmallText:
		return notValid("Footer text length invalid. Min length: 1, Max length: %d", maxSmallText)
	case !in.has("header"):
		return nil
	}

	return s.checkHeader(d, kind, in.child("header"))
}

func (s *Server) checkHeader(d *draft, kind string, header object) error {
	format := header.text("type")

	switch {
	case format == "text" && !between(header.text("text"), 1, maxSmallText):
		return notValid("Header text length invalid. Min length: 1, Max length: %d", maxSmallText)
	case format == "text":
		return nil
	case kind == "list" || kind == "location_request_message" || kind == "request_contact_info":
		return notValid("Header of type %s is not supported here", format)
	case format == "image" || format == "video" || format == "document":
		return s.checkSource(d, "interactive['header']['"+format+"']", format, header.child(format))
	}
	return notValid("Header type must be one of text, image, video, document")
}

func checkReplyButtons(action object) error {
	buttons := action.objects("buttons")
	if len(buttons) < 1 || len(buttons) > maxButtons {
		return notValid("Invalid buttons count. Min allowed buttons: 1, Max allowed buttons: %d", maxButtons)
	}

	titles, ids := map[string]bool{}, map[string]bool{}
	for i, button := range buttons {
		reply := button.child("reply")
		id, title := reply.text("id"), reply.text("title")

		switch {
		case button.text("type") != "reply":
			return notValid("Button at index %d must be of type reply", i)
		case !between(title, 1, maxButtonTitle):
			return notValid("Button title length invalid. Min length: 1, Max length: %d", maxButtonTitle)
		case !between(id, 1, maxButtonID):
			return notValid("Button id length invalid. Min length: 1, Max length: %d", maxButtonID)
		case titles[title] || ids[id]:
			return notValid("Duplicated title or id of button at index %d", i)
		}
		titles[title], ids[id] = true, true
	}
	return nil
}

func checkList(action object) error {
	sections := action.objects("sections")
	switch {
	case !between(action.text("button"), 1, maxButtonTitle):
		return notValid("Button text length invalid. Min length: 1, Max length: %d", maxButtonTitle)
	case len(sections) < 1 || len(sections) > maxRows:
		return notValid("Invalid sections count. Min allowed sections: 1, Max allowed sections: %d", maxRows)
	}

	// Rows are counted, and their ids are unique, across all sections.
	total, ids := 0, map[string]bool{}
	for i, section := range sections {
		rows := section.objects("rows")
		total += len(rows)

		switch {
		case len(sections) > 1 && section.text("title") == "":
			return notValid("Section at index %d needs a title", i)
		case chars(section.text("title")) > maxRowTitle:
			return notValid("Section title length invalid. Max length: %d", maxRowTitle)
		case len(rows) == 0:
			return notValid("Section at index %d has no rows", i)
		}

		if err := checkRows(rows, ids); err != nil {
			return err
		}
	}

	if total > maxRows {
		return notValid("Total row count exceed max allowed count: %d", maxRows)
	}
	return nil
}

func checkRows(rows []object, ids map[string]bool) error {
	for _, row := range rows {
		switch {
		case !between(row.text("id"), 1, maxRowID):
			return notValid("Row id length invalid. Min length: 1, Max length: %d", maxRowID)
		case !between(row.text("title"), 1, maxRowTitle):
			return notValid("Row title length invalid. Min length: 1, Max length: %d", maxRowTitle)
		case chars(row.text("description")) > maxRowDescription:
			return notValid("Row description length invalid. Max length: %d", maxRowDescription)
		case ids[row.text("id")]:
			return notValid("Duplicated row id: %s", row.text("id"))
		}

		ids[row.text("id")] = true
	}
	return nil
}

func checkLinkButton(action object) error {
	if err := requireName(action, "cta_url"); err != nil {
		return err
	}

	parameters := action.child("parameters")
	switch {
	case !between(parameters.text("display_text"), 1, maxButtonTitle):
		return notValid("display_text length invalid. Min length: 1, Max length: %d", maxButtonTitle)
	case !fetchable(parameters.text("url")):
		return notValid("url must be an http or https URL")
	}
	return nil
}

func checkFlow(action object) error {
	if err := requireName(action, "flow"); err != nil {
		return err
	}

	parameters := action.child("parameters")
	for _, name := range []string{"flow_message_version", "flow_cta"} {
		if parameters.text(name) == "" {
			return requiredParameter("interactive['action']['parameters']['" + name + "']")
		}
	}

	if parameters.text("flow_id") == "" && parameters.text("flow_name") == "" {
		return requiredParameter("interactive['action']['parameters']['flow_id']")
	}
	return nil
}

func requireName(action object, name string) error {
	if !strings.EqualFold(action.text("name"), name) {
		return notValid("action.name must be %s", name)
	}
	return nil
}
