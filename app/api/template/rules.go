package template

import (
	"cmp"
	"slices"
	"strings"

	"confab/app/api/content"
	"confab/app/api/rest"
)

// What the provider allows in a template.
const (
	MaxHeaderText = 60
	maxFooterText = 60
	MaxOfferBody  = 600 // of the body beside a limited-time offer
	MaxCardBody   = 160
	maxOfferText  = 16
	MinCards      = 2
	maxDraftParts = 10 // more than there are types
)

// Types of components.
const (
	HeaderPart   = "HEADER"
	BodyPart     = "BODY"
	FooterPart   = "FOOTER"
	buttonsPart  = "BUTTONS"
	carouselPart = "CAROUSEL"
	offerPart    = "LIMITED_TIME_OFFER"
)

// draftRules checks the components of a template, or of a card, and normalizes them to
// the provider's spelling: words in capitals, and no fields without a meaning.
type draftRules struct {
	category  string
	named     bool // variables have names
	card      bool
	offer     bool // there is a limited-time offer
	allowHTTP content.PlainHTTP
}

// checkComponents checks which parts there are, and then each of them.
func (r draftRules) checkComponents(parts []*DraftPart) error {
	kinds := []string{HeaderPart, BodyPart, FooterPart, buttonsPart, carouselPart, offerPart}
	required := []string{BodyPart}
	switch {
	case r.card:
		kinds, required = []string{HeaderPart, BodyPart, buttonsPart}, []string{HeaderPart, buttonsPart}
	case r.category == Authentication:
		kinds, required = []string{BodyPart, FooterPart, buttonsPart}, []string{BodyPart, buttonsPart}
	}

	if err := rest.AtMost("components", parts, maxDraftParts); err != nil {
		return err
	}

	seen := make(map[string]bool)
	err := rest.Each("components", parts, func(p *DraftPart) error {
		if err := oneOfAnyCase("type", p.Type, kinds...); err != nil {
			return err
		}
		return rest.Unique("type", *p.Type, seen)
	})
	if err != nil {
		return err
	}
	for _, kind := range required {
		if !seen[kind] {
			return rest.Invalid("components", "must have one of type "+kind)
		}
	}
	if err := r.checkCombination(parts, seen); err != nil {
		return err
	}

	r.offer = seen[offerPart]
	return rest.Each("components", parts, r.checkPart)
}

// checkCombination checks that the parts may be combined.
func (r draftRules) checkCombination(parts []*DraftPart, seen map[string]bool) error {
	return rest.Each("components", parts, func(p *DraftPart) error {
		switch kind := *p.Type; {
		case r.category != Marketing && (kind == carouselPart || kind == offerPart):
			return rest.Invalid("type", "can only be "+kind+" in a template of category "+Marketing)
		case seen[carouselPart] && (kind == HeaderPart || kind == FooterPart):
			return rest.Invalid("type", "cannot be "+kind+" together with a carousel")
		case seen[offerPart] && kind == FooterPart:
			return rest.Invalid("type", "cannot be "+kind+" together with a limited-time offer")
		}
		return nil
	})
}

// checkPart checks one part by its type, and drops the fields of other types.
func (r draftRules) checkPart(p *DraftPart) error {
	given := *p
	*p = DraftPart{Type: given.Type}

	switch *p.Type {
	case HeaderPart:
		p.Format, p.Text, p.Example = given.Format, given.Text, given.Example
		return r.checkHeader(p)
	case BodyPart:
		if r.category == Authentication {
			p.AddSecurityRecommendation = given.AddSecurityRecommendation
			if given.Text != nil {
				return rest.Invalid("text", "cannot be given: the provider writes the text of authentication templates")
			}
			return nil
		}
		p.Text, p.Example = given.Text, given.Example
		return r.checkBody(p)
	case FooterPart:
		if r.category == Authentication {
			p.CodeExpirationMinutes = given.CodeExpirationMinutes
			return rest.InRange("code_expiration_minutes", p.CodeExpirationMinutes, 1, 90)
		}
		p.Text = given.Text
		return cmp.Or(notBlank("text", p.Text, maxFooterText), noVariables("text", p.Text))
	case buttonsPart:
		p.Buttons = given.Buttons
		return r.checkButtons(p.Buttons)
	case carouselPart:
		p.Cards = given.Cards
		return r.checkCarousel(p.Cards)
	default:
		p.Offer = given.Offer
		return rest.Object("limited_time_offer", p.Offer, func(o *draftOffer) error { return rest.Required("text", o.Text, maxOfferText) })
	}
}

func (r draftRules) checkHeader(p *DraftPart) error {
	formats := []string{"TEXT", "IMAGE", "VIDEO", "DOCUMENT", "GIF", "LOCATION", "PRODUCT"}
	if r.card {
		formats = []string{"IMAGE", "VIDEO"}
	}
	if err := oneOfAnyCase("format", p.Format, formats...); err != nil {
		return err
	}

	switch *p.Format {
	case "TEXT":
		return r.checkHeaderText(p)
	case "LOCATION", "PRODUCT":
		p.Text, p.Example = nil, nil
		return nil
	}

	p.Text = nil
	return p.checkFile(r.allowHTTP)
}

func (r draftRules) checkHeaderText(p *DraftPart) error {
	if err := notBlank("text", p.Text, MaxHeaderText); err != nil {
		return err
	}

	names, err := r.checkVariables("text", *p.Text)
	switch {
	case err != nil:
		return err
	case strings.ContainsAny(*p.Text, "\n\t"):
		return rest.Invalid("text", "must not have line breaks or tabs")
	case len(names) > 1:
		return rest.Invalid("text", "must have at most one variable")
	}
	return r.checkSamples(p, "header_text", names)
}

func (r draftRules) checkBody(p *DraftPart) error {
	most := content.MaxBodyText
	switch {
	case r.card:
		most = MaxCardBody
	case r.offer:
		most = MaxOfferBody
	}

	if err := notBlank("text", p.Text, most); err != nil {
		return err
	}

	names, err := r.checkVariables("text", *p.Text)
	if err != nil {
		return err
	}
	if err := checkVariableContext(*p.Text, len(names)); err != nil {
		return err
	}

	return r.checkSamples(p, "body_text", names)
}

// notBlank checks a text that people read: present, not only spaces, and not too long.
func notBlank(name string, s *string, most int) error {
	if err := rest.Required(name, s, most); err != nil {
		return err
	}
	if strings.TrimSpace(*s) == "" {
		return rest.Invalid(name, "must not be blank")
	}
	return nil
}

// noVariables refuses variables in a text, if there is one.
func noVariables(name string, s *string) error {
	if s != nil && strings.Contains(*s, "{{") {
		return rest.Invalid(name, "must not have variables")
	}
	return nil
}

// checkCarousel checks the cards, which must all have the same structure.
func (r draftRules) checkCarousel(cards []*draftCard) error {
	switch {
	case cards == nil:
		return rest.Missing("cards")
	case len(cards) < MinCards || len(cards) > content.MaxCards:
		return rest.Invalid("cards", "must have 2 to 10 items")
	}

	r.card = true
	if err := rest.Each("cards", cards, func(c *draftCard) error {
		if c.Components == nil {
			return rest.Missing("components")
		}
		return r.checkComponents(c.Components)
	}); err != nil {
		return err
	}

	first := cards[0].shape()
	return rest.Each("cards", cards, func(c *draftCard) error {
		if !slices.Equal(c.shape(), first) {
			return rest.Invalid("components", "must match those of the other cards")
		}
		return nil
	})
}

// shape is the structure of a card: its parts, their formats, and its buttons.
func (c *draftCard) shape() (words []string) {
	for _, p := range c.Components {
		word := *p.Type
		if p.Format != nil {
			word += " " + *p.Format
		}
		for _, b := range p.Buttons {
			word += " " + *b.Type
		}
		words = append(words, word)
	}

	slices.Sort(words) // the order does not matter
	return words
}
