package simulator

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"time"
)

const (
	callbackAgent = "facebookexternalua"
	maxPayload    = 3 << 20 // the provider posts no more at a time
)

// post delivers a batch of changes; any answer but 200 is a failure.
func (s *Server) post(target, account string, batch []*change) error {
	body := envelope(account, batch)
	if len(body) > maxPayload && len(batch) > 1 {
		// If one half fails, both are posted again; receivers must expect duplicates anyway.
		half := len(batch) / 2
		return errors.Join(s.post(target, account, batch[:half]), s.post(target, account, batch[half:]))
	}

	status, err := s.deliver(s.ctx, target, body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the receiver answered %d", status)
	}
	s.notifyCallback(batch[0].Field, len(batch), status, err)
	return err
}

type payload struct {
	Object string  `json:"object"`
	Entry  []entry `json:"entry"`
}

type entry struct {
	ID      string        `json:"id"`
	Time    int64         `json:"time,omitempty"`
	Changes []entryChange `json:"changes"`
}

type entryChange struct {
	Value json.RawMessage `json:"value"`
	Field string          `json:"field"`
}

// envelope joins changes of one account into the bytes that are posted. Those
// about messages share an entry; the others come with the time of each.
func envelope(account string, batch []*change) []byte {
	var entries []entry
	for _, c := range batch {
		// Changes without a time share one entry; each of the others has its own.
		last := len(entries) - 1
		if last < 0 || c.Time != 0 || entries[last].Time != 0 {
			entries = append(entries, entry{ID: account, Time: c.Time})
			last++
		}
		entries[last].Changes = append(entries[last].Changes, entryChange{c.Value, c.Field})
	}

	body := marshal(payload{"whatsapp_business_account", entries})
	return appendASCII(make([]byte, 0, len(body)+len(body)/8), body)
}

func (s *Server) deliver(ctx context.Context, target string, body []byte) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}

	began := time.Now()
	defer func() {
		s.recordCall(callRecord{
			Direction: callGiven, Method: req.Method, Path: target, ContentType: "application/json", Request: shorten(body), Status: status,
		}, began, err)
	}()

	// The provider still sends the older SHA-1 signature as well.
	secret := []byte(s.Credentials().AppSecret)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", callbackAgent)
	s.opt.Mark(req)
	req.Header.Set("X-Hub-Signature-256", "sha256="+signature(sha256.New, secret, body))
	req.Header.Set("X-Hub-Signature", "sha1="+signature(sha1.New, secret, body))

	res, err := s.opt.CallbackClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()

	// Read a little, so that the connection can be used again.
	io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	return res.StatusCode, nil
}

func signature(algorithm func() hash.Hash, secret, body []byte) string {
	mac := hmac.New(algorithm, secret)
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// challenge asks a receiver whether it expects callbacks under a verify token.
func (s *Server) challenge(ctx context.Context, target, verifyToken string) error {
	u, err := url.Parse(target)
	if err != nil || !fetchable(target) {
		return challengeFailed("the callback URL is not an http or https URL")
	}

	// The receiver must answer with this number.
	number := randomDigits(10)
	q := u.Query()
	q.Set("hub.mode", "subscribe")
	q.Set("hub.challenge", number)
	q.Set("hub.verify_token", verifyToken)
	u.RawQuery = q.Encode()

	ctx, cancel := context.WithTimeout(ctx, callbackTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return challengeFailed(err.Error())
	}
	req.Header.Set("User-Agent", callbackAgent)
	s.opt.Mark(req)

	res, err := s.opt.CallbackClient.Do(req)
	if err != nil {
		return challengeFailed("the receiver could not be reached")
	}
	defer res.Body.Close()

	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	switch {
	case err != nil:
		return challengeFailed("the answer could not be read")
	case res.StatusCode != http.StatusOK:
		return challengeFailed(fmt.Sprintf("HTTP Status Code = %d; HTTP Message = %s", res.StatusCode, http.StatusText(res.StatusCode)))
	case string(bytes.TrimSpace(body)) != number:
		return challengeFailed("the answer is not the challenge")
	}
	return nil
}

func challengeFailed(reason string) *graphError {
	return badRequest(2200, 0, "(#2200) Callback verification failed with the following errors: "+reason)
}

// VerifyWebhook sends a challenge to the app's callback URL, as the
// provider does when one is configured.
func (s *Server) VerifyWebhook(ctx context.Context) error {
	s.mu.Lock()
	target, verifyToken := s.world.Hook.URL, s.world.Creds.VerifyToken
	s.mu.Unlock()
	return s.challenge(ctx, target, verifyToken)
}

// SetWebhook changes the app's callback URL without a challenge. Callbacks
// that wait for another try go to the new one.
func (s *Server) SetWebhook(target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.Hook.URL = target
	s.markDirty()
}

// controlCallback handles POST /_sim/callbacks: any payload, posted once and
// at once, in the provider's spelling and signed.
func (s *Server) controlCallback(c *controlCall) (any, error) {
	if len(c.in) == 0 {
		return nil, badBody(errNotObject)
	}

	s.mu.Lock()
	target := s.world.Hook.URL
	s.mu.Unlock()
	if target == "" {
		return nil, refused(http.StatusBadRequest, "The app has no callback URL.")
	}

	// It does not go through the outbox: there is no order and no second attempt.
	ctx, cancel := context.WithTimeout(c.r.Context(), callbackTimeout)
	defer cancel()
	status, err := s.deliver(ctx, target, appendASCII(nil, c.body))
	s.notifyCallback("custom", 1, status, err)
	if err != nil {
		return nil, refused(http.StatusBadRequest, "The callback could not be posted: "+err.Error())
	}
	return object{"status": status}, nil
}
