package simulator

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// contents read the content of each type of message, and refuse what the provider refuses.
var contents = map[string]func(s *Server, c *call, d *draft) error{
	"text": checkText, "image": checkMedia, "video": checkMedia, "audio": checkMedia,
	"document": checkMedia, "sticker": checkMedia, "location": checkLocation, "contacts": checkContacts,
	"reaction": checkReaction, "interactive": checkInteractive, "template": checkTemplate,
}

const (
	maxText     = 4096
	maxCaption  = 1024
	maxContacts = 257
)

// chars counts characters as the provider's limits do.
func chars(s string) int { return utf8.RuneCountInString(s) }

func checkText(_ *Server, c *call, _ *draft) error {
	text := c.params.child("text")

	switch {
	case !text.has("body"):
		return requiredParameter("text['body']")
	case text.text("body") == "":
		return badParameter("Param text['body'] cannot be empty.")
	case chars(text.text("body")) > maxText:
		return tooLong("text['body']", maxText)
	}
	return nil
}

// checkMedia checks the five types that carry a file.
func checkMedia(s *Server, c *call, d *draft) error {
	content := c.params.child(d.Type)
	if content == nil {
		return badParameter("Param %s must be a JSON object.", d.Type)
	}

	if err := s.checkSource(d, d.Type, d.Type, content); err != nil {
		return err
	}

	switch {
	case content.has("caption") && (d.Type == "audio" || d.Type == "sticker"):
		return badParameter("Unexpected key \"caption\" on param \"%s\".", d.Type)
	case chars(content.text("caption")) > maxCaption:
		return tooLong(d.Type+"['caption']", maxCaption)
	}

	d.Voice = d.Type == "audio" && content.boolean("voice")
	return nil
}

// checkSource requires exactly one of id and link. An unknown id is refused at
// once; a link that cannot be fetched fails the message later, by callback.
func (s *Server) checkSource(d *draft, path, kind string, content object) error {
	id, link := content.text("id"), content.text("link")

	switch {
	case id == "" && link == "":
		return badParameter("The parameter %s['id'] or %s['link'] is required.", path, path)
	case id != "" && link != "":
		return badParameter("Only one of %s['id'] and %s['link'] may be given.", path, path)
	case link != "":
		d.link = link
		return nil
	}

	// A file can only be sent by the number that it was uploaded for.
	m := s.mediaByID(id)
	if m == nil || m.Number != d.Number {
		return notValid("Media with ID %s does not exist or was not uploaded for this phone number.", id)
	}
	base, _, _ := strings.Cut(m.Mime, ";")
	if kind != "document" && kindOfMime(base).kind != kind { // anything may go as a document
		return refuseWith(codeMediaUpload, "Media of type %s cannot be sent as %s.", m.Mime, kind)
	}
	return nil
}

// fetchable reports whether a link is one that the provider could try.
func fetchable(link string) bool {
	u, err := url.Parse(link)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func checkLocation(_ *Server, c *call, _ *draft) error {
	location := c.params.child("location")

	for _, axis := range []struct {
		name  string
		limit float64
	}{{"latitude", 90}, {"longitude", 180}} {
		v, ok := location.decimal(axis.name)
		switch {
		case !location.has(axis.name):
			return requiredParameter("location['" + axis.name + "']")
		case !ok || v < -axis.limit || v > axis.limit:
			return notValid("location.%s must be a number between %v and %v", axis.name, -axis.limit, axis.limit)
		}
	}
	return nil
}

func checkContacts(_ *Server, c *call, _ *draft) error {
	list := c.params.objects("contacts")
	if len(list) == 0 || len(list) > maxContacts {
		return badParameter("Param contacts must be an array of 1 to %d contacts.", maxContacts)
	}

	for i, contact := range list {
		name := contact.child("name")
		path := fmt.Sprintf("contacts[%d]['name']", i)
		switch {
		case name == nil:
			return requiredParameter(path)
		case name.text("formatted_name") == "":
			return requiredParameter(path + "['formatted_name']")
		case !slices.ContainsFunc(nameParts, func(part string) bool { return name.text(part) != "" }):
			return refuseWith(codeMissingParameter, "contacts[%d].name needs a part besides formatted_name", i)
		}
	}
	return nil
}

var nameParts = []string{"first_name", "last_name", "middle_name", "suffix", "prefix"}

func checkReaction(_ *Server, c *call, _ *draft) error {
	reaction := c.params.child("reaction")

	switch {
	case reaction.text("message_id") == "":
		return requiredParameter("reaction['message_id']")
	case !reaction.isText("emoji"):
		return requiredParameter("reaction['emoji']")
	case chars(reaction.text("emoji")) > 20:
		return notValid("reaction.emoji must be one emoji")
	}
	return nil
}
