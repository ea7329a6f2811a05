// Package push sends web push messages: through the push service of a browser (RFC 8030),
// encrypted so that only that browser can read them (RFC 8291), and signed with the server's key
// (VAPID, RFC 8292).
package push

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"confab/jobs/guard"
	"confab/jobs/timeout"
	"confab/storage"
)

const (
	// life is how long a push service keeps a message for a device that is off.
	life = 24 * time.Hour
	// answerLimit is how much of an answer is read, so that its connection can be used again.
	answerLimit = 4 << 10
	// maxRetryAfter bounds how long a push service can make us wait.
	maxRetryAfter = 10 * time.Minute

	authSize = 16
)

// ErrGone means that the browser takes no more messages under this subscription.
var ErrGone = errors.New("the push service does not know the device any more")

// Refused is an answer of a push service, other than success and ErrGone.
type Refused struct {
	Status     int
	RetryAfter time.Duration // 0 if it says nothing
}

func (e *Refused) Error() string { return fmt.Sprintf("the push service answered %d", e.Status) }

// IsTransient reports whether the same message may be taken later.
func IsTransient(err error) bool {
	if e, ok := errors.AsType[*Refused](err); ok {
		return e.Status == http.StatusTooManyRequests || e.Status >= 500
	}
	return err != nil && !errors.Is(err, ErrGone) && guard.Reason(err) != guard.AddressBlocked
}

// Sender sends push messages.
type Sender struct {
	// Client reaches push services: a guard.Client, because browsers name them, and so strangers do.
	Client webpush.HTTPClient
	// PublicURL is where the server is reached, which its messages say to push services.
	PublicURL string
}

// Send encrypts a message for a subscription and gives it to its push service. Of messages with
// the same topic, a device that was off gets the last.
func (s Sender) Send(ctx context.Context, key string, to storage.PushSubscription, topic string, message []byte) error {
	public, err := PublicKey(key)
	if err != nil {
		return err
	}

	answer, err := webpush.SendNotificationWithContext(ctx, message,
		&webpush.Subscription{Endpoint: to.Endpoint, Keys: webpush.Keys{P256dh: to.P256DH, Auth: to.Auth}},
		&webpush.Options{
			HTTPClient:      s.Client,
			Subscriber:      "https:" + strings.TrimPrefix(strings.TrimPrefix(s.PublicURL, "http:"), "https:"),
			Topic:           topic,
			TTL:             int(life / time.Second),
			Urgency:         webpush.UrgencyHigh,
			VAPIDPublicKey:  public,
			VAPIDPrivateKey: key,
		})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, answerLimit)

	switch {
	case answer.StatusCode/100 == 2:
		return nil
	case answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusGone:
		return ErrGone
	}
	wait := timeout.RetryAfter(answer.Header.Get("Retry-After"), time.Now())
	return &Refused{answer.StatusCode, min(wait, maxRetryAfter)}
}

// NewKey makes a key that signs messages.
func NewKey() (string, error) {
	key, _, err := webpush.GenerateVAPIDKeys()
	return key, err
}

// PublicKey is the public part of a key, as browsers take it.
func PublicKey(key string) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil {
		return "", err
	}
	private, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(private.PublicKey().Bytes()), nil
}

// IsBrowserKey reports whether a text is the public key of a browser: a point of the curve P-256.
func IsBrowserKey(text string) bool {
	raw, err := decode(text)
	if err != nil {
		return false
	}
	_, err = ecdh.P256().NewPublicKey(raw)
	return err == nil
}

// IsAuthSecret reports whether a text is the secret that a browser shares with us.
func IsAuthSecret(text string) bool {
	raw, err := decode(text)
	return err == nil && len(raw) == authSize
}

// decode reads base64url as browsers write it, with or without padding.
func decode(text string) ([]byte, error) {
	return base64.RawURLEncoding.Strict().DecodeString(strings.TrimRight(text, "="))
}
