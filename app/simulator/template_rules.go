package simulator

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	maxBodyText   = 1024
	maxOfferBody  = 600
	maxCardBody   = 160
	maxCouponCode = 20
)

// maxTemplateName is not part of its pattern: a pattern that counts so far costs every start
// of the program a millisecond.
const maxTemplateName = 512

var (
	templateName     = regexp.MustCompile(`^[a-z0-9_]+$`)
	templateLanguage = regexp.MustCompile(`^[a-z]{2,3}([_-][A-Za-z]{2,4})?$`)
	variablePattern  = regexp.MustCompile(`\{\{([^{}]*)\}\}`)
	positionalName   = regexp.MustCompile(`^[1-9][0-9]{0,3}$`)
	variableName     = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

func malformed(format string, args ...any) error {
	return templateError(0, "Invalid parameter", format, args...)
}

// missingField refuses a component that lacks something.
func missingField(format string, args ...any) error {
	return templateError(2388043, "Message template \"components\" param is missing expected field(s)", format, args...)
}

func badHeader(format string, args ...any) error {
	return templateError(2388047, "Message header format is incorrect", format, args...)
}

func badBodyText(format string, args ...any) error {
	return templateError(2388072, "Message body format is incorrect", format, args...)
}

func tooManyCharacters(what string, limit int) error {
	return templateError(2388040, "Character Limit Exceeded", "The %s has too many characters. The limit is %d characters.", what, limit)
}

// readTemplate checks a new template by the provider's rules.
func readTemplate(in object) (*template, error) {
	t := &template{
		Name: in.text("name"), Language: in.text("language"), Category: strings.ToUpper(in.text("category")),
		Format: firstOf(strings.ToUpper(in.text("parameter_format")), formatPositional),
		Status: statusPending, Reason: "NONE",
	}

	switch {
	case !in.has("name"):
		return nil, requiredParameter("name")
	case !templateName.MatchString(t.Name) || len(t.Name) > maxTemplateName:
		err := templateError(2388046, "Name Format is Incorrect", "The name can only have lowercase letters, digits and underscores.")
		err.Data = object{"blame_field_specs": [][]string{{"name"}}}
		return nil, err
	case !in.has("language"):
		return nil, requiredParameter("language")
	case !templateLanguage.MatchString(t.Language):
		return nil, badParameter("Param language must be a supported language - got \"%s\".", t.Language)
	case !in.has("category"):
		return nil, requiredParameter("category")
	case t.Category != categoryMarketing && t.Category != categoryUtility && t.Category != categoryAuthentication:
		return nil, badParameter("Param category must be one of {UTILITY, MARKETING, AUTHENTICATION} - got \"%s\".", in.text("category"))
	case t.Format != formatNamed && t.Format != formatPositional:
		return nil, badParameter("Param parameter_format must be one of {NAMED, POSITIONAL} - got \"%s\".", in.text("parameter_format"))
	case len(in.objects("components")) == 0:
		return nil, requiredParameter("components")
	}

	if err := t.readTTL(in); err != nil {
		return nil, err
	}

	rules := rules{category: t.Category, named: t.Format == formatNamed}
	var err error
	t.Components, err = rules.components(in.objects("components"))
	return t, err
}

// lifetimes are how long the provider may try to deliver, in seconds.
var lifetimes = map[string][2]int64{
	categoryAuthentication: {30, 900}, categoryUtility: {30, 43200}, categoryMarketing: {43200, 2592000},
}

func (t *template) readTTL(in object) error {
	if !in.has("message_send_ttl_seconds") {
		return nil
	}

	ttl, ok := in.integer("message_send_ttl_seconds")
	limit := lifetimes[t.Category]
	forever := ttl == -1 && t.Category != categoryMarketing
	if !ok || !forever && (ttl < limit[0] || ttl > limit[1]) {
		return malformed("message_send_ttl_seconds must be between %d and %d for %s templates.", limit[0], limit[1], t.Category)
	}
	t.TTL = ttl
	return nil
}

// rules checks the components of a template and normalizes them.
type rules struct {
	category string
	named    bool
	card     bool // of a carousel
}

// components checks a list of components and returns it in the provider's own
// spelling: types in upper case.
func (r *rules) components(list []object) ([]object, error) {
	seen := map[string]object{}
	var normalized []object
	for i, given := range list {
		if given == nil {
			return nil, badParameter("Param components[%d] must be an object.", i)
		}

		comp := maps.Clone(given)
		kind := strings.ToUpper(comp.text("type"))
		comp["type"] = kind

		if seen[kind] != nil {
			return nil, malformed("There is more than one component of type %s.", kind)
		}
		seen[kind] = comp
		normalized = append(normalized, comp)
	}

	if err := r.checkCombination(seen); err != nil {
		return nil, err
	}
	for _, comp := range normalized {
		if err := r.component(comp, seen); err != nil {
			return nil, err
		}
	}
	return normalized, nil
}

func (r *rules) checkCombination(seen map[string]object) error {
	carousel, offer := seen["CAROUSEL"] != nil, seen["LIMITED_TIME_OFFER"] != nil

	switch {
	case seen["BODY"] == nil && !r.card:
		return templateError(2388072, "Message template body is missing",
			"Message template \"components\" param is missing expected field(s): BODY.")
	case (carousel || offer) && r.category != categoryMarketing:
		return malformed("Carousels and limited-time offers are for marketing templates only.")
	case carousel && (seen["HEADER"] != nil || seen["FOOTER"] != nil):
		return malformed("A carousel template has no header and no footer of its own.")
	case offer && seen["FOOTER"] != nil:
		return malformed("A limited-time offer has no footer.")
	case r.category == categoryAuthentication && seen["HEADER"] != nil:
		return malformed("An authentication template has no header.")
	case r.category == categoryAuthentication && seen["BUTTONS"] == nil:
		return malformed("An authentication template needs a button.")
	case r.card && (seen["HEADER"] == nil || seen["BUTTONS"] == nil):
		return malformed("Each card of a carousel needs a header and buttons.")
	}
	return nil
}

func (r *rules) component(comp object, seen map[string]object) error {
	kind := comp.text("type")
	if r.card && kind != "HEADER" && kind != "BODY" && kind != "BUTTONS" {
		return malformed("A card of a carousel has no component of type %s.", kind)
	}
	if r.category == categoryAuthentication {
		return r.authentication(kind, comp)
	}

	switch kind {
	case "HEADER":
		return r.header(comp)
	case "BODY":
		limit := maxBodyText
		if seen["LIMITED_TIME_OFFER"] != nil {
			limit = maxOfferBody
		}
		if r.card {
			limit = maxCardBody
		}
		return r.body(comp, limit)
	case "FOOTER":
		return r.footer(comp)
	case "BUTTONS":
		return r.buttons(comp, seen["LIMITED_TIME_OFFER"] != nil)
	case "CAROUSEL":
		return r.carousel(comp)
	case "LIMITED_TIME_OFFER":
		return r.offer(comp)
	}
	return badParameter("Param components['type'] must be one of "+
		"{HEADER, BODY, FOOTER, BUTTONS, CAROUSEL, LIMITED_TIME_OFFER} - got \"%s\".", kind)
}

// variables returns the names of a text's variables in order of appearance,
// each once.
func variables(text string) []string {
	var names []string
	for _, match := range variablePattern.FindAllStringSubmatch(text, -1) {
		name := strings.TrimSpace(match[1])
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// variablesOf checks how a text's variables are written.
func (r *rules) variablesOf(text string) ([]string, error) {
	rest := variablePattern.ReplaceAllString(text, "")
	if strings.Contains(rest, "{{") || strings.Contains(rest, "}}") {
		return nil, fmt.Errorf("it has braces that do not match")
	}

	names := variables(text)
	for _, name := range names {
		switch {
		case r.named && !variableName.MatchString(name):
			return nil, fmt.Errorf("variable %q is not in lower case letters, digits and underscores", name)
		case !r.named && !positionalName.MatchString(name):
			return nil, fmt.Errorf("variable %q is not a number", name)
		}
	}

	for i := range names {
		if !r.named && !slices.Contains(names, strconv.Itoa(i+1)) {
			return nil, fmt.Errorf("its variables are not numbered from 1 without gaps")
		}
	}
	return names, nil
}

// checkExamples counts the example values that a component gives for its variables.
func (r *rules) checkExamples(comp object, key string, names []string) error {
	if len(names) == 0 {
		return nil
	}

	missingExample := missingField("component of type %s is missing expected field(s) (example)", comp.text("type"))
	example := comp.child("example")

	if r.named {
		given := map[string]bool{}
		for _, p := range example.objects(key + "_named_params") {
			given[p.text("param_name")] = p.text("example") != ""
		}
		if slices.ContainsFunc(names, func(name string) bool { return !given[name] }) {
			return missingExample
		}
		return nil
	}

	values := example.list(key)
	// The values of a body are a list within the list.
	if len(values) > 0 {
		if inner, nested := values[0].([]any); nested {
			values = inner
		}
	}

	isEmpty := func(v any) bool { text, _ := v.(string); return text == "" }
	if len(values) != len(names) || slices.ContainsFunc(values, isEmpty) {
		return missingExample
	}
	return nil
}
