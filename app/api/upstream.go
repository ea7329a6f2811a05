package api

import (
	"cmp"
	"errors"
	"strings"

	"confab/app/api/rest"
	"confab/jobs/provider"
	"confab/storage"
)

// The provider is called within the request where the client needs its answer: to
// register a number, to submit a template, to list templates.

// ProviderCallError makes the client's error of a failed call to the provider. Faults
// of the provider and of the account are the same for every call; any other refusal is
// left to refused.
func ProviderCallError(err error, refused func(*provider.Error) error) error {
	e, answered := errors.AsType[*provider.Error](err)

	switch {
	case errors.Is(err, storage.ErrSealed):
		return &rest.Error{Code: rest.UpstreamError, Message: "The account's access token cannot be read.", Cause: err}
	case !answered:
		return err
	case Unavailable(e) || e.Class.Transient:
		return errProviderUnavailable(err)
	case e.Class.Effect == provider.Restricted:
		return rest.Fail(rest.AccountRestricted, "The provider has restricted this account: "+ProviderReason(e)).Because(err)
	case e.Class.Effect != provider.NoEffect:
		return &rest.Error{Code: rest.UpstreamError, Message: "The provider rejected this account: " + ProviderReason(e), Cause: err}
	}
	return refused(e)
}

// Unavailable reports whether the provider gave no answer of its own: it could not be
// reached, did not answer, or answered with a fault of its server.
func Unavailable(e *provider.Error) bool {
	return e.Status == 0 || e.Status >= 500 || e.Code == provider.NoCode
}

// errProviderUnavailable reports that the provider could not be reached or failed.
func errProviderUnavailable(cause error) *rest.Error {
	return &rest.Error{Code: rest.ProviderUnavailable, Message: "The provider failed or could not be reached. Please retry.", Cause: cause}
}

// ProviderReason is the provider's explanation of a refusal, as a sentence.
func ProviderReason(e *provider.Error) string {
	text := cmp.Or(e.UserMessage, e.Details, e.Message, e.UserTitle, e.Title, "it gave no reason")
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
