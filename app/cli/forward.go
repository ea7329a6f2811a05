package cli

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"confab/jobs/guard"
	"confab/jobs/webhook"
	"confab/storage"
)

// forwarder posts events to a URL, signed as webhooks are. A nil one does
// nothing.
type forwarder struct {
	client webhook.Client
	url    *url.URL
	secret string
}

// forwarder makes one if --forward-to is given. A secret that it had to generate
// is printed.
func (o listenOptions) forwarder(cmd *cobra.Command, secrets *secretReader, timeout time.Duration) (*forwarder, error) {
	if o.forwardTo == nil {
		return nil, nil
	}

	secret, err := secrets.read("secret", o.secret, webhookSecretVariable)
	if err != nil {
		return nil, err
	}

	if secret == "" {
		random := make([]byte, 32)
		rand.Read(random)
		secret = storage.SecretPrefix + base64.StdEncoding.EncodeToString(random)
		fmt.Fprintln(cmd.ErrOrStderr(), "Signing secret:", secret)
	}

	// Unlike the URL of a subscription, this one is typed by an operator, who may
	// call every address that this machine can reach.
	everywhere := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	transport := guardedTransport{guard.New(guard.Options{AllowInsecure: true, Allow: everywhere, Timeout: timeout})}
	return &forwarder{
		client: webhook.Client{Transport: transport, Timeout: timeout},
		url:    o.forwardTo,
		secret: secret,
	}, nil
}

// forwardView is the result of forwarding an event.
type forwardView struct {
	Status     *int    `json:"response_status"`
	ErrorCode  *string `json:"error_code"`
	Message    *string `json:"error_message"`
	DurationMS int64   `json:"duration_ms"`
}

func (v forwardView) String() string {
	if v.Status == nil {
		return storage.OrEmpty(v.Message)
	}
	return fmt.Sprintf("%d %s (%dms)", *v.Status, http.StatusText(*v.Status), v.DurationMS)
}

// post sends an event once. Where it has a delivery, that one's id is used, so
// that both carry the same headers.
func (f *forwarder) post(ctx context.Context, h sentItem) *forwardView {
	if f == nil {
		return nil
	}
	id := storage.PrefixDelivery + ulid.Make().String()
	if h.DeliveryID != nil {
		id = *h.DeliveryID
	}

	out := f.client.Deliver(ctx, webhook.Delivery{
		ID:      id,
		Attempt: 1,
		Event:   h.ID,
		EventID: h.EventID,
		Type:    h.Type,
		Source:  h.Source,
		Body:    h.Payload,
		URL:     f.url,
		Secrets: []string{f.secret},
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
