package simulator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// checkTemplate compares what a message gives with what its template needs.
func checkTemplate(s *Server, c *call, d *draft) error {
	in := c.params.child("template")
	name := in.text("name")
	language := firstOf(in.child("language").text("code"), in.text("language"))

	switch {
	case in == nil:
		return badParameter("Param template must be a JSON object.")
	case name == "":
		return requiredParameter("template['name']")
	case language == "":
		return requiredParameter("template['language']['code']")
	}

	s.mu.Lock()
	t := s.world.findTemplate(c.account, name, language)
	if t != nil {
		copied := *t
		t = &copied // components are replaced, never changed in place
	}
	s.mu.Unlock()

	switch {
	case t == nil || t.Status != statusApproved && t.Status != statusPaused && t.Status != statusDisabled:
		return refuse(132001, fmt.Sprintf("template name (%s) does not exist in %s", name, language))
	case t.Status == statusPaused:
		return refuse(132015)
	case t.Status == statusDisabled:
		return refuse(132016)
	case t.Category == categoryAuthentication && d.BSUID != "":
		return refuse(131062)
	}

	d.Category, d.components = strings.ToLower(t.Category), t.Components
	f := parameterCheck{s: s, d: d, named: t.Format == formatNamed}
	return f.checkComponents(t.Components, in.list("components"))
}

// parameterCheck compares the parameters of a message with its template.
type parameterCheck struct {
	s     *Server
	d     *draft
	named bool
}

// checkComponents checks one set of components: those of a template, or of a card.
func (f *parameterCheck) checkComponents(components []object, given []any) error {
	sorted := groupByType(given)

	for _, comp := range components {
		var err error
		switch comp.text("type") {
		case "HEADER":
			err = f.header(comp, sorted.first("header"))
		case "BODY":
			err = f.texts("body", comp.text("text"), sorted.first("body").list("parameters"), maxBodyText)
		case "BUTTONS":
			err = f.buttons(comp, sorted["button"])
		case "CAROUSEL":
			err = f.carousel(comp, sorted.first("carousel"))
		case "LIMITED_TIME_OFFER":
			err = f.offer(comp, sorted.first("limited_time_offer"))
		}
		if err != nil {
			return err
		}
	}

	return sorted.refuseUnknown(components)
}

// partsByType are the components of a message by type.
type partsByType map[string][]object

func groupByType(list []any) partsByType {
	parts := partsByType{}
	for _, item := range list {
		if comp := asObject(item); comp != nil {
			kind := strings.ToLower(comp.text("type"))
			parts[kind] = append(parts[kind], comp)
		}
	}
	return parts
}

func (p partsByType) first(kind string) object {
	if len(p[kind]) == 0 {
		return nil
	}
	return p[kind][0]
}

// refuseUnknown refuses parameters for components that the template lacks.
func (p partsByType) refuseUnknown(components []object) error {
	for kind, list := range p {
		wanted := map[string]string{"button": "BUTTONS"}[kind]
		if wanted == "" {
			wanted = strings.ToUpper(kind)
		}

		known := slices.ContainsFunc(components, func(comp object) bool { return comp.text("type") == wanted })
		if n := len(list[0].list("parameters")); !known && n > 0 {
			return refuse(132000,
				fmt.Sprintf("%s: number of localizable_params (%d) does not match the expected number of params (0)", kind, n))
		}
	}
	return nil
}

func (f *parameterCheck) header(comp, given object) error {
	format := comp.text("format")
	parameters := given.list("parameters")
	if format == "TEXT" {
		return f.texts("header", comp.text("text"), parameters, maxSmallText)
	}

	received := "UNKNOWN"
	first := object(nil)
	if len(parameters) > 0 {
		first = asObject(parameters[0])
		received = firstOf(strings.ToUpper(first.text("type")), received)
	}

	if received != format {
		return refuse(132012, fmt.Sprintf("header: Format mismatch, expected %s, received %s", format, received))
	}

	kind := strings.ToLower(format)
	switch kind {
	case "location":
		if !first.child(kind).has("latitude") || !first.child(kind).has("longitude") {
			return refuse(codeMissingParameter, "header: location needs latitude and longitude")
		}
		return nil
	case "product":
		return nil
	}

	source := kind
	if kind == "gif" {
		source = "video"
	}
	return f.s.checkSource(f.d, "template['components']['header']['"+kind+"']", source, first.child(kind))
}

// texts compares the parameters of a text with its variables, and the filled
// text with its limit.
func (f *parameterCheck) texts(where, text string, parameters []any, limit int) error {
	names := variables(text)
	if len(parameters) != len(names) {
		return refuse(132000,
			fmt.Sprintf("%s: number of localizable_params (%d) does not match the expected number of params (%d)",
				where, len(parameters), len(names)))
	}

	values := map[string]string{}
	for i, item := range parameters {
		p := asObject(item)
		v, err := parameterText(where, p)
		if err != nil {
			return err
		}

		key := names[i]
		if f.named {
			if key = p.text("parameter_name"); key == "" {
				return refuse(132012, where+": Parameter name is missing or empty")
			}
		}
		values[key] = v
	}

	// The limit applies to the filled text, in which a value replaces {{name}}.
	size := chars(text)
	for _, name := range names {
		v, ok := values[name]
		if !ok {
			return refuse(132012, fmt.Sprintf("%s: parameter %s is missing", where, name))
		}
		size += chars(v) - chars(name) - 4
	}

	if size > limit {
		return refuse(132005, fmt.Sprintf("%s: Translated text too long: %d characters, at most %d are allowed", where, size, limit))
	}
	return nil
}

// parameterText is what a parameter puts into a text.
func parameterText(where string, p object) (string, error) {
	switch kind := p.text("type"); kind {
	case "text":
		if p.text("text") == "" {
			return "", refuse(codeMissingParameter, where+": Parameter of type text is missing text value")
		}
		return p.text("text"), nil
	case "currency", "date_time":
		v := p.child(kind).text("fallback_value")
		if v == "" {
			return "", refuse(codeMissingParameter, fmt.Sprintf("%s: Parameter of type %s is missing fallback_value", where, kind))
		}
		return v, nil
	default:
		return "", refuse(132012, fmt.Sprintf("%s: Format mismatch, expected TEXT, received %s",
			where, firstOf(strings.ToUpper(kind), "UNKNOWN")))
	}
}

// buttons checks that each button which needs a parameter has one.
func (f *parameterCheck) buttons(comp object, given []object) error {
	buttons := comp.list("buttons")
	byIndex := map[int]object{}
	for _, g := range given {
		i, err := strconv.Atoi(g.text("index"))
		if err != nil || i < 0 || i >= len(buttons) {
			return refuse(codeInvalidValue, fmt.Sprintf("buttons: there is no button at index %q", g.text("index")))
		}
		byIndex[i] = g
	}

	for i, item := range buttons {
		if err := checkButtonParameter(i, asObject(item), byIndex[i]); err != nil {
			return err
		}
	}
	return nil
}

// buttonParameterTypes is the type of parameter that a button needs.
var buttonParameterTypes = map[string]string{"URL": "text", "COPY_CODE": "coupon_code", "OTP": "text"}

func checkButtonParameter(i int, button, given object) error {
	kind := button.text("type")
	parameters := given.list("parameters")
	need := buttonParameterTypes[kind]

	// A URL without a variable takes no parameter.
	if kind == "URL" && len(variables(button.text("url"))) == 0 {
		if len(parameters) > 0 {
			return refuse(132000, fmt.Sprintf("buttons: Button at index %d of type Url does not require parameters", i))
		}
		return nil
	}
	if need == "" {
		return nil
	}

	title := map[string]string{"URL": "Url", "COPY_CODE": "CopyCode", "OTP": "Otp"}[kind]
	if len(parameters) == 0 {
		return refuse(codeMissingParameter, fmt.Sprintf("buttons: Button at index %d of type %s requires a parameter", i, title))
	}

	p := asObject(parameters[0])
	switch {
	case p.text("type") != need:
		return refuse(132012,
			fmt.Sprintf("buttons: Button at index %d: Format mismatch, expected %s, received %s", i, need, p.text("type")))
	case p.text(need) == "":
		return refuse(codeMissingParameter, fmt.Sprintf("buttons: Button at index %d: Parameter of type %s is missing its value", i, need))
	case kind == "COPY_CODE" && chars(p.text(need)) > maxCouponCode:
		return refuse(132018, fmt.Sprintf("buttons: Button at index %d: the code has more than %d characters", i, maxCouponCode))
	}
	return nil
}

func (f *parameterCheck) carousel(comp, given object) error {
	cards, filled := comp.list("cards"), given.list("cards")
	if len(cards) != len(filled) {
		return refuse(132012,
			fmt.Sprintf("carousel: number of cards (%d) does not match the expected number of cards (%d)", len(filled), len(cards)))
	}

	for i, item := range filled {
		card := asObject(item)
		// Cards without an index are taken in order.
		index, ok := card.integer("card_index")
		if !ok {
			index = int64(i)
		}
		if index < 0 || int(index) >= len(cards) {
			return refuse(codeInvalidValue, fmt.Sprintf("carousel: there is no card at index %d", index))
		}

		if err := f.checkComponents(objects(asObject(cards[index]).list("components")), card.list("components")); err != nil {
			return err
		}
	}
	return nil
}

func (f *parameterCheck) offer(comp, given object) error {
	if !comp.child("limited_time_offer").boolean("has_expiration") {
		return nil
	}

	for _, item := range given.list("parameters") {
		if _, ok := asObject(item).child("limited_time_offer").integer("expiration_time_ms"); ok {
			return nil
		}
	}
	return refuse(codeMissingParameter, "limited_time_offer: expiration_time_ms is missing")
}

// objects views a list's items as objects.
func objects(list []any) []object {
	view := make([]object, 0, len(list))
	for _, item := range list {
		view = append(view, asObject(item))
	}
	return view
}
