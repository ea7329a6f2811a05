package api

import (
	"slices"
	"strings"
)

// reservedHeaderPrefixes begin the names of the headers that a delivery carries by itself.
var reservedHeaderPrefixes = []string{"content-", "x-svc-", "webhook-"}

// reservedHeaders are our own too, or mean the connection and not the message.
var reservedHeaders = []string{
	"host", "user-agent",
	"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
	"te", "trailer", "transfer-encoding", "upgrade",
}

// isReservedHeader tells whether a name in lower case cannot be chosen.
func isReservedHeader(name string) bool {
	ours := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return slices.Contains(reservedHeaders, name) || slices.ContainsFunc(reservedHeaderPrefixes, ours)
}

// isHeaderName tells whether a name is a token as HTTP has it.
func isHeaderName(name string) bool {
	for _, c := range []byte(name) {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return 1 <= len(name) && len(name) <= 256
}

// isHeaderValue tells whether HTTP can carry a value.
func isHeaderValue(value string) bool {
	for _, c := range []byte(value) {
		if (c < ' ' && c != '\t') || c == 0x7f {
			return false
		}
	}
	return len(value) <= maxHeaderValue
}
