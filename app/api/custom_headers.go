package api

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"confab/app/api/rest"
)

// Limits of the headers that a subscription adds to its deliveries.
const (
	maxHeaders     = 20
	maxHeaderValue = 8192 // bytes
)

// headerValues converts headers whose values were checked to be strings.
func headerValues(headers map[string]any) map[string]string {
	all := make(map[string]string, len(headers))
	for name, value := range headers {
		all[name], _ = value.(string)
	}
	return all
}

// checkHeaders checks custom headers: HTTP must be able to carry them, and none may be
// reserved.
func checkHeaders(headers map[string]any) error {
	if len(headers) > maxHeaders {
		return rest.Invalid("custom_headers", "must have at most "+strconv.Itoa(maxHeaders)+" entries")
	}

	seen := make(map[string]bool, len(headers))
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		param, folded := "custom_headers."+name, strings.ToLower(name)
		value, isText := headers[name].(string)
		switch {
		case !headerName.MatchString(name):
			return rest.Invalid(param, "is not a valid header name")
		case isReservedHeader(folded):
			return rest.Invalid(param, "is set by the service and cannot be changed")
		case seen[folded]:
			return rest.Invalid(param, "is given twice")
		case !isText:
			return rest.Invalid(param, "must be a string")
		case len(value) > maxHeaderValue || !headerValue.MatchString(value):
			return rest.Invalid(param, "must have at most "+strconv.Itoa(maxHeaderValue)+
				" bytes without line breaks or other control characters")
		}
		seen[folded] = true
	}
	return nil
}

// reservedHeaderPrefixes begin the names of headers that the service itself sets on a
// delivery.
var reservedHeaderPrefixes = []string{"content-", "x-svc-", "webhook-"}

// reservedHeaders are set by the service too, or belong to the connection.
var reservedHeaders = []string{
	"host", "user-agent",
	"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
	"te", "trailer", "transfer-encoding", "upgrade",
}

// isReservedHeader reports whether a header, in lower case, cannot be a custom header.
func isReservedHeader(name string) bool {
	ours := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return slices.Contains(reservedHeaders, name) || slices.ContainsFunc(reservedHeaderPrefixes, ours)
}

// headerName is a token as defined by HTTP, and headerValue what can be sent in a header.
var (
	headerName  = regexp.MustCompile("^[0-9A-Za-z!#$%&'*+.^_`|~-]{1,256}$")
	headerValue = regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*$`)
)
