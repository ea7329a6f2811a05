package factor

import (
	"testing"

	"github.com/matryer/is"
)

// Browsers offer passkeys on https, for a domain, and on localhost; and they compare hosts and origins
// as they write them themselves.
func TestPasskeysAreForTheHostOfThePublicURL(t *testing.T) {
	is := is.New(t)
	for publicURL, want := range map[string][2]string{
		"https://chat.example.com":           {"chat.example.com", "https://chat.example.com"},
		"https://chat.example.com:8443/base": {"chat.example.com", "https://chat.example.com:8443"},
		"HTTPS://Chat.Example.com:443":       {"chat.example.com", "https://chat.example.com"},
		"http://localhost:8080":              {"localhost", "http://localhost:8080"},
		"http://localhost:80":                {"localhost", "http://localhost"},
		"https://localhost:443":              {"localhost", "https://localhost"},
	} {
		p := NewPasskeys(publicURL)
		is.Equal([2]string{p.Host, p.webauthn.Config.RPOrigins[0]}, want)
	}
	for _, none := range []string{"http://chat.example.com", "http://127.0.0.1:8080", "https://192.0.2.1", "https://[2001:db8::1]", "://"} {
		is.Equal(NewPasskeys(none), nil)
	}
}
