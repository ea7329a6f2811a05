package api

import (
	"slices"
	"strings"
)

// ourHeaders begin the names of the headers that a delivery carries by itself.
var ourHeaders = []string{"content-", "x-svc-", "webhook-"}

// heldHeaders are our own too, or mean the connection and not the message.
var heldHeaders = []string{
	"host", "user-agent",
	"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
	"te", "trailer", "transfer-encoding", "upgrade",
}

// reservedHeader tells whether a name in lower case cannot be chosen.
func reservedHeader(name string) bool {
	ours := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return slices.Contains(heldHeaders, name) || slices.ContainsFunc(ourHeaders, ours)
}

// headerName tells whether a name is a token as HTTP has it.
func headerName(name string) bool {
	for _, c := range []byte(name) {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return 1 <= len(name) && len(name) <= 256
}

// headerValue tells whether HTTP can carry a value.
func headerValue(value string) bool {
	for _, c := range []byte(value) {
		if (c < ' ' && c != '\t') || c == 0x7f {
			return false
		}
	}
	return len(value) <= maxHeaderValue
}
