package simulator

import (
	"strconv"
	"strings"
)

// checkTemplate compares what a message gives with what its template needs.
func checkTemplate(s *Server, c *call, d *draft) error {
	in := c.params.child("template")
	name, language := in.text("name"), languageOf(in)

	switch {
	case in == nil:
		return badParameter("Param template must be a JSON object.")
	case name == "":
		return requiredParameter("template['name']")
	case language == "":
		return requiredParameter("template['language']['code']")
	}

	t := s.world.findTemplate(c.account, name, language)
	switch {
	case t == nil || t.Status != statusApproved && t.Status != statusPaused && t.Status != statusDisabled:
		return refuseWith(132001, "template name (%s) does not exist in %s", name, language)
	case t.Status == statusPaused:
		return refuse(132015)
	case t.Status == statusDisabled:
		return refuse(132016)
	case t.Category == categoryAuthentication && d.BSUID != "":
		return refuse(131062)
	}

	d.Category, d.components = strings.ToLower(t.Category), t.Components
	f := parameterCheck{s: s, d: d, named: t.Format == formatNamed}
	return f.checkComponents(t.Components, in.objects("components"))
}

func languageOf(in object) string {
	return firstOf(in.child("language").text("code"), in.text("language"))
}

// parameterCheck compares the parameters of a message with its template.
type parameterCheck struct {
	s     *Server
	d     *draft
	named bool
}

// checkComponents checks one set of components: those of a template, or of a card.
func (f *parameterCheck) checkComponents(components, given []object) error {
	parts := groupByType(given)

	for _, comp := range components {
		kind := strings.ToLower(comp.text("type"))
		part := firstIn(parts[kind])

		var err error
		switch kind {
		case "header":
			err = f.header(comp, part.objects("parameters"))
		case "body":
			err = f.texts("body", comp.text("text"), part.objects("parameters"), maxBodyText)
		case "buttons":
			err = checkButtonParameters(comp.objects("buttons"), parts["button"])
			delete(parts, "button")
		case "carousel":
			err = f.carousel(comp.objects("cards"), part.objects("cards"))
		case "limited_time_offer":
			err = checkOffer(comp, part.objects("parameters"))
		}
		if err != nil {
			return err
		}
		delete(parts, kind)
	}

	// What is left is for components that the template lacks.
	for kind, list := range parts {
		if n := len(list[0].list("parameters")); n > 0 {
			return wrongCount(kind, n, 0)
		}
	}
	return nil
}

// groupByType sorts the components of a message by their type, in lower case.
func groupByType(list []object) map[string][]object {
	parts := map[string][]object{}
	for _, comp := range list {
		if comp != nil {
			kind := strings.ToLower(comp.text("type"))
			parts[kind] = append(parts[kind], comp)
		}
	}
	return parts
}

func firstIn(list []object) object {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func wrongCount(where string, given, expected int) error {
	return refuseWith(132000, "%s: number of localizable_params (%d) does not match the expected number of params (%d)",
		where, given, expected)
}

func (f *parameterCheck) header(comp object, parameters []object) error {
	format := comp.text("format")
	if format == "TEXT" {
		return f.texts("header", comp.text("text"), parameters, maxSmallText)
	}

	first := firstIn(parameters)
	if received := firstOf(strings.ToUpper(first.text("type")), "UNKNOWN"); received != format {
		return refuseWith(132012, "header: Format mismatch, expected %s, received %s", format, received)
	}

	kind := strings.ToLower(format)
	content := first.child(kind)
	switch {
	case kind == "location" && (!content.has("latitude") || !content.has("longitude")):
		return refuseWith(codeMissingParameter, "header: location needs latitude and longitude")
	case kind == "location" || kind == "product":
		return nil
	}

	path := "template['components']['header']['" + kind + "']"
	if kind == "gif" {
		kind = "video"
	}
	return f.s.checkSource(f.d, path, kind, content)
}

// texts compares the parameters of a text with its variables, and the filled
// text with its limit.
func (f *parameterCheck) texts(where, text string, parameters []object, limit int) error {
	names := variables(text)
	if len(parameters) != len(names) {
		return wrongCount(where, len(parameters), len(names))
	}

	values := map[string]string{}
	for i, p := range parameters {
		v, err := parameterText(where, p)
		if err != nil {
			return err
		}

		key := names[i]
		if f.named {
			if key = p.text("parameter_name"); key == "" {
				return refuseWith(132012, "%s: Parameter name is missing or empty", where)
			}
		}
		values[key] = v
	}

	// The limit applies to the filled text, in which a value replaces {{name}}.
	size := chars(text)
	for _, name := range names {
		v, ok := values[name]
		if !ok {
			return refuseWith(132012, "%s: parameter %s is missing", where, name)
		}
		size += chars(v) - chars(name) - 4
	}
	if size > limit {
		return refuseWith(132005, "%s: Translated text too long: %d characters, at most %d are allowed", where, size, limit)
	}
	return nil
}

func parameterText(where string, p object) (string, error) {
	kind := p.text("type")
	value, field := p.text("text"), "text value"

	switch kind {
	case "text":
	case "currency", "date_time":
		value, field = p.child(kind).text("fallback_value"), "fallback_value"
	default:
		return "", refuseWith(132012, "%s: Format mismatch, expected TEXT, received %s", where, firstOf(strings.ToUpper(kind), "UNKNOWN"))
	}

	if value == "" {
		return "", refuseWith(codeMissingParameter, "%s: Parameter of type %s is missing %s", where, kind, field)
	}
	return value, nil
}

// checkButtonParameters checks that each button which needs a parameter has one.
func checkButtonParameters(buttons, given []object) error {
	byIndex := map[int]object{}
	for _, g := range given {
		i, err := strconv.Atoi(g.text("index"))
		if err != nil || i < 0 || i >= len(buttons) {
			return notValid("buttons: there is no button at index %q", g.text("index"))
		}
		byIndex[i] = g
	}

	for i, button := range buttons {
		if err := checkButtonParameter(i, button, byIndex[i].objects("parameters")); err != nil {
			return err
		}
	}
	return nil
}

func checkButtonParameter(i int, button object, parameters []object) error {
	need, title := "text", "Url"
	switch kind := button.text("type"); {
	case kind == "COPY_CODE":
		need, title = "coupon_code", "CopyCode"
	case kind != "URL":
		return nil
	case len(variables(button.text("url"))) == 0 && len(parameters) > 0:
		return refuseWith(132000, "buttons: Button at index %d of type Url does not require parameters", i)
	case len(variables(button.text("url"))) == 0:
		return nil
	}

	p := firstIn(parameters)
	switch {
	case len(parameters) == 0:
		return refuseWith(codeMissingParameter, "buttons: Button at index %d of type %s requires a parameter", i, title)
	case p.text("type") != need:
		return refuseWith(132012, "buttons: Button at index %d: Format mismatch, expected %s, received %s", i, need, p.text("type"))
	case p.text(need) == "":
		return refuseWith(codeMissingParameter, "buttons: Button at index %d: Parameter of type %s is missing its value", i, need)
	case need == "coupon_code" && chars(p.text(need)) > maxCouponCode:
		return refuseWith(132018, "buttons: Button at index %d: the code has more than %d characters", i, maxCouponCode)
	}
	return nil
}

func (f *parameterCheck) carousel(cards, given []object) error {
	if len(cards) != len(given) {
		return refuseWith(132012, "carousel: number of cards (%d) does not match the expected number of cards (%d)", len(given), len(cards))
	}

	for i, card := range given {
		// Cards without an index are taken in order.
		index, ok := card.integer("card_index")
		if !ok {
			index = int64(i)
		}
		if index < 0 || int(index) >= len(cards) {
			return notValid("carousel: there is no card at index %d", index)
		}

		if err := f.checkComponents(cards[index].objects("components"), card.objects("components")); err != nil {
			return err
		}
	}
	return nil
}

func checkOffer(comp object, parameters []object) error {
	if !comp.child("limited_time_offer").boolean("has_expiration") {
		return nil
	}

	for _, p := range parameters {
		if _, ok := p.child("limited_time_offer").integer("expiration_time_ms"); ok {
			return nil
		}
	}
	return refuseWith(codeMissingParameter, "limited_time_offer: expiration_time_ms is missing")
}
