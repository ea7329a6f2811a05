package api

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

const (
	maxTemplateName = 512
	maxCards        = 10
	maxButtonIndex  = 9  // of ten
	maxParts        = 14 // a header, a body, an offer, a carousel and ten buttons
)

var templateName = regexp.MustCompile(`^[a-z0-9_]*$`)

// templateBody is the content of a template message.
type templateBody struct {
	Name       *string         `json:"name,omitempty"`
	Language   json.RawMessage `json:"language,omitempty"` // a text, or an object with a code
	Components components      `json:"components,omitempty"`

	language string
}

// components are the values that a message gives for its template.
type components []*componentBody

// componentBody holds the values for one component of a template. Unlike a card's
// component it may be a carousel.
type componentBody struct {
	partBody
	Cards []*cardBody `json:"cards,omitempty"`
}

// cardBody is one card of a carousel.
type cardBody struct {
	CardIndex  *looseNumber[int64] `json:"card_index,omitempty"`
	Components []*partBody         `json:"components,omitempty"`
}

// partBody holds the values for one part of a template or of a card.
type partBody struct {
	Type       *string             `json:"type,omitempty"`
	SubType    *string             `json:"sub_type,omitempty"`
	Index      *looseNumber[int64] `json:"index,omitempty"`
	Parameters []*parameterBody    `json:"parameters,omitempty"`
}

// templateRef names a template and holds the values for it.
type templateRef struct {
	Name       string // trimmed
	Language   string // its code
	Components components
}

// parameterTypes are the types of values that a part takes, or a button of a sub type.
var parameterTypes = map[string][]string{
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

func (t *templateBody) check(allowHTTP plainHTTP) error {
	if err := cmp.Or(t.checkName(), t.checkLanguage()); err != nil {
		return err
	}

	if err := atMost("components", t.Components, maxParts); err != nil {
		return err
	}

	seen := make(map[string]bool)
	return each("components", t.Components, func(c *componentBody) error { return c.check(seen, allowHTTP) })
}

// checkName trims the name and checks it. A name that no template can have is refused
// with the same code as one that does not exist.
func (t *templateBody) checkName() error {
	if t.Name == nil {
		return missing("name")
	}

	sent := *t.Name
	name := strings.TrimSpace(sent)
	t.Name = &name

	// The name is stored as it was sent, so the space around it is bounded too.
	switch {
	case !between(name, 1, maxTemplateName) || !between(sent, 1, 2*maxTemplateName):
		return invalid("name", lengthRule(1, maxTemplateName))
	case !templateName.MatchString(name):
		return &Error{Code: InvalidTemplateName, Param: "name", Message: "name can only have lower-case letters, digits and underscores."}
	}
	return nil
}

func (t *templateBody) checkLanguage() error {
	var in struct {
		Code *string `json:"code"`
	}

	switch {
	case absent(t.Language):
		return missing("language")
	case t.Language[0] == '"':
		if err := json.Unmarshal(t.Language, &in.Code); err != nil {
			return err
		}
		if err := required("language", in.Code, maxLanguage); err != nil {
			return err
		}
	case t.Language[0] != '{':
		return invalid("language", "must be a string or an object")
	default:
		if err := unmarshal(t.Language, &in); err != nil {
			return within("language", err)
		}
		if err := required("code", in.Code, maxLanguage); err != nil {
			return within("language", err)
		}

		// What else stands in the object is ignored, and not kept.
		var err error
		if t.Language, err = json.Marshal(in); err != nil {
			return err
		}
	}

	t.language = *in.Code
	return nil
}

// MarshalJSON writes the content for the provider, who gets the language as a plain
// string, whichever form came.
func (t *templateBody) MarshalJSON() ([]byte, error) {
	type plain templateBody
	sent := plain(*t)

	var err error
	if sent.Language, err = json.Marshal(t.language); err != nil {
		return nil, err
	}
	return json.Marshal(sent)
}

func (t *templateBody) describe(s *outgoingMessage) {
	s.Template = &templateRef{Name: *t.Name, Language: t.language, Components: t.Components}

	for i, c := range t.Components {
		path := itemPath("template.components", i)
		s.Media = c.files(s.Media, path)
		for j, card := range c.Cards {
			for k, part := range card.Components {
				s.Media = part.files(s.Media, itemPath(itemPath(path+".cards", j)+".components", k))
			}
		}
	}
}

// check checks a component; seen are the types of the components before it.
func (c *componentBody) check(seen map[string]bool, allowHTTP plainHTTP) error {
	kinds := []string{"header", "body", "button", "limited_time_offer", "carousel"}
	if c.Type == nil || *c.Type != "carousel" {
		c.Cards = nil
		return c.partBody.check(kinds, seen, allowHTTP)
	}

	c.partBody = partBody{Type: c.Type}
	if err := cmp.Or(unique("type", *c.Type, seen), count("cards", c.Cards, maxCards)); err != nil {
		return err
	}

	indexes := make(map[string]bool)
	return each("cards", c.Cards, func(card *cardBody) error { return card.check(indexes, allowHTTP) })
}

func (c *cardBody) check(indexes map[string]bool, allowHTTP plainHTTP) error {
	if err := inRange("card_index", c.CardIndex, 0, maxCards-1); err != nil {
		return err
	}
	if err := unique("card_index", strconv.Itoa(int(c.CardIndex.value)), indexes); err != nil {
		return err
	}

	if err := atMost("components", c.Components, maxParts); err != nil {
		return err
	}

	seen := make(map[string]bool)
	return each("components", c.Components, func(p *partBody) error {
		return p.check([]string{"header", "body", "button"}, seen, allowHTTP)
	})
}

// check checks a part, which must be of one of some kinds and stand once.
func (p *partBody) check(kinds []string, seen map[string]bool, allowHTTP plainHTTP) error {
	if err := oneOf("type", p.Type, kinds...); err != nil {
		return err
	}

	// A button is identified by its index and takes the values of its sub type; any
	// other part is identified by its type.
	slot, name, kind := *p.Type, "type", *p.Type
	if kind == "button" {
		if err := p.checkButton(); err != nil {
			return err
		}
		slot, name, kind = strconv.Itoa(int(p.Index.value)), "index", *p.SubType
	} else {
		p.SubType, p.Index = nil, nil
	}

	if err := cmp.Or(unique(name, slot, seen), atMost("parameters", p.Parameters, maxParameters)); err != nil {
		return err
	}

	return each("parameters", p.Parameters, func(q *parameterBody) error { return q.check(parameterTypes[kind], allowHTTP) })
}

func (p *partBody) checkButton() error {
	return cmp.Or(
		oneOf("sub_type", p.SubType, "quick_reply", "url", "copy_code", "flow", "catalog", "mpm", "voice_call"),
		inRange("index", p.Index, 0, maxButtonIndex),
	)
}

// files adds the files of a part to those of the message.
func (p *partBody) files(all []mediaRef, path string) []mediaRef {
	for i, q := range p.Parameters {
		if f := q.file(*q.Type); f != nil {
			all = append(all, f.ref(itemPath(path+".parameters", i)+"."+*q.Type, *q.Type))
		}
	}
	return all
}
