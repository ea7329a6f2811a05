package cli

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"confab/app/config"
)

//go:embed stories
var storyFiles embed.FS

// A story is a text of JSON lines: steps, which play people and the provider through /_sim,
// and expectations of what follows. Blank lines and those that begin with # are for readers.

const expectTime = 5 * time.Second // unless a line says otherwise

// storyLine is a line of a story: a step, which has Do, or an expectation.
type storyLine struct {
	At     *span      `json:"at"`
	As     string     `json:"as"`
	Do     string     `json:"do"`
	With   jsonObject `json:"with"`
	Expect jsonObject `json:"expect"` // one source of items, with the object that one of them contains
	Within *span      `json:"within"`

	number int // in the file
}

type span time.Duration

func (s *span) UnmarshalJSON(text []byte) error {
	var written string
	if err := json.Unmarshal(text, &written); err != nil {
		return errors.New(`a duration is a text such as "5s"`)
	}
	d, err := config.ParseAge(written)
	*s = span(d)
	return err
}

// storyCalls are the calls that steps make. The name in braces is a field of with, and not of the body.
var storyCalls = map[string]string{
	"inbound":         "/_sim/inbound",
	"status":          "/_sim/messages/{id}/status",
	"edit":            "/_sim/messages/{id}/edit",
	"revoke":          "/_sim/messages/{id}/revoke",
	"fault":           "/_sim/faults",
	"clock":           "/_sim/clock",
	"template_review": "/_sim/templates/{id}/review",
	"preferences":     "/_sim/contacts/{number}/preferences",
}

// storySources are what an expectation can be about.
var storySources = []string{"event", "call", "message"}

func storyNames() (names []string) {
	files, _ := storyFiles.ReadDir("stories")
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), path.Ext(f.Name())))
	}
	return names
}

// readStory reads a file, - for standard input, or the story of ours that has this name.
func readStory(name string, stdin io.Reader) ([]storyLine, error) {
	text, err := readFileOrStdin(stdin, name)
	if errors.Is(err, fs.ErrNotExist) {
		if own, notOurs := storyFiles.ReadFile("stories/" + name + ".jsonl"); notOurs == nil {
			text, err = own, nil
		}
	}
	if err != nil {
		return nil, err
	}

	story, err := parseStory(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return story, nil
}

// parseStory checks all lines: a mistake in the last one is found before the first is played.
func parseStory(text []byte) (story []storyLine, err error) {
	n, known := 0, make(map[string]bool)
	for one := range bytes.Lines(text) {
		n++
		if one = bytes.TrimSpace(one); len(one) == 0 || one[0] == '#' {
			continue
		}

		line := storyLine{number: n}
		in := json.NewDecoder(bytes.NewReader(one))
		in.DisallowUnknownFields()
		err := in.Decode(&line)
		switch {
		case err != nil:
			err = errors.New(strings.TrimPrefix(err.Error(), "json: "))
		case in.More():
			err = errors.New("one object a line")
		default:
			err = line.check(known)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}

		known[line.As] = true
		story = append(story, line)
	}
	if len(story) == 0 {
		return nil, errors.New("the story is empty")
	}
	return story, nil
}

// check refuses a line that means nothing. known are the names that earlier lines gave.
func (l *storyLine) check(known map[string]bool) error {
	isStep, source := l.Do != "", l.source()
	switch {
	case isStep == (l.Expect != nil):
		return errors.New("a line has either do or expect")
	case isStep && storyCalls[l.Do] == "":
		return fmt.Errorf("do must be one of %s", strings.Join(slices.Sorted(maps.Keys(storyCalls)), ", "))
	case isStep && l.Within != nil:
		return errors.New("within is for expectations")
	case !isStep && l.With != nil:
		return errors.New("with is for steps")
	case !isStep && (len(l.Expect) != 1 || l.wanted() == nil):
		return fmt.Errorf("expect has one of %s, with an object", strings.Join(storySources, ", "))
	case !isStep && !slices.Contains(storySources, source):
		return fmt.Errorf("cannot expect %q: only one of %s", source, strings.Join(storySources, ", "))
	case l.As != "" && !storyName.MatchString("$"+l.As):
		return errors.New("a name in as consists of letters, digits and _")
	}

	if field := l.pathField(); field != "" && l.With[field] == nil {
		return fmt.Errorf("with has no %s", field)
	}
	var err error
	check := func(name string) any {
		if !known[name] {
			err = fmt.Errorf("no earlier line is called %q", name)
		}
		return nil
	}
	replaceNames(l.With, check)
	replaceNames(l.Expect, check)
	return err
}

func (l *storyLine) source() string {
	for source := range l.Expect {
		return source
	}
	return ""
}

// wanted is the object that an item must contain; nil if there is none.
func (l *storyLine) wanted() jsonObject {
	object, _ := l.Expect[l.source()].(jsonObject)
	return object
}

// pathField is the field of with that is a part of the path; "" for none.
func (l *storyLine) pathField() string {
	return strings.Trim(placeholder.FindString(storyCalls[l.Do]), "{}")
}

// storyName is a text that stands for the id of what has that name.
var storyName = regexp.MustCompile(`^\$[A-Za-z_][A-Za-z0-9_]*$`)

// replaceNames is a value with each name in it replaced.
func replaceNames(v any, id func(name string) any) any {
	switch v := v.(type) {
	case string:
		if storyName.MatchString(v) {
			return id(v[1:])
		}

	case []any:
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = replaceNames(one, id)
		}
		return all

	case jsonObject:
		all := make(jsonObject, len(v))
		for key, one := range v {
			all[key] = replaceNames(one, id)
		}
		return all
	}
	return v
}

// difference says where an item does not contain what is wanted; "" if it does. Of an
// object the keys that are given must match, a list must match in length and order. A text
// of JSON, such as the body of a call, is compared as what it says.
func difference(want, have any, at string) string {
	switch want := want.(type) {
	case jsonObject:
		object, ok := decoded(have).(jsonObject)
		if !ok {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			value, exists := object[key]
			if !exists {
				return fmt.Sprintf("%s is missing", join(at, key))
			}
			if d := difference(want[key], value, join(at, key)); d != "" {
				return d
			}
		}
		return ""

	case []any:
		all, ok := decoded(have).([]any)
		if !ok {
			break
		}
		if len(all) != len(want) {
			return fmt.Sprintf("%s has %d items, not %d", at, len(all), len(want))
		}
		for i := range want {
			if d := difference(want[i], all[i], fmt.Sprintf("%s[%d]", at, i)); d != "" {
				return d
			}
		}
		return ""

	default:
		if want == have || isSameNumber(want, have) {
			return ""
		}
	}
	return fmt.Sprintf("%s is %s, not %s", at, shortJSON(have), shortJSON(want))
}

var plusNumber = regexp.MustCompile(`^\+\d{7,15}$`)

// isSameNumber reports whether two texts are a phone number with and without its plus sign.
func isSameNumber(a, b any) bool {
	one, isText := a.(string)
	other, areTexts := b.(string)
	if len(one) < len(other) {
		one, other = other, one
	}
	return isText && areTexts && plusNumber.MatchString(one) && one[1:] == other
}

func join(at, key string) string { return strings.TrimPrefix(at+"."+key, ".") }

// decoded is what a text of JSON says, or the value itself.
func decoded(v any) any {
	text, ok := v.(string)
	var inner any
	if ok && json.Unmarshal([]byte(text), &inner) == nil {
		return inner
	}
	return v
}

const shownJSON = 400 // characters

// shortJSON is a value as JSON, cut off where it is long.
func shortJSON(v any) string {
	var text strings.Builder
	if err := printLine(&text, v); err != nil {
		return fmt.Sprint(v)
	}
	short := []rune(strings.TrimSpace(text.String()))
	if len(short) > shownJSON {
		short = append(short[:shownJSON], '…')
	}
	return printable(string(short))
}
