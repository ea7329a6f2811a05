package content

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"confab/app/api/rest"
)

const (
	MaxTemplateName = 512
	MaxCards        = 10
	maxButtonIndex  = 9  // of ten
	maxParts        = 14 // a header, a body, an offer, a carousel and ten buttons
)

var TemplateName = regexp.MustCompile(`^[a-z0-9_]*$`)

// TemplateBody is the content of a template message.
type TemplateBody struct {
	Name       *string         `json:"name,omitempty"`
	Language   json.RawMessage `json:"language,omitempty"` // a text, or an object with a code
	Components Components      `json:"components,omitempty"`

	language string
}

// Components are the values that a message gives for its template.
type Components []*componentBody

// componentBody holds the values for one component of a template. Unlike a card's
// component it may be a carousel.
type componentBody struct {
	PartBody
	Cards []*CardBody `json:"cards,omitempty"`
}

// CardBody is one card of a carousel.
type CardBody struct {
	CardIndex  *rest.LooseNumber[int64] `json:"card_index,omitempty"`
	Components []*PartBody              `json:"components,omitempty"`
}

// PartBody holds the values for one part of a template or of a card.
type PartBody struct {
	Type       *string                  `json:"type,omitempty"`
	SubType    *string                  `json:"sub_type,omitempty"`
	Index      *rest.LooseNumber[int64] `json:"index,omitempty"`
	Parameters []*ParameterBody         `json:"parameters,omitempty"`
}

// templateRef names a template and holds the values for it.
type templateRef struct {
	Name       string // trimmed
	Language   string // its code
	Components Components
}

// ParameterTypes are the types of values that a part takes, or a button of a sub type.
var ParameterTypes = map[string][]string{
	"header":             {"text", "image", "video", "document", "gif", "location", "product"},
	"body":               {"text", "currency", "date_time"},
	"limited_time_offer": {"limited_time_offer"},
	"quick_reply":        {"payload"},
	"url":                {"text"},
	"copy_code":          {"coupon_code"},
	"flow":               {"action"},
	"catalog":            {"action"},
	"mpm":                {"action"},
	"voice_call":         {"payload"},
}

func (t *TemplateBody) Check(allowHTTP PlainHTTP) error {
	err := cmp.Or(t.checkName(), t.checkLanguage(), rest.AtMost("components", t.Components, maxParts))
	if err != nil {
		return err
	}

	seen := make(map[string]bool)
	return rest.Each("components", t.Components, func(c *componentBody) error { return c.Check(seen, allowHTTP) })
}

// checkName trims the name and checks it. A name that no template can have is refused
// with the same code as one that does not exist.
func (t *TemplateBody) checkName() error {
	if t.Name == nil {
		return rest.Missing("name")
	}

	sent := *t.Name
	name := strings.TrimSpace(sent)
	t.Name = &name

	// The name is stored as it was sent, so the space around it is bounded too.
	switch {
	case !rest.Between(name, 1, MaxTemplateName) || !rest.Between(sent, 1, 2*MaxTemplateName):
		return rest.Invalid("name", rest.LengthRule(1, MaxTemplateName))
	case !TemplateName.MatchString(name):
		return rest.FailAt(rest.InvalidTemplateName, "name", "name can only have lowercase letters, digits and underscores.")
	}
	return nil
}

func (t *TemplateBody) checkLanguage() error {
	var in struct {
		Code *string `json:"code"`
	}

	switch {
	case rest.Absent(t.Language):
		return rest.Missing("language")
	case t.Language[0] == '"':
		if err := json.Unmarshal(t.Language, &in.Code); err != nil {
			return err
		}
		if err := rest.Required("language", in.Code, MaxLanguage); err != nil {
			return err
		}
	case t.Language[0] != '{':
		return rest.Invalid("language", "must be a string or an object")
	default:
		if err := rest.Unmarshal(t.Language, &in); err != nil {
			return rest.Within("language", err)
		}
		if err := rest.Required("code", in.Code, MaxLanguage); err != nil {
			return rest.Within("language", err)
		}

		// Any other field of the object is ignored, and not kept.
		var err error
		if t.Language, err = json.Marshal(in); err != nil {
			return err
		}
	}

	t.language = *in.Code
	return nil
}

// MarshalJSON writes the content for the provider, who gets the language as a plain
// string, in either form of request.
func (t *TemplateBody) MarshalJSON() ([]byte, error) {
	type plain TemplateBody
	sent := plain(*t)

	var err error
	if sent.Language, err = json.Marshal(t.language); err != nil {
		return nil, err
	}
	return json.Marshal(sent)
}

func (t *TemplateBody) Describe(s *OutgoingMessage) {
	s.Template = &templateRef{Name: *t.Name, Language: t.language, Components: t.Components}

	for i, c := range t.Components {
		path := rest.ItemPath("template.components", i)
		s.Media = c.files(s.Media, path)
		for j, card := range c.Cards {
			for k, part := range card.Components {
				s.Media = part.files(s.Media, rest.ItemPath(rest.ItemPath(path+".cards", j)+".components", k))
			}
		}
	}
}

// Check checks a component; seen are the types of the components before it.
func (c *componentBody) Check(seen map[string]bool, allowHTTP PlainHTTP) error {
	kinds := []string{"header", "body", "button", "limited_time_offer", "carousel"}
	if c.Type == nil || *c.Type != "carousel" {
		c.Cards = nil
		return c.PartBody.Check(kinds, seen, allowHTTP)
	}

	c.PartBody = PartBody{Type: c.Type}
	if err := cmp.Or(rest.Unique("type", *c.Type, seen), rest.Count("cards", c.Cards, MaxCards)); err != nil {
		return err
	}

	indexes := make(map[string]bool)
	return rest.Each("cards", c.Cards, func(card *CardBody) error { return card.Check(indexes, allowHTTP) })
}

func (c *CardBody) Check(indexes map[string]bool, allowHTTP PlainHTTP) error {
	if err := rest.InRange("card_index", c.CardIndex, 0, MaxCards-1); err != nil {
		return err
	}
	index := strconv.Itoa(int(c.CardIndex.Value))
	err := cmp.Or(rest.Unique("card_index", index, indexes), rest.AtMost("components", c.Components, maxParts))
	if err != nil {
		return err
	}

	seen := make(map[string]bool)
	return rest.Each("components", c.Components, func(p *PartBody) error {
		return p.Check([]string{"header", "body", "button"}, seen, allowHTTP)
	})
}

// Check checks a part, which must be of one of some kinds and appear once.
func (p *PartBody) Check(kinds []string, seen map[string]bool, allowHTTP PlainHTTP) error {
	if err := rest.OneOf("type", p.Type, kinds...); err != nil {
		return err
	}

	// A button is identified by its index and takes the values of its sub type; any
	// other part is identified by its type.
	slot, name, kind := *p.Type, "type", *p.Type
	if kind == "button" {
		if err := p.checkButton(); err != nil {
			return err
		}
		slot, name, kind = strconv.Itoa(int(p.Index.Value)), "index", *p.SubType
	} else {
		p.SubType, p.Index = nil, nil
	}

	if err := cmp.Or(rest.Unique(name, slot, seen), rest.AtMost("parameters", p.Parameters, MaxParameters)); err != nil {
		return err
	}

	return rest.Each("parameters", p.Parameters, func(q *ParameterBody) error { return q.Check(ParameterTypes[kind], allowHTTP) })
}

func (p *PartBody) checkButton() error {
	return cmp.Or(
		rest.OneOf("sub_type", p.SubType, "quick_reply", "url", "copy_code", "flow", "catalog", "mpm", "voice_call"),
		rest.InRange("index", p.Index, 0, maxButtonIndex),
	)
}

// files adds the files of a part to those of the message.
func (p *PartBody) files(all []MediaRef, path string) []MediaRef {
	for i, q := range p.Parameters {
		all = q.file(*q.Type).addTo(all, rest.ItemPath(path+".parameters", i)+"."+*q.Type)
	}
	return all
}
