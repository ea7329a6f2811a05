package template

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/jobs/mergefield"
	"confab/storage"
)

// Stored is a template as the provider returned it.
type Stored struct {
	parts  []storedPart
	named  bool // variables have names
	isCode bool // it sends codes, for authentication
}

// storedPart is a component of a template, or of a card.
type storedPart struct {
	Type    string         `json:"type"`
	Format  string         `json:"format"`
	Text    string         `json:"text"`
	Buttons []storedButton `json:"buttons"`
	Cards   []struct {
		Components []storedPart `json:"components"`
	} `json:"cards"`
	Offer struct {
		HasExpiration bool `json:"has_expiration"`
	} `json:"limited_time_offer"`
}

type storedButton struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// Parse reads a stored template. One without a category is for codes if its button shows that.
func Parse(t storage.Template) (s Stored, err error) {
	if !rest.Absent(json.RawMessage(t.Components)) {
		if err := json.Unmarshal(t.Components, &s.parts); err != nil {
			return s, fmt.Errorf("read the components of a stored template: %w", err)
		}
	}

	s.named, s.isCode = strings.EqualFold(t.ParameterFormat, "NAMED"), strings.EqualFold(t.Category, Authentication)
	if buttons := findPart(s.parts, "buttons"); t.Category == "" && buttons != nil {
		s.isCode = slices.ContainsFunc(buttons.Buttons, func(b storedButton) bool {
			return strings.EqualFold(b.Type, "OTP") || strings.Contains(b.URL, "otp_type=")
		})
	}
	return s, nil
}

// findPart finds the part of a type, nil when the template has none. The provider
// writes types in capitals, clients in any case.
func findPart(parts []storedPart, kind string) *storedPart {
	if i := slices.IndexFunc(parts, func(p storedPart) bool { return strings.EqualFold(p.Type, kind) }); i >= 0 {
		return &parts[i]
	}
	return nil
}

// SupportsBSUID reports whether a template can be sent to a business-scoped user id.
// Authentication templates cannot: they need a number.
func (t Stored) SupportsBSUID() bool { return !t.isCode }

// BodyVariables are the variables of a template's body, and whether they have names.
func (t Stored) BodyVariables() (names []string, named bool) {
	if body := findPart(t.parts, "body"); body != nil {
		names = Variables(body.Text)
	}
	return names, t.named
}

var variable = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

// Variables are the names of the variables in a text, each once.
func Variables(text string) (names []string) {
	for _, match := range variable.FindAllStringSubmatch(text, -1) {
		if name := match[1]; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Render is the text of a template's body with its parameters filled in, nil
// when the stored template has no body text. A text may name one variable many times,
// so it can become much longer than the request: then it is refused.
func (t Stored) Render(sent content.Components) (*string, error) {
	body := findPart(t.parts, "body")
	if body == nil || body.Text == "" {
		return nil, nil
	}

	values, length := t.values(sent), 0
	text := variable.ReplaceAllStringFunc(body.Text, func(found string) string {
		value, ok := values[variable.FindStringSubmatch(found)[1]]
		if !ok {
			return found
		}
		if length += utf8.RuneCountInString(value); length > content.MaxFilledText {
			return ""
		}
		return value
	})

	if length > content.MaxFilledText {
		return nil, rest.Invalid("template.components",
			"fill the template's body with more than "+strconv.Itoa(content.MaxFilledText)+" characters")
	}
	return &text, nil
}

func (t Stored) values(sent content.Components) map[string]string {
	all := make(map[string]string)
	for _, c := range sent {
		if *c.Type != "body" {
			continue
		}
		for i, p := range c.Parameters {
			name := strconv.Itoa(i + 1)
			if t.named {
				name = storage.OrEmpty(p.ParameterName)
			}
			all[name] = p.RenderedText()
		}
	}
	return all
}

// CheckParameters compares the values of a message, which are valid by
// themselves, with what its template needs.
func (t Stored) CheckParameters(sent content.Components) error {
	if len(t.parts) == 0 {
		return nil // without stored components there is nothing to compare with
	}

	given := make([]*content.PartBody, len(sent))
	for i, c := range sent {
		given[i] = &c.PartBody
	}
	return rest.Within("template", cmp.Or(t.checkParts(t.parts, given), t.checkCarousel(findPart(t.parts, "carousel"), sent)))
}

// checkParts checks the values for the parts of a template or a card, and then the
// parts without values: each is checked as if it had been given without parameters,
// which passes if it needs none.
func (t Stored) checkParts(parts []storedPart, sent []*content.PartBody) error {
	seen := make(map[string]bool)
	for i, p := range sent {
		if err := t.checkPart(parts, p); err != nil {
			return rest.Within(rest.ItemPath("components", i), err)
		}
		seen[slotOf(p)] = true
	}

	for _, p := range slotsOf(parts) {
		if !seen[slotOf(p)] && t.checkPart(parts, p) != nil {
			return rest.Invalid("components", "must have the parameters for the template's "+slotOf(p))
		}
	}
	return nil
}

// slotOf names a part for an error message.
func slotOf(p *content.PartBody) string {
	if *p.Type == "button" {
		return "button at index " + strconv.Itoa(int(p.Index.Value))
	}
	return *p.Type
}

// slotsOf are the parts of a template, without parameters.
func slotsOf(parts []storedPart) (slots []*content.PartBody) {
	for _, kind := range []string{"header", "limited_time_offer", "body"} {
		if findPart(parts, kind) != nil {
			slots = append(slots, &content.PartBody{Type: &kind})
		}
	}

	if buttons := findPart(parts, "buttons"); buttons != nil {
		kind := "button"
		for i, b := range buttons.Buttons {
			sub, _, _ := b.parameterRule()
			slots = append(slots, &content.PartBody{Type: &kind, SubType: &sub, Index: &rest.LooseNumber[int64]{Value: int64(i)}})
		}
	}
	return slots
}

// checkPart checks the values for one part.
func (t Stored) checkPart(parts []storedPart, p *content.PartBody) error {
	switch *p.Type {
	case "button":
		return checkButtonParameters(findPart(parts, "buttons"), p)
	case "carousel":
		return nil // which only the whole can check
	}

	switch stored := findPart(parts, *p.Type); {
	case stored == nil:
		return exactCount(0, p.Parameters)
	case *p.Type == "header":
		return t.checkHeader(stored, p.Parameters)
	case *p.Type == "body" && !t.isCode:
		return t.checkTexts(stored.Text, p.Parameters)
	case *p.Type == "body" || stored.Offer.HasExpiration:
		return exactCount(1, p.Parameters)
	}
	return countBetween(0, 1, len(p.Parameters), "parameters") // the expiry of an offer
}

func (t Stored) checkHeader(stored *storedPart, given []*content.ParameterBody) error {
	if stored.Format == "" || strings.EqualFold(stored.Format, "TEXT") {
		return t.checkTexts(stored.Text, given)
	}
	if err := exactCount(1, given); err != nil {
		return err
	}
	return rest.Within("parameters[0]", rest.OneOf("type", given[0].Type, strings.ToLower(stored.Format)))
}

// checkTexts checks that there is a value for each variable.
func (t Stored) checkTexts(text string, given []*content.ParameterBody) error {
	names, seen := Variables(text), make(map[string]bool)
	if err := exactCount(len(names), given); err != nil {
		return err
	}

	return rest.Each("parameters", given, func(p *content.ParameterBody) error {
		switch {
		case !slices.Contains([]string{"text", "currency", "date_time"}, *p.Type):
			return rest.Invalid("type", "must be text")
		case p.Text != nil && !mergefield.IsAllowed(*p.Text):
			return rest.Invalid("text", "must not have line breaks, tabs or more than four spaces in a row")
		case !t.named:
			return nil
		case p.ParameterName == nil || !slices.Contains(names, *p.ParameterName):
			return rest.Invalid("parameter_name", "must be one of "+strings.Join(names, ", "))
		}
		return rest.Unique("parameter_name", *p.ParameterName, seen)
	})
}

func exactCount(n int, given []*content.ParameterBody) error {
	return countBetween(n, n, len(given), "parameters")
}

// countBetween checks that n is from least to most.
func countBetween(least, most, n int, name string) error {
	switch {
	case least <= n && n <= most:
		return nil
	case least == most:
		return rest.Invalid(name, "must be "+strconv.Itoa(most)+" for this template, not "+strconv.Itoa(n))
	}
	return rest.Invalid(name, "must be at most "+strconv.Itoa(most)+" for this template, not "+strconv.Itoa(n))
}
