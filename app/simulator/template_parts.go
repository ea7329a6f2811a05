package simulator

import (
	"regexp"
	"slices"
	"strings"
)

func (r *rules) header(comp object) error {
	format := strings.ToUpper(comp.text("format"))
	comp["format"] = format

	switch format {
	case "TEXT":
		return r.headerText(comp)
	case "IMAGE", "VIDEO", "DOCUMENT", "GIF":
		if r.card && format != "IMAGE" && format != "VIDEO" {
			return malformed("The header of a card is an image or a video.")
		}

		handles := comp.child("example").list("header_handle")
		if len(handles) == 0 {
			return missingField("component of type HEADER is missing expected field(s) (example)")
		}
		handle, _ := handles[0].(string)
		if !strings.HasPrefix(handle, "4:") && !strings.HasPrefix(handle, "https://scontent.whatsapp.net/") {
			return badHeader("The media handle of the header's example is not valid.")
		}
		return nil
	case "LOCATION", "PRODUCT":
		if r.card {
			return malformed("The header of a card is an image or a video.")
		}
		return nil
	}
	return badHeader("%q is no header format.", comp.text("format"))
}

func (r *rules) headerText(comp object) error {
	text := comp.text("text")
	names, err := r.variablesOf(text)

	switch {
	case r.card:
		return malformed("The header of a card is an image or a video.")
	case strings.TrimSpace(text) == "":
		return badHeader("The header has no text.")
	case chars(text) > maxSmallText:
		return tooManyCharacters("header", maxSmallText)
	case err != nil:
		return badHeader("The header is not well formed: %v.", err)
	case len(names) > 1:
		return badHeader("The header can have at most one variable.")
	case strings.ContainsAny(text, "\n\t"):
		return badHeader("The header can have no line breaks.")
	}
	return r.checkExamples(comp, "header_text", names)
}

var (
	adjacentVariables = regexp.MustCompile(`\}\}\s*\{\{`)
	wordPattern       = regexp.MustCompile(`[\pL\pN]+`)
)

func (r *rules) body(comp object, limit int) error {
	text := comp.text("text")
	trimmed := strings.TrimSpace(text)
	names, err := r.variablesOf(text)
	// The provider wants at least one word for each variable.
	words := len(wordPattern.FindAllString(variablePattern.ReplaceAllString(text, " "), -1))

	switch {
	case trimmed == "":
		return badBodyText("The body has no text.")
	case chars(text) > limit:
		return tooManyCharacters("message body", limit)
	case err != nil:
		return badBodyText("The body is not well formed: %v.", err)
	case strings.HasPrefix(trimmed, "{{") || strings.HasSuffix(trimmed, "}}"):
		return templateError(2388299, "Leading or trailing params", "Variables can't be at the start or end of the template.")
	case adjacentVariables.MatchString(text):
		return badBodyText("Variables can't be next to each other.")
	case words < len(names):
		return templateError(2388293, "Parameters words ratio exceeds limit", "This template has too many variables for its length.")
	}
	return r.checkExamples(comp, "body_text", names)
}

func (r *rules) footer(comp object) error {
	text := comp.text("text")

	const title = "Message footer format is incorrect"
	switch {
	case strings.TrimSpace(text) == "":
		return templateError(2388073, title, "The footer has no text.")
	case chars(text) > maxSmallText:
		return tooManyCharacters("footer", maxSmallText)
	case strings.Contains(text, "{{"):
		return templateError(2388073, title, "The footer can have no variables.")
	}
	return nil
}

const (
	minCards = 2
	maxCards = 10
)

// carousel requires that all cards have the same components.
func (r *rules) carousel(comp object) error {
	list := comp.objects("cards")
	if len(list) < minCards || len(list) > maxCards {
		return malformed("A carousel has %d to %d cards.", minCards, maxCards)
	}

	cardRules := rules{category: r.category, named: r.named, card: true}
	var cards []object
	for _, item := range list {
		components, err := cardRules.components(item.objects("components"))
		if err != nil {
			return err
		}

		cards = append(cards, object{"components": components})
		if shapeOf(components) != shapeOf(cards[0].objects("components")) {
			return malformed("All cards of a carousel must have the same components.")
		}
	}

	comp["cards"] = cards
	return nil
}

// shapeOf lists what a card is made of, in a form that can be compared.
func shapeOf(components []object) string {
	var parts []string
	for _, comp := range components {
		part := comp.text("type") + ":" + comp.text("format")
		for _, button := range comp.objects("buttons") {
			part += "," + button.text("type")
		}
		parts = append(parts, part)
	}

	slices.Sort(parts)
	return strings.Join(parts, ";")
}

const maxOfferText = 16

func (r *rules) offer(comp object) error {
	if !between(comp.child("limited_time_offer").text("text"), 1, maxOfferText) {
		return malformed("The text of a limited-time offer has 1 to %d characters.", maxOfferText)
	}
	return nil
}
