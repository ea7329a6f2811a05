package rest

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"confab/storage"
)

// Of which calls the API log keeps the bodies: the setting log.bodies.
const (
	BodiesOff    = "off"
	BodiesErrors = "errors" // of those that were refused
	BodiesAll    = "all"
)

const (
	// MaxLoggedBody is how much is kept of a body.
	MaxLoggedBody = 16 << 10
	// maxWaitingBodies bounds the bodies that wait to be written. Calls above it are logged
	// without theirs.
	maxWaitingBodies = 16 << 20
)

// loggedBodies are the bodies of a call as the log keeps them; nil where it does not. A file
// that was uploaded is not among them.
func (s *Server) loggedBodies(x *Exchange, status int) *storage.CallBodies {
	r := x.Request
	keeps := s.LogBodies == BodiesAll || s.LogBodies == BodiesErrors && status >= 400
	if !keeps || r.Visitor != nil || !r.isKnown() {
		return nil
	}

	b := &storage.CallBodies{
		Request:       loggedBody(r.Raw),
		RequestBytes:  len(r.Raw),
		Response:      loggedBody(x.body),
		ResponseBytes: len(x.body),
	}
	if account := r.Account.ID; account != 0 {
		b.AccountID = &account
	}
	return b
}

// loggedBody is the beginning of a body, with secrets masked. It is a copy.
func loggedBody(body []byte) string {
	text, isWhole := maskJSON(body)
	if !isWhole {
		text = maskText(body[:min(len(body), MaxLoggedBody)])
	}
	if len(text) > MaxLoggedBody {
		text = text[:MaxLoggedBody]
	}

	// Text can be stored, and shown, only as UTF-8.
	return strings.ToValidUTF8(string(text), string(utf8.RuneError))
}

// maskJSON masks the secrets in a JSON text: in values that have the name of one, and in
// strings that hold one. All else stays as it was written. It stops when there is enough, and
// reports whether it could read that far.
func maskJSON(body []byte) (out []byte, isWhole bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	w := jsonMasker{}

	for from := int64(0); len(w.out) < MaxLoggedBody; {
		token, err := d.Token()
		if err == io.EOF {
			return w.out, true
		}
		if err != nil {
			return nil, false
		}

		until := d.InputOffset()
		w.add(token, body[from:until])
		from = until
	}
	return w.out, true
}

// jsonMasker writes the tokens of a JSON text.
type jsonMasker struct {
	out    []byte
	open   []jsonContainer
	masked int // of the containers that are open, from which on all is masked; 0 for none
}

// jsonContainer is an object or a list that is open.
type jsonContainer struct {
	isObject bool
	name     string // of the value that comes next in an object, "" where a name comes
}

// add writes a token, with what separates it from the one before.
func (w *jsonMasker) add(token json.Token, written []byte) {
	if delim, ok := token.(json.Delim); ok {
		w.addDelim(delim, written)
		return
	}

	at := len(w.open) - 1
	word, isText := token.(string)
	switch {
	case at >= 0 && w.open[at].isObject && w.open[at].name == "":
		w.open[at].name = word + " " // a name may be empty
	case token != nil && w.isSecret(), isText && holdsSecret(word):
		n := separator(written)
		written = append(written[:n:n], `"`+masked+`"`...)
		w.endValue()
	default:
		w.endValue()
	}
	w.out = append(w.out, written...)
}

func (w *jsonMasker) addDelim(delim json.Delim, written []byte) {
	w.out = append(w.out, written...)
	switch delim {
	case '{', '[':
		isSecret := w.valueName() == "custom_headers"
		w.open = append(w.open, jsonContainer{isObject: delim == '{'})
		if isSecret && w.masked == 0 {
			w.masked = len(w.open)
		}
	default:
		if w.masked == len(w.open) {
			w.masked = 0
		}
		w.open = w.open[:len(w.open)-1]
		w.endValue()
	}
}

// valueName is the name of the value that comes next, "" in a list.
func (w *jsonMasker) valueName() string {
	if len(w.open) == 0 {
		return ""
	}
	return strings.TrimSuffix(w.open[len(w.open)-1].name, " ")
}

// endValue notes that the value of a name is written.
func (w *jsonMasker) endValue() {
	if len(w.open) > 0 {
		w.open[len(w.open)-1].name = ""
	}
}

// isSecret reports whether the value that comes next is one: by its name, or by what it is in.
func (w *jsonMasker) isSecret() bool {
	return w.masked > 0 || secretName.MatchString(w.valueName())
}

// separator is where a token begins in what was read for it.
func separator(written []byte) int {
	return len(written) - len(bytes.TrimLeft(written, " \t\r\n:,"))
}

// secretNames are the last words in the names of values that are secret.
const secretNames = `(?:pin|key|token|secret|password|authorization|setup_url)`

var (
	secretName = regexp.MustCompile(`(?i)^(?:.*_)?` + secretNames + `$`)
	// namedSecret finds such values in what is no JSON, with their names.
	namedSecret = regexp.MustCompile(`(?i)(` + secretNames + `["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|[^\s,}&]+)`)
	// plainSecret finds secrets by how they begin, and what lets whoever has it read a file.
	plainSecret = regexp.MustCompile(`(` + storage.KeyPrefix + `|` + storage.SecretPrefix + `|` + storage.PrefixSetupLink +
		`|/media/)[A-Za-z0-9_+/=-]+`)
	fileToken = regexp.MustCompile(`/media/[A-Za-z0-9_-]{16,}`)
)

// holdsSecret reports whether a string has a secret in it. The id of a setup link is none,
// though it begins as its token does.
func holdsSecret(text string) bool {
	for _, found := range plainSecret.FindAllString(text, -1) {
		if strings.HasPrefix(found, "/") {
			found = fileToken.FindString(found)
		}
		if found != "" && !storage.ValidID(storage.PrefixSetupLink, found) {
			return true
		}
	}
	return false
}

// maskText masks what may be secrets in a text that is no JSON.
func maskText(text []byte) []byte {
	return plainSecret.ReplaceAll(namedSecret.ReplaceAll(text, []byte("${1}"+masked)), []byte("${1}"+masked))
}
