// Package template knows the rules of templates: what the provider lets one write, which
// parameters a message must give to one, and how it then reads. It neither reads nor writes
// anything.
package template

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/jobs/provisioning"
	"confab/storage"
)

// Categories of templates.
const (
	Marketing      = "MARKETING"
	Utility        = "UTILITY"
	Authentication = "AUTHENTICATION"
)

var Categories = []string{Marketing, Utility, Authentication}

// templateLanguage is a language code as the provider writes it. en-US is accepted for
// en_US.
var templateLanguage = regexp.MustCompile(`^[a-z]{2,3}([_-][A-Za-z]{2,4})?$`)

// Draft is the body of POST /v1/:phone_number_id/templates.
type Draft struct {
	Name                *string                  `json:"name"`
	Language            *string                  `json:"language"`
	Category            *string                  `json:"category"`
	Components          []*DraftPart             `json:"components"`
	ParameterFormat     *string                  `json:"parameter_format,omitempty"`
	AllowCategoryChange *bool                    `json:"allow_category_change,omitempty"`
	TTL                 *rest.LooseNumber[int64] `json:"message_send_ttl_seconds,omitempty"`

	AllowHTTP content.PlainHTTP `json:"-"` // links need not be https; set it before decoding
}

// DraftPart is a component of a new template, or of a card. Only the fields of its
// type count; the others are dropped.
type DraftPart struct {
	Type    *string        `json:"type,omitempty"`
	Format  *string        `json:"format,omitempty"` // of a header
	Text    *string        `json:"text,omitempty"`
	Example *DraftExample  `json:"example,omitempty"`
	Buttons []*draftButton `json:"buttons,omitempty"`
	Cards   []*draftCard   `json:"cards,omitempty"`
	Offer   *draftOffer    `json:"limited_time_offer,omitempty"`

	// For authentication templates, whose texts the provider writes.
	AddSecurityRecommendation *bool                    `json:"add_security_recommendation,omitempty"`
	CodeExpirationMinutes     *rest.LooseNumber[int64] `json:"code_expiration_minutes,omitempty"`
}

type draftCard struct {
	Components []*DraftPart `json:"components"`
}

// draftOffer is the text of a limited-time offer.
type draftOffer struct {
	Text          *string `json:"text,omitempty"`
	HasExpiration *bool   `json:"has_expiration,omitempty"`
}

// Validate checks a template by the provider's rules, as far as they are known, and
// normalizes it to the provider's spelling.
func (t *Draft) Validate() error {
	if err := cmp.Or(t.checkName(), t.checkLanguage(), oneOfAnyCase("category", t.Category, Categories...)); err != nil {
		return err
	}

	if t.ParameterFormat != nil {
		if err := oneOfAnyCase("parameter_format", t.ParameterFormat, "POSITIONAL", "NAMED"); err != nil {
			return err
		}
	}

	if t.Components == nil {
		return rest.Missing("components")
	}
	if err := checkTTL(t.TTL, *t.Category); err != nil {
		return err
	}

	rules := draftRules{category: *t.Category, named: t.named(), allowHTTP: t.AllowHTTP}
	return rules.checkComponents(t.Components)
}

func (t *Draft) checkName() error {
	err := rest.Required("name", t.Name, content.MaxTemplateName)
	if err == nil && !content.TemplateName.MatchString(*t.Name) {
		return rest.Invalid("name", "can only have lowercase letters, digits and underscores")
	}
	return err
}

func (t *Draft) checkLanguage() error {
	switch {
	case t.Language == nil:
		return rest.Missing("language")
	case !templateLanguage.MatchString(*t.Language):
		return rest.Invalid("language", "must be a language code such as en or en_US")
	}
	*t.Language = provisioning.TemplateLanguage(*t.Language)
	return nil
}

func (t *Draft) named() bool { return t.ParameterFormat != nil && *t.ParameterFormat == "NAMED" }

// Row is the template as it is stored before the provider has seen it.
func (t *Draft) Row(account int64) (storage.Template, error) {
	components, err := json.Marshal(t.Components)
	format := "POSITIONAL"
	if t.named() {
		format = "NAMED"
	}

	return storage.Template{
		AccountID:       account,
		Name:            *t.Name,
		Language:        *t.Language,
		Status:          storage.TemplatePending,
		Category:        *t.Category,
		ParameterFormat: format,
		Content:         provisioning.TemplateContent(components),
		Components:      components,
	}, err
}

// ProviderBody is the template as it is sent to the provider.
func (t *Draft) ProviderBody() ([]byte, error) {
	sent := *t
	if t.ParameterFormat != nil {
		sent.ParameterFormat = new(strings.ToLower(*t.ParameterFormat)) // it takes small letters, but answers in capitals
	}
	return json.Marshal(sent)
}

// Changes is the body of PATCH /v1/:phone_number_id/templates/:name.
type Changes struct {
	Components rest.Patch[[]*DraftPart]            `json:"components"`
	Category   rest.Patch[string]                  `json:"category"`
	TTL        rest.Patch[rest.LooseNumber[int64]] `json:"message_send_ttl_seconds"`
}

func (c *Changes) Validate() error {
	if !c.Components.Set && !c.Category.Set && !c.TTL.Set {
		return rest.NoneGiven("components", "Provide at least one of components, category and message_send_ttl_seconds.")
	}

	err := cmp.Or(c.Components.NotNull("components"), c.Category.NotNull("category"), c.TTL.NotNull("message_send_ttl_seconds"))
	if err != nil || !c.Category.Set {
		return err
	}
	return oneOfAnyCase("category", &c.Category.Value, Categories...)
}

// CheckFor checks the changes against the template that they are for. A category that
// is not known has no rules of its own.
func (c *Changes) CheckFor(t storage.Template, allowHTTP content.PlainHTTP) error {
	category := t.Category
	c.Category.Apply(&category)

	if c.TTL.Set {
		if err := checkTTL(&c.TTL.Value, category); err != nil {
			return err
		}
	}
	if !c.Components.Set {
		return nil
	}

	rules := draftRules{category: category, named: t.ParameterFormat == "NAMED", allowHTTP: allowHTTP}
	return rules.checkComponents(c.Components.Value)
}

// ProviderBody is the request to the provider: fields that are absent stay as they
// are.
func (c *Changes) ProviderBody() ([]byte, error) {
	body := make(map[string]any)
	if c.Components.Set {
		body["components"] = c.Components.Value
	}
	if c.Category.Set {
		body["category"] = c.Category.Value
	}
	if c.TTL.Set {
		body["message_send_ttl_seconds"] = c.TTL.Value
	}
	return json.Marshal(body)
}

// ttlLimits bound, by category, for how many seconds the provider may try to deliver.
var ttlLimits = map[string]struct{ least, most int64 }{
	Authentication: {30, 900},
	Utility:        {30, 43_200},
	Marketing:      {43_200, 2_592_000},
}

// checkTTL checks the time to live of a template's messages. -1 means 30 days,
// which a marketing template has to write out.
func checkTTL(ttl *rest.LooseNumber[int64], category string) error {
	limit, known := ttlLimits[category]
	if ttl == nil || !known || ttl.Value == -1 && category != Marketing {
		return nil
	}
	return rest.InRange("message_send_ttl_seconds", ttl, limit.least, limit.most)
}

// oneOfAnyCase is OneOf for a word in any case, which it rewrites in capitals.
func oneOfAnyCase(name string, s *string, words ...string) error {
	if s == nil {
		return rest.Missing(name)
	}
	if word := strings.ToUpper(*s); slices.Contains(words, word) {
		*s = word
	}
	return rest.OneOf(name, s, words...)
}

// Apply makes the changes to a template, which is then reviewed again.
func (c *Changes) Apply(t storage.Template) (storage.Template, error) {
	if c.Components.Set {
		components, err := json.Marshal(c.Components.Value)
		if err != nil {
			return t, err
		}
		t.Components, t.Content = components, provisioning.TemplateContent(components)
	}

	if c.Category.Set {
		t.Category = strings.ToUpper(c.Category.Value)
	}

	t.Status, t.ProviderStatus, t.Reason = storage.TemplatePending, "PENDING", ""
	return t, nil
}
