package provider

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Token is an access token, or another secret, that shows itself to nobody but
// the caller of Reveal. It holds a pointer because fmt, which cannot call the
// methods of an unexported field, prints the address of a pointer there.
type Token struct{ secret *string }

// NewToken wraps a secret.
func NewToken(secret string) Token { return Token{secret: &secret} }

// Reveal returns the secret itself, for sealing it or sending it.
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

// Format implements fmt.Formatter, for the verbs that would look past String.
func (Token) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// LogValue implements slog.LogValuer.
func (Token) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements encoding.TextMarshaler: a secret is never part of a
// document by accident.
func (Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }
