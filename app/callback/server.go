// Package callback is what the provider tells us, at /provider/webhook.
//
// A callback is checked, committed, and only then acknowledged, because the
// provider repeats what was not acknowledged and forgets what was.
package callback

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"confab/jobs"
	"confab/jobs/provider"
	"confab/storage"
)

// maxBody is the largest callback; the provider's own limit is 3 MB.
const maxBody = 4 << 20

// Options configure a Server.
type Options struct {
	DB          *storage.DB
	AppSecret   string
	VerifyToken string
	Log         *slog.Logger
	Host        jobs.Host
	// Refuse answers what is not taken, in the form that all errors have.
	Refuse func(http.ResponseWriter, *http.Request, error)
}

// Why a callback is not taken. Faults of storage are passed on as they are.
var (
	ErrUnauthorized = errors.New("the callback is not signed by the provider")
	ErrMethod       = errors.New("callbacks are posted")
	ErrTooLarge     = errors.New("the callback has more than 4 MiB")
	ErrUnreadable   = errors.New("the callback could not be read")
)

// Server answers the provider.
type Server struct{ Options }

// New makes a server.
func New(o Options) *Server { return &Server{o} }

// ServeHTTP answers a handshake or takes a callback.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	switch r.Method {
	case http.MethodGet:
		err = s.shakeHands(w, r)
	case http.MethodPost:
		err = s.take(w, r)
	default:
		err = ErrMethod
	}
	if err != nil {
		s.Refuse(w, r, err)
	}
}

// configured tells whether anybody can prove to be the provider.
func (s *Server) configured() bool { return s.AppSecret != "" && s.VerifyToken != "" }

// shakeHands proves to the provider that this endpoint is ours.
func (s *Server) shakeHands(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	token := []byte(query.Get("hub.verify_token"))
	if !s.configured() || query.Get("hub.mode") != "subscribe" || subtle.ConstantTimeCompare(token, []byte(s.VerifyToken)) == 0 {
		return ErrUnauthorized
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff") // the challenge is a stranger's text
	_, err := io.WriteString(w, query.Get("hub.challenge"))
	return err
}

// take checks a callback's signature, commits it, and acknowledges.
func (s *Server) take(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return ErrTooLarge
		}
		return ErrUnreadable
	}
	if !s.configured() || !signed(body, r.Header.Get("X-Hub-Signature-256"), s.AppSecret) {
		return ErrUnauthorized
	}
	if err := s.apply(r.Context(), body); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// signed checks sha256=<hex> over the exact bytes.
func signed(body []byte, header, secret string) bool {
	given, err := hex.DecodeString(strings.TrimPrefix(header, "sha256="))
	if err != nil || !strings.HasPrefix(header, "sha256=") {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hmac.Equal(given, mac.Sum(nil))
}

// step writes one piece of a callback. It is prepared before the transaction,
// which should be short.
type step func(*storage.Tx) error

// stepsAtOnce bounds the pieces of one transaction.
const stepsAtOnce = 50

// apply takes a callback piece by piece, in several transactions if it is large.
// Should one fail, the provider sends all of it again, and what was taken is
// known by then.
func (s *Server) apply(ctx context.Context, body []byte) error {
	for steps := range slices.Chunk(s.steps(body), stepsAtOnce) {
		err := s.DB.Update(ctx, func(tx *storage.Tx) error {
			for _, take := range steps {
				if err := take(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// steps reads a callback. What cannot be read is kept as it came, and does not
// hold up the rest.
func (s *Server) steps(body []byte) (all []step) {
	callback, err := provider.ParseCallback(body)
	around, unframed := frames(body)
	var changes []news
	for _, entry := range callback.Entries {
		for _, change := range entry.Changes {
			changes = append(changes, news{Change: change, waba: string(entry.ID), at: entry.Time})
		}
	}
	if err != nil || unframed != nil || len(around) != len(changes) {
		return []step{func(tx *storage.Tx) error {
			return tx.InsertRawCallback(storage.RawCallback{Reason: "unreadable", Payload: body})
		}}
	}
	for i, n := range changes {
		n.around = around[i]
		all = append(all, s.takeChange(n)...)
	}
	return all
}

// news is one change of a callback, with what its entry says about all of them.
type news struct {
	provider.Change
	waba   string       // the business account it is about
	at     provider.Int // when it happened, in seconds, or 0
	around frame
}

// takeChange names who takes each kind of change.
func (s *Server) takeChange(n news) []step {
	switch n.Field {
	case "messages":
		return s.takeMessages(n)
	case "message_template_status_update", "message_template_quality_update", "message_template_components_update", "template_category_update":
		return s.takeTemplate(n)
	case "account_update", "account_review_update", "account_alerts", "business_capability_update", "phone_number_quality_update", "phone_number_name_update", "security":
		return s.takeAccount(n)
	default:
		return keeping(n, "not handled")
	}
}

// takeMessages applies what people wrote and what became of what we wrote.
func (s *Server) takeMessages(n news) (all []step) {
	value, err := provider.Read[provider.Value](n.Value)
	if err == nil && len(value.Statuses) > 0 {
		around, err := n.around.around(n.Change, value)
		if err == nil {
			for _, raw := range value.Statuses {
				all = append(all, s.takeStatus(around, string(value.Metadata.PhoneNumberID), raw))
			}
			if len(value.Messages) > 0 || len(value.Errors) > 0 {
				all = append(all, keeping(n, "not handled")...)
			}
			return all
		}
	}
	return keeping(n, "not handled")
}

// keeping is the step that stores a change as it came.
func keeping(n news, reason string) []step {
	return []step{func(tx *storage.Tx) error { return keepRaw(tx, n.Change, reason) }}
}

// keepRaw stores a change as it came, for somebody to look at.
func keepRaw(tx *storage.Tx, change provider.Change, reason string) error {
	raw := storage.RawCallback{Field: change.Field, Reason: reason, Payload: change.Value}
	if raw.Payload == nil {
		raw.Payload = []byte("null")
	}
	return tx.InsertRawCallback(raw)
}
