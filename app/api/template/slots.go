package template

import (
	"strings"

	"confab/app/api/content"
	"confab/app/api/rest"
)

// parameterRule is the sub type under which values are given for a button, "" when it
// takes none, and how many parameters it needs and takes.
func (b storedButton) parameterRule() (subType string, least, most int) {
	switch strings.ToUpper(b.Type) {
	case "URL":
		n := min(len(Variables(b.URL)), 1)
		return "url", n, n
	case "OTP":
		return "url", 1, 1
	case "COPY_CODE":
		return "copy_code", 1, 1
	case "QUICK_REPLY", "FLOW", "CATALOG", "MPM", "VOICE_CALL":
		return strings.ToLower(b.Type), 0, 1
	}
	return "", 0, 0
}

// checkButtonParameters checks the values for a button, which is named by its index.
func checkButtonParameters(stored *storedPart, p *content.PartBody) error {
	i := int(p.Index.Value)
	if stored == nil || i >= len(stored.Buttons) {
		return rest.Invalid("index", "must be the index of one of the template's buttons")
	}

	subType, least, most := stored.Buttons[i].parameterRule()
	if subType != "" && *p.SubType != subType {
		return rest.Invalid("sub_type", "must be "+subType+", like this button of the template")
	}

	return countBetween(least, most, len(p.Parameters), "parameters")
}

// checkCarousel checks each card against the card of the template at its index.
func (t Stored) checkCarousel(stored *storedPart, sent content.Components) error {
	for i, c := range sent {
		if *c.Type == "carousel" {
			return rest.Within(rest.ItemPath("components", i), t.checkCards(stored, c.Cards))
		}
	}

	if stored != nil {
		return rest.Invalid("components", "must have a carousel for this template")
	}
	return nil
}

func (t Stored) checkCards(stored *storedPart, given []*content.CardBody) error {
	n := 0
	if stored != nil {
		n = len(stored.Cards)
	}

	if err := countBetween(n, n, len(given), "cards"); err != nil {
		return err
	}

	return rest.Each("cards", given, func(c *content.CardBody) error {
		if i := int(c.CardIndex.Value); i < n {
			return t.checkParts(stored.Cards[i].Components, c.Components)
		}
		return rest.Invalid("card_index", "must be the index of one of the template's cards")
	})
}
