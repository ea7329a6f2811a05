package template

import (
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"confab/app/api/content"
	"confab/app/api/rest"
)

var (
	// Placeholder is a variable in a text, of any name.
	Placeholder       = regexp.MustCompile(`\{\{([^{}]*)\}\}`)
	adjacentVariables = regexp.MustCompile(`\}\}\s*\{\{`)

	variableName   = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	variableNumber = regexp.MustCompile(`^[1-9][0-9]{0,3}$`)
)

// checkVariables checks how the variables of a text are written, and returns their
// names, each once.
func (r draftRules) checkVariables(param, text string) (names []string, err error) {
	for _, match := range Placeholder.FindAllStringSubmatch(text, -1) {
		if name := strings.TrimSpace(match[1]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}

	left := Placeholder.ReplaceAllString(text, "")
	switch {
	case strings.Contains(left, "{{") || strings.Contains(left, "}}"):
		return nil, rest.Invalid(param, "has braces that do not match")
	case r.named && !allMatch(names, variableName):
		return nil, rest.Invalid(param,
			"can only have variables named with lowercase letters, digits and underscores, such as {{order_id}}")
	case !r.named && !allMatch(names, variableNumber):
		return nil, rest.Invalid(param, "can only have numbered variables, such as {{1}}")
	case !r.named && !numberedFromOne(names):
		return nil, rest.Invalid(param, "must number its variables from 1 without gaps")
	}
	return names, nil
}

func allMatch(names []string, pattern *regexp.Regexp) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !pattern.MatchString(name) })
}

func numberedFromOne(names []string) bool {
	for i := range names {
		if !slices.Contains(names, strconv.Itoa(i+1)) {
			return false
		}
	}
	return true
}

// checkVariableContext checks that the variables of a body are between words, and
// that there are enough words for them.
func checkVariableContext(text string, variables int) error {
	isSeparator := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) }
	words := strings.FieldsFunc(Placeholder.ReplaceAllString(text, " "), isSeparator)
	trimmed := strings.TrimFunc(text, unicode.IsSpace)

	switch {
	case strings.HasPrefix(trimmed, "{{") || strings.HasSuffix(trimmed, "}}"):
		return rest.Invalid("text", "must not begin or end with a variable")
	case adjacentVariables.MatchString(text):
		return rest.Invalid("text", "must have text between two variables")
	case len(words) < variables:
		return rest.Invalid("text", "has too many variables for its length")
	}
	return nil
}

// DraftExample holds sample values, with which the provider reviews a template.
type DraftExample struct {
	HeaderText      samples        `json:"header_text,omitempty"`
	HeaderTextNamed []*namedSample `json:"header_text_named_params,omitempty"`
	BodyText        sampleRows     `json:"body_text,omitempty"`
	BodyTextNamed   []*namedSample `json:"body_text_named_params,omitempty"`

	HeaderHandle []string      `json:"header_handle,omitempty"` // of a file at the provider, or the URL of one
	HeaderURL    *stringOrList `json:"header_url,omitempty"`    // of a file that is to be uploaded
}

// maxSample bounds the sample of a variable: it is part of the text.
const maxSample = content.MaxBodyText

// namedSample is the sample of a variable with a name.
type namedSample struct {
	Name    *string `json:"param_name,omitempty"`
	Example *string `json:"example,omitempty"`
}

// checkSamples checks that there is a sample for each variable of a text, and drops
// all others.
func (r draftRules) checkSamples(p *DraftPart, key string, names []string) error {
	given := p.Example
	p.Example = nil
	if len(names) == 0 {
		return nil
	}

	if given == nil {
		return rest.Missing("example")
	}

	header := key == "header_text"
	p.Example = &DraftExample{}

	if r.named {
		list, to := given.BodyTextNamed, &p.Example.BodyTextNamed
		if header {
			list, to = given.HeaderTextNamed, &p.Example.HeaderTextNamed
		}
		*to = list
		return rest.Within("example", checkNamedSamples(key+"_named_params", list, names))
	}

	list := samples(given.BodyText)
	if header {
		list = given.HeaderText
		p.Example.HeaderText = list
	} else {
		p.Example.BodyText = sampleRows(list)
	}

	return rest.Within("example", checkNumberedSamples(key, list, len(names)))
}

func checkNamedSamples(key string, list []*namedSample, names []string) error {
	if list == nil {
		return rest.Missing(key)
	}

	given := make(map[string]bool)
	err := cmp.Or(rest.AtMost(key, list, content.MaxParameters), rest.Each(key, list, func(s *namedSample) error {
		if err := rest.Required("param_name", s.Name, content.MaxParameterName); err != nil {
			return err
		}
		given[*s.Name] = true
		return rest.Required("example", s.Example, maxSample)
	}))
	if err != nil {
		return err
	}

	for _, name := range names {
		if !given[name] {
			return rest.Invalid(key, "must have an example for the variable "+name)
		}
	}
	return nil
}

func checkNumberedSamples(key string, list samples, n int) error {
	switch {
	case list == nil:
		return rest.Missing(key)
	case len(list) != n:
		return rest.Invalid(key, "must have an example for each of the text's variables: "+strconv.Itoa(n))
	case slices.Contains(list, ""):
		return rest.Invalid(key, "must not have an empty example")
	}

	for i, sample := range list {
		if !rest.Between(sample, 1, maxSample) {
			return rest.Invalid(rest.ItemPath(key, i), rest.LengthRule(1, maxSample))
		}
	}
	return nil
}

// samples are the samples of numbered variables: a list, or a list of lists of which
// the first counts.
type samples []string

var errSamples = errors.New("must be a list of strings, or a list with one such list")

// UnmarshalJSON takes both forms.
func (s *samples) UnmarshalJSON(b []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil || len(list) == 0 {
		return err
	}
	if len(list) > content.MaxParameters {
		return errSamples
	}

	if list[0][0] == '[' {
		b = list[0]
	}

	if err := json.Unmarshal(b, (*[]string)(s)); err != nil {
		return errSamples
	}
	return nil
}

// sampleRows are samples that are written as a list of lists.
type sampleRows samples

// UnmarshalJSON takes both forms.
func (r *sampleRows) UnmarshalJSON(b []byte) error { return (*samples)(r).UnmarshalJSON(b) }

// MarshalJSON writes the one row.
func (r sampleRows) MarshalJSON() ([]byte, error) { return json.Marshal([][]string{r}) }

// stringOrList is a text that may also come as a list of one. It is written in the
// form in which it came.
type stringOrList struct {
	text   string
	listed bool
}

var errStringOrList = errors.New("must be a string, or a list of one")

// UnmarshalJSON takes both forms.
func (l *stringOrList) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return json.Unmarshal(b, &l.text)
	}
	var list []string
	if err := json.Unmarshal(b, &list); err != nil || len(list) != 1 {
		return errStringOrList
	}
	l.text, l.listed = list[0], true
	return nil
}

// MarshalJSON writes the form that it came in.
func (l stringOrList) MarshalJSON() ([]byte, error) {
	if l.listed {
		return json.Marshal([]string{l.text})
	}
	return json.Marshal(l.text)
}

// maxHandle is longer than the provider's handles.
const maxHandle = 8192

// uploadHandle is the form of the provider's handles of uploaded files.
var uploadHandle = regexp.MustCompile(`^[0-9]+:`)

// checkFile checks the example of a header that is a file: a handle of the provider,
// or a URL to fetch it from. The URL may also be in the handle's place.
func (p *DraftPart) checkFile(allowHTTP content.PlainHTTP) error {
	given := p.Example
	if given == nil {
		return rest.Missing("example")
	}

	p.Example = &DraftExample{HeaderHandle: given.HeaderHandle, HeaderURL: given.HeaderURL}

	switch {
	case given.HeaderHandle != nil && given.HeaderURL != nil:
		return rest.Within("example", rest.Invalid("header_url", "cannot be given together with header_handle"))
	case given.HeaderURL != nil:
		return rest.Within("example", content.CheckLink("header_url", &given.HeaderURL.text, allowHTTP))
	case given.HeaderHandle == nil:
		return rest.Missing("example.header_handle")
	case len(given.HeaderHandle) != 1:
		return rest.Invalid("example.header_handle", "must have one item")
	}

	handle := given.HeaderHandle[0]
	switch {
	case !rest.Between(handle, 1, maxHandle):
		return rest.Invalid("example.header_handle[0]", rest.LengthRule(1, maxHandle))
	case uploadHandle.MatchString(handle) || isProviderURL(handle):
		return nil
	case strings.Contains(handle, "://"):
		return rest.Within("example", content.CheckLink("header_handle[0]", &handle, allowHTTP))
	}
	return rest.Invalid("example.header_handle[0]", "must be a handle from the provider's upload, or an https URL")
}

// isProviderURL reports whether the provider itself serves an example under a URL.
func isProviderURL(url string) bool { return strings.HasPrefix(url, "https://scontent.whatsapp.net/") }

// Source is the URL from which an example's file must be fetched, and the field that
// holds it; "" if the provider has the file already.
func (e *DraftExample) Source() (url, field string) {
	switch {
	case e == nil:
		return "", ""
	case e.HeaderURL != nil:
		return e.HeaderURL.text, "header_url"
	case len(e.HeaderHandle) == 1 && !uploadHandle.MatchString(e.HeaderHandle[0]) && !isProviderURL(e.HeaderHandle[0]):
		return e.HeaderHandle[0], "header_handle[0]"
	}
	return "", ""
}
