package rest

import (
	"slices"
	"strings"
)

// reservedHeaderPrefixes begin the names of headers that the service itself sets on a
// delivery.
var reservedHeaderPrefixes = []string{"content-", "x-svc-", "webhook-"}

// reservedHeaders are set by the service too, or belong to the connection.
var reservedHeaders = []string{
	"host", "user-agent",
	"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
	"te", "trailer", "transfer-encoding", "upgrade",
}

// IsReservedHeader tells whether a header, in lower case, cannot be a custom header.
func IsReservedHeader(name string) bool {
	ours := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return slices.Contains(reservedHeaders, name) || slices.ContainsFunc(reservedHeaderPrefixes, ours)
}

// IsHeaderName tells whether a name is a token as defined by HTTP.
func IsHeaderName(name string) bool {
	for _, c := range []byte(name) {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return 1 <= len(name) && len(name) <= 256
}

// IsHeaderValue tells whether a value can be sent in a header.
func IsHeaderValue(value string) bool {
	for _, c := range []byte(value) {
		if (c < ' ' && c != '\t') || c == 0x7f {
			return false
		}
	}
	return len(value) <= MaxHeaderValue
}

// MaxHeaderValue is how long the value of a header may be.
const MaxHeaderValue = 8192
