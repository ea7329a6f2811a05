package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"confab/app/api/rest"
	"confab/jobs/event"
	"confab/storage"
)

// A subscription of the format provider receives the provider's own envelopes, by their fields,
// and its endpoint is verified as the provider verifies one.

const (
	maxVerifyToken  = 255
	verifyTime      = 10 * time.Second
	challengeDigits = 10_000_000_000
)

// Patterns of what native webhooks are given.
var (
	fieldPattern  = regexp.MustCompile(`^[a-z_]{1,64}$`)
	secretPattern = regexp.MustCompile(`^[ -~]{16,128}$`)
)

// checkFields checks the names of the provider's fields, if they are given; * means all.
func checkFields(names []string) error {
	return checkNames(names, "field of the provider", fieldPattern.MatchString, errField)
}

func errField(param string) error {
	const rule = " must be a field of the provider, such as messages: small letters and _."
	return rest.FailAt(rest.InvalidEventType, param, param+rule)
}

// checkNames checks what a subscription listens to, if it is given; * means all.
func checkNames(names []string, what string, isName func(string) bool, refuse func(param string) error) error {
	if names != nil && len(names) == 0 {
		return rest.Invalid("events", "must name at least one "+what+", or *")
	}
	if err := rest.AtMost("events", names, maxEvents); err != nil {
		return err
	}
	for i, name := range names {
		if name != event.AllTypes && !isName(name) {
			return refuse(rest.ItemPath("events", i))
		}
	}
	return nil
}

// checkDelivered checks the type of deliveries, if there is one: an event of ours or, where the
// organization has native webhooks, a field of the provider.
func (s *Server) checkDelivered(r *rest.Request, name *string) error {
	if name == nil || event.IsType(*name) || !fieldPattern.MatchString(*name) {
		return CheckEventType("event_type", name)
	}

	isNative, err := rest.Query(s.Server, r, func(rx *storage.Rx) (bool, error) { return rx.HasNativeSubscription(r.Org.ID) })
	if err == nil && !isNative {
		err = errEventType("event_type")
	}
	return err
}

// checkGivenSecret checks a secret that a client brings along.
func checkGivenSecret(format string, secret *string) error {
	switch {
	case secret == nil:
		return nil
	case format != storage.FormatProvider:
		return rest.Invalid("secret", "can only be given with format provider")
	case !secretPattern.MatchString(*secret):
		return rest.Invalid("secret", "must have 16 to 128 printable ASCII characters")
	}
	return nil
}

// checkNative checks what only one of the formats has.
func (n *newSubscription) checkNative() error {
	format := n.format()
	err := cmp.Or(rest.OneOf("format", &format, storage.FormatSvc, storage.FormatProvider), checkGivenSecret(format, n.Secret))
	if err != nil {
		return err
	}
	if format == storage.FormatProvider {
		return cmp.Or(checkFields(n.Events), rest.Required("verify_token", n.VerifyToken, maxVerifyToken))
	}
	if n.VerifyToken != nil {
		return errVerifyToken()
	}
	return checkEvents(n.Events)
}

func (n *newSubscription) format() string { return *cmp.Or(n.Format, new(storage.FormatSvc)) }

func errVerifyToken() error {
	return rest.Invalid("verify_token", "can only be given with format provider")
}

// checkFor checks changes against the subscription that they are of.
func (c *subscriptionChanges) checkFor(s storage.Subscription) error {
	switch {
	case c.Format.Set && c.Format.Value != s.Format:
		return rest.Invalid("format", "cannot be changed")
	case s.Format == storage.FormatProvider:
		return checkFields(c.Events.Value)
	case c.VerifyToken.Set:
		return errVerifyToken()
	}
	return checkEvents(c.Events.Value)
}

// verifyEndpoint asks an endpoint to prove, by the provider's handshake, that it wants what it
// will get.
func (s *Server) verifyEndpoint(ctx context.Context, to, token string) error {
	n, err := rand.Int(rand.Reader, big.NewInt(challengeDigits))
	if err != nil {
		return err
	}
	challenge := n.String()

	at, err := url.Parse(to)
	if err != nil {
		return errWebhookURL("cannot be read")
	}
	query := at.Query()
	query.Set("hub.mode", "subscribe")
	query.Set("hub.challenge", challenge)
	query.Set("hub.verify_token", token)
	at.RawQuery = query.Encode()

	ctx, cancel := context.WithTimeout(ctx, verifyTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return errWebhookURL("cannot be read")
	}
	request.Header.Set("User-Agent", "Svc-Webhook/1.0")

	answer, err := s.Fetch.Transport().RoundTrip(request)
	if err != nil {
		return errNotVerified("did not answer")
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, int64(len(challenge))+1))
	switch {
	case answer.StatusCode != http.StatusOK:
		return errNotVerified("did not answer with 200")
	case err != nil || string(body) != challenge:
		return errNotVerified("did not answer with the challenge")
	}
	return nil
}

func errNotVerified(why string) error {
	return rest.FailAt(rest.WebhookNotVerified, "url", "The endpoint "+why+". It must answer the provider's verification request, "+
		"a GET with hub.mode, hub.challenge and hub.verify_token.")
}

// nativeSample is an envelope of a field, for trying out an endpoint.
func nativeSample(field string) []byte {
	const messages = `{"messaging_product":"whatsapp",` +
		`"metadata":{"display_phone_number":"15550009999","phone_number_id":"106540352242922"},` +
		`"contacts":[{"profile":{"name":"Ana"},"wa_id":"15550001111"}],` +
		`"messages":[{"from":"15550001111","id":"wamid.sample","timestamp":"1767323045","type":"text","text":{"body":"hi"}}]}`
	value := `{}`
	if field == "messages" {
		value = messages
	}
	return []byte(`{"object":"whatsapp_business_account","entry":[{"id":"102290129340398",` +
		`"changes":[{"value":` + value + `,"field":"` + field + `"}]}]}`)
}

// testNative sends a sample to a native webhook.
func (s *Server) testNative(tx *storage.Tx, sub storage.Subscription, in testRequest) (rest.Reply, error) {
	field := in.eventType(sub, "messages")
	if !fieldPattern.MatchString(field) {
		return rest.Reply{}, errField("event_type")
	}

	id := tx.NewID(storage.PrefixEvent)
	d, err := tx.InsertEventFor(storage.Event{
		ID: id, EventID: id, OrganizationID: sub.OrganizationID, Type: field, Source: "provider", Payload: nativeSample(field),
		IsEnvelope: true,
	}, sub.ID)
	return rest.Accepted(ViewDelivery(d)), err
}
