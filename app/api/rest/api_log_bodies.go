package rest

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strconv"
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
	if !keeps || r.Visitor != nil || r.Refuse != nil || !r.isKnown() {
		return nil
	}

	sent := r.Raw
	if isForm(r.HTTP) {
		sent = nil // the fingerprint of a form, which is no text
	}
	b := &storage.CallBodies{
		Request:       loggedBody(sent),
		RequestBytes:  len(sent),
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
	text := maskBody(body)
	if len(text) > MaxLoggedBody {
		text = text[:MaxLoggedBody]
	}

	// Text can be stored, and shown, only as UTF-8.
	return strings.ToValidUTF8(string(text), string(utf8.RuneError))
}

// maskBody masks the secrets in a JSON text: in values that have the name of one, and in
// strings that hold one. All else stays as it was written. It stops when there is enough; from
// where the text is no JSON, it masks what looks like a secret.
func maskBody(body []byte) []byte {
	m := jsonMasker{Decoder: json.NewDecoder(bytes.NewReader(body)), body: body}
	m.UseNumber()

	for {
		switch err := m.copyValue("", false); err {
		case nil:
		case io.EOF:
			return m.out
		default:
			left := body[m.read:]
			return append(m.out, maskText(left[:min(len(left), MaxLoggedBody)])...)
		}
	}
}

// jsonMasker copies a JSON text, and masks the secrets in it.
type jsonMasker struct {
	*json.Decoder
	body []byte
	read int64 // how much of it the tokens so far are
	out  []byte
}

// next reads a token, and what was written for it and between it and the one before.
func (m *jsonMasker) next() (token json.Token, written []byte, err error) {
	if len(m.out) >= MaxLoggedBody {
		return nil, nil, io.EOF
	}
	if token, err = m.Token(); err == nil {
		written, m.read = m.body[m.read:m.InputOffset()], m.InputOffset()
	}
	return token, written, err
}

// copyValue copies the value of a name; what is in a list has the name of the list. inSecret says
// that all is masked, whatever its name: a secret that should be a text, or what stands in for one.
func (m *jsonMasker) copyValue(name string, inSecret bool) error {
	token, written, err := m.next()
	if err != nil {
		return err
	}

	delim, isDelim := token.(json.Delim)
	text, isText := token.(string)
	isSecret := inSecret || name == "custom_headers" || secretName.MatchString(name)
	if token != nil && !isDelim && isSecret || isText && holdsSecret(text) {
		written = maskToken(written)
	}
	m.out = append(m.out, written...)
	if !isDelim {
		return nil
	}

	inSecret = inSecret || isSecret && name != "api_key" // the key that /me shows comes without its secret
	for m.More() {
		if delim == '{' {
			if name, err = m.copyName(); err != nil {
				return err
			}
		}
		if err := m.copyValue(name, inSecret); err != nil {
			return err
		}
	}
	_, written, err = m.next() // the end of the object or list
	m.out = append(m.out, written...)
	return err
}

// copyName copies the name of a value in an object.
func (m *jsonMasker) copyName() (string, error) {
	token, written, err := m.next()
	name, _ := token.(string)
	if holdsSecret(name) {
		written = maskToken(written)
	}
	m.out = append(m.out, written...)
	return name, err
}

// maskToken masks a token in what was read for it, and leaves what separates it from the one
// before.
func maskToken(written []byte) []byte {
	n := len(written) - len(bytes.TrimLeft(written, " \t\r\n:,"))
	return append(written[:n:n], `"`+masked+`"`...)
}

// secretNames are the last words in the names of values that are secret.
const secretNames = `(?:pin|key|token|secret|password|authorization|setup_url)`

var (
	// secretName finds them after a separator, or as people write them in other languages:
	// accessToken.
	secretName = regexp.MustCompile(`^(?:.*[_. -])?(?i:` + secretNames + `)$|[a-z0-9](?:Pin|Key|Token|Secret|Password|Authorization)$`)
	// namedSecret finds such values in what is no JSON, with their names.
	namedSecret = regexp.MustCompile(`(?i)(` + secretNames + `["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,}&]+)`)
	// heldSecret finds the names in a string that is JSON itself, or has the query of a URL.
	heldSecret = regexp.MustCompile(`(?i)` + secretNames + `\\*["']\s*:|[?&][\w.-]*` + secretNames + `=`)
	// plainSecret finds secrets by how they begin, and what lets whoever has it read a file.
	plainSecret = regexp.MustCompile(`(` + storage.KeyPrefix + `|` + storage.SecretPrefix + `|` + storage.PrefixSetupLink +
		`|/media/)[A-Za-z0-9_+/=-]+`)
	fileToken = regexp.MustCompile(`/media/[A-Za-z0-9_-]{16,}`)
	// providerToken is how access tokens of the provider begin.
	providerToken = regexp.MustCompile(`\bEAA[A-Za-z0-9]{20,}`)
	// escapedASCII is how JSON may write what needs no escape.
	escapedASCII = regexp.MustCompile(`\\u00[2-7][0-9A-Fa-f]`)
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
	return heldSecret.MatchString(text) || providerToken.MatchString(text)
}

// maskText masks what may be secrets in a text that is no JSON. So that it finds them, escapes
// become what they stand for, and what another encoding puts between letters is left out.
func maskText(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte{0}, nil)
	text = escapedASCII.ReplaceAllFunc(text, func(escape []byte) []byte {
		code, _ := strconv.ParseUint(string(escape[2:]), 16, 8)
		return []byte{byte(code)}
	})

	text = namedSecret.ReplaceAll(text, []byte("${1}"+masked))
	text = providerToken.ReplaceAll(text, []byte(masked))
	return plainSecret.ReplaceAll(text, []byte("${1}"+masked))
}
