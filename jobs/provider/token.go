package provider

import (
	"fmt"
	"io"
)

const redacted = "[redacted]"

// Token is an access token, or another secret, that only Reveal shows. It holds
// a pointer because fmt cannot call the methods of an unexported field: it would
// print a string there, but of a pointer it prints the address.
type Token struct{ secret *string }

// NewToken wraps a secret.
func NewToken(secret string) Token { return Token{secret: &secret} }

// Reveal returns the secret itself, for encrypting or sending it.
func (t Token) Reveal() string {
	if t.secret == nil {
		return ""
	}
	return *t.secret
}

// IsZero reports whether there is no secret.
func (t Token) IsZero() bool { return t.Reveal() == "" }

// Format implements fmt.Formatter, for all verbs.
func (Token) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalText implements encoding.TextMarshaler, so that no JSON document and no log
// holds a secret by accident.
func (Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }
