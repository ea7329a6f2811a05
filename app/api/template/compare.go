package template

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"confab/storage"
)

// Same reports whether a template at the provider is one of ours. The provider
// does not return components as they were submitted: it shows files under URLs of its
// own, writes the texts of authentication templates, and turns a button for codes into
// a link. So only the parts that it keeps are compared.
func Same(theirs, ours storage.Template) bool {
	var one, two []*DraftPart
	if json.Unmarshal(theirs.Components, &one) != nil || json.Unmarshal(ours.Components, &two) != nil {
		return false
	}
	code := ours.Category == Authentication
	return slices.Equal(partKeys(one, code), partKeys(two, code))
}

// partKeys has a text for each component, which is equal for components that count as the
// same. code says that the template is for authentication.
func partKeys(parts []*DraftPart, code bool) (words []string) {
	for _, p := range parts {
		if p != nil {
			words = append(words, p.comparisonKey(code))
		}
	}
	return words
}

func (p *DraftPart) comparisonKey(code bool) string {
	kind := strings.ToUpper(storage.OrEmpty(p.Type))

	switch {
	case kind == HeaderPart:
		return fmt.Sprintf("%s %s %q", kind, strings.ToUpper(storage.OrEmpty(p.Format)), storage.OrEmpty(p.Text))
	case kind == offerPart && p.Offer != nil:
		return fmt.Sprintf("%s %q %v", kind, storage.OrEmpty(p.Offer.Text), p.Offer.HasExpiration != nil && *p.Offer.HasExpiration)

	case kind == carouselPart:
		for _, card := range p.Cards {
			if card != nil {
				kind += fmt.Sprintf(" %q", partKeys(card.Components, code))
			}
		}
		return kind

	case kind == buttonsPart:
		for _, b := range p.Buttons {
			if b != nil {
				kind += fmt.Sprintf(" %q", b.comparisonKey())
			}
		}
		return kind

	case code && kind == BodyPart:
		return fmt.Sprintf("%s %v", kind, p.AddSecurityRecommendation != nil && *p.AddSecurityRecommendation)
	case code && p.CodeExpirationMinutes != nil:
		return fmt.Sprintf("%s %d", kind, p.CodeExpirationMinutes.Value)
	}

	return fmt.Sprintf("%s %q", kind, storage.OrEmpty(p.Text))
}

func (b *draftButton) comparisonKey() string {
	kind := strings.ToUpper(storage.OrEmpty(b.Type))
	link := storage.OrEmpty(b.URL)
	if kind == "OTP" {
		return "OTP " + strings.ToUpper(storage.OrEmpty(b.OTPType))
	}

	if u, err := url.Parse(link); err == nil && u.Query().Has("otp_type") {
		return "OTP " + u.Query().Get("otp_type")
	}

	label := storage.OrEmpty(b.Text)
	if kind == "COPY_CODE" || kind == "REQUEST_CONTACT_INFO" {
		label = "" // the provider writes the label
	}

	phone := strings.TrimPrefix(storage.OrEmpty(b.Phone), "+")
	return fmt.Sprintf("%s %q %s %s %s %s", kind, label, link, phone, storage.OrEmpty(b.FlowID), storage.OrEmpty(b.FlowName))
}
