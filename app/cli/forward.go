package cli

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/spf13/cobra"

	"confab/jobs/guard"
	"confab/jobs/webhook"
	"confab/storage"
)

// forwarder posts events to a URL of the operator's, signed as webhooks are.
type forwarder struct {
	client webhook.Client
	url    *url.URL
	secret string
}

// forwarder makes one, if that is asked for, and says which secret it signs with.
func (o listenOptions) forwarder(cmd *cobra.Command, s *store) (*forwarder, error) {
	if o.forwardTo == nil {
		return nil, nil
	}

	secret, err := newSecretReader(cmd.InOrStdin()).read("secret", o.secret, webhookSecretVariable)
	if err != nil {
		return nil, err
	}

	if secret == "" {
		random := make([]byte, 32)
		rand.Read(random)
		secret = storage.SecretPrefix + base64.StdEncoding.EncodeToString(random)
		fmt.Fprintln(cmd.ErrOrStderr(), "Signing secret:", secret)
	}

	// Whoever types the URL may reach all that this machine reaches.
	everywhere := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	open := guard.New(guard.Options{AllowInsecure: true, Allow: everywhere, Timeout: s.config.Webhooks.Timeout})
	return &forwarder{client: webhook.Client{Transport: guardedTransport{open}, Timeout: s.config.Webhooks.Timeout}, url: o.forwardTo, secret: secret}, nil
}

// forwardView is what came of posting an event on.
type forwardView struct {
	Status     *int    `json:"response_status"`
	ErrorCode  *string `json:"error_code"`
	Message    *string `json:"error_message"`
	DurationMS int64   `json:"duration_ms"`
}

func (v forwardView) String() string {
	if v.Status == nil {
		return optionalText(v.Message)
	}
	return fmt.Sprintf("%d %s (%dms)", *v.Status, http.StatusText(*v.Status), v.DurationMS)
}

// post sends an event once. Without a forwarder it does nothing.
func (f *forwarder) post(ctx context.Context, s *store, h storage.Happening) *forwardView {
	if f == nil {
		return nil
	}
	id := s.NewID(storage.PrefixDelivery)
	if h.DeliveryID != nil {
		id = *h.DeliveryID
	}

	out := f.client.Deliver(ctx, webhook.Delivery{
		ID: id, Attempt: 1, Event: h.ID, EventID: h.EventID, Type: h.Type, Source: h.Source, Body: h.Payload, URL: f.url, Secrets: []string{f.secret},
	})

	v := &forwardView{DurationMS: out.Took.Milliseconds()}
	if out.Status != 0 {
		v.Status = &out.Status
	}
	if !out.Succeeded() {
		v.ErrorCode, v.Message = &out.Code, &out.Message
	}
	return v
}
