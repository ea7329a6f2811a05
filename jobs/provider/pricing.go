package provider

import (
	"encoding/json"
	"slices"
	"strings"
)

// UnknownPricing stands in pricing for what we do not understand, or what is not said: a guess could
// be taken for a price.
const UnknownPricing = "unknown"

// Pricing is what a status says about the price of its message.
type Pricing struct {
	Billable *bool  `json:"billable"` // nil if it is not said
	Category string `json:"category"`
	Type     string `json:"type"`
	Model    string `json:"model"`
}

// maxPricing bounds the object that is kept with a message, in bytes.
const maxPricing = 4096

// PricingCategories are the categories that have a price.
func PricingCategories() []string {
	return []string{
		"authentication", "authentication-international", "marketing", "marketing_lite", "referral_conversion", "service", "utility",
	}
}

// ReadPricing reads the pricing of a status. It returns false if there is none.
func ReadPricing(raw json.RawMessage) (Pricing, bool) {
	var said struct {
		Billable any `json:"billable"`
		Model    any `json:"pricing_model"`
		Type     any `json:"type"`
		Category any `json:"category"`
	}
	if len(raw) == 0 || raw[0] != '{' || len(raw) > maxPricing || json.Unmarshal(raw, &said) != nil {
		return Pricing{}, false
	}

	p := Pricing{
		Category: knownWord(said.Category, PricingCategories()...),
		Type:     knownWord(said.Type, "regular", "free_customer_service", "free_entry_point"),
		Model:    knownWord(said.Model, "PMP", "CBP"),
	}
	if billable, ok := said.Billable.(bool); ok {
		p.Billable = &billable
	}
	return p, true
}

// knownWord returns which of some words a value is, regardless of its case and of how its
// parts are joined.
func knownWord(value any, words ...string) string {
	text, _ := value.(string)
	i := slices.IndexFunc(words, func(word string) bool {
		return strings.EqualFold(strings.ReplaceAll(word, "-", "_"), strings.ReplaceAll(text, "-", "_"))
	})
	if i < 0 {
		return UnknownPricing
	}
	return words[i]
}
