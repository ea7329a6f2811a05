package provider

import (
	"fmt"
	"io"
	"log/slog"
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

// String implements fmt.Stringer.
func (Token) String() string { return redacted }

// GoString implements fmt.GoStringer.
func (Token) GoString() string { return redacted }

// Format implements fmt.Formatter, for the verbs that do not use String.
func (Token) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// LogValue implements slog.LogValuer.
func (Token) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements encoding.TextMarshaler, so that no JSON document holds
// a secret by accident.
func (Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }
