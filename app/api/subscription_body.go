package api

import (
	"cmp"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"confab/app/api/rest"
	"confab/jobs/event"
	"confab/jobs/guard"
	"confab/jobs/provider"
	"confab/storage"
)

const (
	maxDescription = 255
	maxWebhookURL  = 2048
	maxEvents      = 100 // more than there are types
	maxNumbers     = 1000
)

// newSubscription is the body of POST /v1/webhook_subscriptions.
type newSubscription struct {
	URL            *string        `json:"url"`
	Events         []string       `json:"events"`
	Description    *string        `json:"description"`
	PhoneNumberIDs []string       `json:"phone_number_ids"`
	Status         *string        `json:"status"`
	CustomHeaders  map[string]any `json:"custom_headers"`
	Format         *string        `json:"format"`
	VerifyToken    *string        `json:"verify_token"`
	Secret         *string        `json:"secret"`

	urls *guard.Client
}

func (n *newSubscription) Validate() error {
	switch {
	case n.URL == nil:
		return rest.Missing("url")
	case n.Events == nil:
		return cmp.Or(checkURLForm(n.urls, n.URL), error(rest.Missing("events")))
	}
	return cmp.Or(
		checkURLForm(n.urls, n.URL),
		n.checkNative(),
		rest.Optional("description", n.Description, maxDescription),
		checkNumbers(n.PhoneNumberIDs),
		checkWebhookStatus(n.Status),
		checkHeaders(n.CustomHeaders),
	)
}

func (n *newSubscription) subscription(organization int64) storage.Subscription {
	return storage.Subscription{
		OrganizationID: organization,
		URL:            *n.URL,
		Events:         distinct(n.Events),
		Description:    n.Description,
		PhoneNumberIDs: distinct(n.PhoneNumberIDs),
		CustomHeaders:  headerValues(n.CustomHeaders),
		Status:         *cmp.Or(n.Status, new(storage.WebhookActive)),
		Format:         n.format(),
		VerifyToken:    storage.OrEmpty(n.VerifyToken),
		FirstSecret:    storage.OrEmpty(n.Secret),
	}
}

// subscriptionChanges is the body of PATCH /v1/webhook_subscriptions/:id.
type subscriptionChanges struct {
	URL            rest.Patch[string]         `json:"url"`
	Events         rest.Patch[[]string]       `json:"events"`
	Description    rest.Patch[string]         `json:"description"`
	PhoneNumberIDs rest.Patch[[]string]       `json:"phone_number_ids"`
	Status         rest.Patch[string]         `json:"status"`
	CustomHeaders  rest.Patch[map[string]any] `json:"custom_headers"`
	Format         rest.Patch[string]         `json:"format"`
	VerifyToken    rest.Patch[string]         `json:"verify_token"`

	urls *guard.Client
}

func (c *subscriptionChanges) Validate() error {
	if !c.URL.Set && !c.Events.Set && !c.Description.Set && !c.PhoneNumberIDs.Set && !c.Status.Set && !c.CustomHeaders.Set &&
		!c.Format.Set && !c.VerifyToken.Set {
		return rest.NoneGiven("url", "Provide at least one of url, events, description, phone_number_ids, status and custom_headers.")
	}
	return cmp.Or(
		c.URL.NotNull("url"),
		c.Events.NotNull("events"),
		c.Status.NotNull("status"),
		c.Format.NotNull("format"),
		c.VerifyToken.NotNull("verify_token"),
		rest.Optional("verify_token", c.VerifyToken.OrNil(), maxVerifyToken),
		checkURLForm(c.urls, c.URL.OrNil()),
		rest.Optional("description", c.Description.OrNil(), maxDescription),
		checkNumbers(c.PhoneNumberIDs.Value),
		checkWebhookStatus(c.Status.OrNil()),
		checkHeaders(c.CustomHeaders.Value),
	)
}

func (c *subscriptionChanges) apply(tx *storage.Tx, s *storage.Subscription) error {
	c.URL.Apply(&s.URL)
	if c.Events.Set {
		s.Events = distinct(c.Events.Value)
	}
	c.Description.ApplyOrNil(&s.Description)
	if c.PhoneNumberIDs.Set {
		s.PhoneNumberIDs = distinct(c.PhoneNumberIDs.Value)
		if err := checkOwnNumbers(&tx.Rx, s.OrganizationID, c.PhoneNumberIDs.Value); err != nil {
			return err
		}
	}

	c.VerifyToken.Apply(&s.VerifyToken)
	if c.CustomHeaders.Set {
		s.CustomHeaders = headerValues(c.CustomHeaders.Value)
	}

	if err := tx.UpdateSubscription(s); err != nil {
		return err
	}

	return c.changeStatus(tx, s)
}

// changeStatus pauses or resumes a subscription, if the body asks for that.
func (c *subscriptionChanges) changeStatus(tx *storage.Tx, s *storage.Subscription) error {
	if !c.Status.Set || c.Status.Value == s.Status {
		return nil
	}
	change := tx.PauseSubscription
	if c.Status.Value == storage.WebhookActive {
		change = tx.ResumeSubscription
	}

	if err := change(s.ID); err != nil {
		return err
	}

	// Read again, because that also changes the counters and the reason.
	changed, err := tx.Subscription(s.OrganizationID, s.ID)
	*s = changed
	return err
}

// checkURLForm checks an endpoint's URL, if there is one, without resolving its name.
func checkURLForm(urls *guard.Client, raw *string) error {
	switch {
	case raw == nil:
		return nil
	case !rest.Between(*raw, 1, maxWebhookURL):
		return errWebhookURL(rest.LengthRule(1, maxWebhookURL))
	case strings.Contains(*raw, "#"):
		return errWebhookURL("must not have a fragment")
	}

	_, err := urls.ParseURL(*raw)
	return webhookURLError(err)
}

// checkWebhookURL also resolves the name, which takes time, so it runs outside of the
// transaction.
func (s *Server) checkWebhookURL(r *rest.Request, raw string) error {
	return webhookURLError(s.Fetch.CheckURL(r.HTTP.Context(), raw))
}

func webhookURLError(err error) error {
	if err == nil {
		return nil
	}
	return errWebhookURL(URLRule(err))
}

// URLRule is the rule that a URL breaks, by the error of the guarded client.
func URLRule(err error) string {
	if _, blocked := errors.AsType[*guard.BlockedError](err); blocked {
		return "must point to a public address"
	}
	return strings.TrimPrefix(err.Error(), guard.ErrURL.Error()+": ")
}

func errWebhookURL(rule string) error {
	return &rest.Error{Code: rest.InvalidWebhookURL, Param: "url", Message: "url " + rule + "."}
}

// checkEvents checks the names of events, if they are given; * means all.
func checkEvents(names []string) error { return checkNames(names, "event", event.IsType, errEventType) }

// CheckEventType checks the name of an event, if there is one.
func CheckEventType(param string, name *string) error {
	if name != nil && !event.IsType(*name) {
		return errEventType(param)
	}
	return nil
}

func errEventType(param string) error {
	return rest.FailAt(rest.InvalidEventType, param, param+" must be one of "+strings.Join(event.Types(), ", ")+".")
}

func checkWebhookStatus(status *string) error {
	if status != nil && *status != storage.WebhookActive && *status != storage.WebhookPaused {
		return rest.Invalid("status", "must be active or paused")
	}
	return nil
}

func checkNumbers(numbers []string) error {
	if err := rest.AtMost("phone_number_ids", numbers, maxNumbers); err != nil {
		return err
	}

	for i, number := range numbers {
		if !provider.PhoneNumberID.MatchString(number) {
			return errForeignNumber(i)
		}
	}
	return nil
}

// checkOwnNumbers checks that numbers belong to the organization, with one query for
// all of them: it holds the writer.
func checkOwnNumbers(rx *storage.Rx, organization int64, numbers []string) error {
	foreign, err := rx.ForeignNumber(organization, numbers)
	if err != nil {
		return storage.IgnoreNotFound(err)
	}
	return errForeignNumber(slices.Index(numbers, foreign))
}

func errForeignNumber(i int) error {
	return rest.Invalid(rest.ItemPath("phone_number_ids", i), "is not the id of one of this organization's numbers")
}

// distinct removes repeated entries and keeps the order.
func distinct(list []string) storage.Strings {
	var all storage.Strings
	for _, s := range list {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// Limits of the headers that a subscription adds to its deliveries.
const (
	maxHeaders     = 20
	maxHeaderName  = 256
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
		case len(name) > maxHeaderName || !headerName.MatchString(name):
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
	headerName  = regexp.MustCompile("^[0-9A-Za-z!#$%&'*+.^_`|~-]+$")
	headerValue = regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*$`)
)
