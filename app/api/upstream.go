package api

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"confab/jobs"
	"confab/jobs/provider"
)

// The provider is called within the request where a client waits for its word:
// to register a number, to submit a template, to look at templates.

// detachContext makes a request go on when its client leaves: what the provider
// was told to do must be written down.
func (r *request) detachContext() {
	r.http = r.http.WithContext(context.WithoutCancel(r.http.Context()))
}

// providerCallError words what a call to the provider came to. What the provider refuses
// for another reason than its own trouble or the account's is worded by refused.
func providerCallError(err error, refused func(*provider.Error) error) error {
	e, answered := errors.AsType[*provider.Error](err)

	switch {
	case errors.Is(err, jobs.ErrToken):
		return &Error{Code: UpstreamError, Message: "The account's access token cannot be read.", cause: err}
	case !answered:
		return err
	case unavailable(e) || e.Class.Transient:
		return errProviderUnavailable(err)
	case e.Class.Effect == provider.Restricted:
		return &Error{Code: AccountRestricted, Message: "The provider has restricted this account: " + providerReason(e), cause: err}
	case e.Class.Effect != provider.NoEffect:
		return &Error{Code: UpstreamError, Message: "The provider refuses this account: " + providerReason(e), cause: err}
	}
	return refused(e)
}

// unavailable tells whether the provider gave no answer of its own: it could not
// be asked, did not answer, or broke down over it.
func unavailable(e *provider.Error) bool {
	return e.Status == 0 || e.Status >= 500 || e.Code == provider.NoCode
}

// errProviderUnavailable reports that the provider could not do its part.
func errProviderUnavailable(cause error) *Error {
	return &Error{Code: ProviderUnavailable, Message: "The provider could not be reached or failed. Please retry.", cause: cause}
}

// providerReason is what the provider says about a refusal, in a sentence.
func providerReason(e *provider.Error) string {
	text := cmp.Or(e.UserMessage, e.Details, e.Message, e.UserTitle, e.Title, "it gave no reason")
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
