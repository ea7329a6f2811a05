package template

import (
	"regexp"
	"strings"

	"confab/app/api/content"
	"confab/app/api/rest"
)

// maxHandle is longer than the provider's handles.
const maxHandle = 8192

// uploadHandle is the form of the provider's handles of uploaded files.
var uploadHandle = regexp.MustCompile(`^[0-9]+:`)

// checkFile checks the example of a header that is a file: a handle of the provider,
// or a URL to fetch it from. The URL may also be in the handle's place.
func (p *DraftPart) checkFile(allowHTTP content.PlainHTTP) error {
	given := p.Example
	if given == nil {
		return rest.Missing("example")
	}

	p.Example = &DraftExample{HeaderHandle: given.HeaderHandle, HeaderURL: given.HeaderURL}

	switch {
	case given.HeaderHandle != nil && given.HeaderURL != nil:
		return rest.Within("example", rest.Invalid("header_url", "cannot be given together with header_handle"))
	case given.HeaderURL != nil:
		return rest.Within("example", content.CheckLink("header_url", &given.HeaderURL.text, allowHTTP))
	case given.HeaderHandle == nil:
		return rest.Missing("example.header_handle")
	case len(given.HeaderHandle) != 1:
		return rest.Invalid("example.header_handle", "must have one item")
	}

	handle := given.HeaderHandle[0]
	switch {
	case !rest.Between(handle, 1, maxHandle):
		return rest.Invalid("example.header_handle[0]", rest.LengthRule(1, maxHandle))
	case uploadHandle.MatchString(handle) || isProviderURL(handle):
		return nil
	case strings.Contains(handle, "://"):
		return rest.Within("example", content.CheckLink("header_handle[0]", &handle, allowHTTP))
	}
	return rest.Invalid("example.header_handle[0]", "must be a handle from the provider's upload, or an https URL")
}

// isProviderURL reports whether the provider itself serves an example under a URL.
func isProviderURL(url string) bool { return strings.HasPrefix(url, "https://scontent.whatsapp.net/") }

// Source is the URL from which an example's file must be fetched, and the field that
// holds it; "" if the provider has the file already.
func (e *DraftExample) Source() (url, field string) {
	switch {
	case e == nil:
		return "", ""
	case e.HeaderURL != nil:
		return e.HeaderURL.text, "header_url"
	case len(e.HeaderHandle) == 1 && !uploadHandle.MatchString(e.HeaderHandle[0]) && !isProviderURL(e.HeaderHandle[0]):
		return e.HeaderHandle[0], "header_handle[0]"
	}
	return "", ""
}
