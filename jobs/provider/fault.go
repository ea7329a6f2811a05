package provider

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"confab/jobs/errorcode"
)

// NoCode is the code where the provider gave none, also in failures that we
// synthesize. It is not zero, because zero is one of the provider's own codes.
const NoCode = -1

// maxTextBytes is the longest text of a failure that we keep.
const maxTextBytes = 2048

// Fault is the provider's description of a failure, in an answer or a callback.
type Fault struct {
	Code        int // NoCode when there is none
	Subcode     int
	Type        string
	Title       string // in callbacks only
	Message     string
	Details     string
	UserTitle   string
	UserMessage string
	Blame       []string // parameters at fault: components[0].text
	Href        string
	TraceID     string
	IsTransient bool // the provider's own hint
}

// Class returns how to treat the fault. An unknown code is final, and without effect.
func (f Fault) Class() Class {
	class := Class{Code: errorcode.UpstreamError}
	if row, ok := Lookup(f.Code, f.Subcode); ok {
		class = row.Class
	}
	class.Transient = class.Transient || f.IsTransient
	return class
}

// missing reports whether the addressed object does not exist for us.
func (f Fault) missing() bool {
	return f.Code == codeInvalidParameter && f.Subcode == SubcodeMissingObject || f.Code == codeUnknownAlias
}

// UnmarshalJSON reads a fault leniently: a key of an unexpected type is left
// out, because half of an explanation is better than none.
func (f *Fault) UnmarshalJSON(raw []byte) error {
	f.read(raw)
	f.sanitize(nil)
	return nil
}

// read fills the fault from an error object, or from a string, which is its message.
func (f *Fault) read(raw json.RawMessage) {
	*f = Fault{Code: NoCode}

	var keys map[string]json.RawMessage
	if json.Unmarshal(raw, &keys) != nil {
		f.Message = jsonString(raw)
		return
	}
	if code, ok := jsonInt(keys["code"]); ok {
		f.Code = code
	}
	f.Subcode, _ = jsonInt(keys["error_subcode"])

	f.Type = jsonString(keys["type"])
	f.Title = jsonString(keys["title"])
	f.Message = jsonString(keys["message"])
	f.UserTitle = jsonString(keys["error_user_title"])
	f.UserMessage = jsonString(keys["error_user_msg"])
	f.Href = jsonString(keys["href"])
	f.TraceID = jsonString(keys["fbtrace_id"])
	f.IsTransient = string(keys["is_transient"]) == "true"

	f.readErrorData(keys["error_data"])
}

// readErrorData reads error_data: an object in messaging errors, in others a
// string, which may hold such an object as JSON.
func (f *Fault) readErrorData(raw json.RawMessage) {
	var data struct {
		Details json.RawMessage     `json:"details"`
		Blame   [][]json.RawMessage `json:"blame_field_specs"`
	}

	if s := jsonString(raw); strings.HasPrefix(s, "{") {
		raw = json.RawMessage(s)
	} else if s != "" {
		f.Details = s
		return
	}

	json.Unmarshal(raw, &data) // a key that cannot be read stays empty
	f.Details = jsonString(data.Details)

	for _, path := range data.Blame {
		if p := formatPath(path); p != "" {
			f.Blame = append(f.Blame, p)
		}
	}
}

// formatPath writes a path of keys and indexes as param has it: components[0].text.
func formatPath(path []json.RawMessage) string {
	var b strings.Builder
	for _, step := range path {
		if i, ok := jsonInt(step); ok {
			b.WriteString("[" + strconv.Itoa(i) + "]")
			continue
		}

		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(jsonString(step))
	}
	return b.String()
}

// sanitize removes secrets from every text, because the provider repeats a
// malformed token in its explanation, and then truncates it. The other order
// could leave half a secret, which redact does not find.
func (f *Fault) sanitize(s secrets) {
	texts := []*string{
		&f.Type, &f.Title, &f.Message, &f.Details,
		&f.UserTitle, &f.UserMessage, &f.Href, &f.TraceID,
	}
	for _, p := range texts {
		*p = truncate(s.redact(*p))
	}

	for i, p := range f.Blame {
		f.Blame[i] = truncate(s.redact(p))
	}
}

// jsonString returns the content of a JSON string, and "" for any other value.
func jsonString(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // which sets it for a string only
	return s
}

// truncate cuts a text at maxTextBytes, at the start of a character.
func truncate(s string) string {
	cut := min(len(s), maxTextBytes)
	for cut < len(s) && cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

// jsonInt reads an integer, which may be in quotes.
func jsonInt(raw json.RawMessage) (int, bool) {
	n, err := strconv.Atoi(string(bytes.Trim(raw, `"`)))
	return n, err == nil
}
