// Package callback receives the provider's callbacks, at /provider/webhook:
// messages from people, delivery statuses, and changes of contacts, templates
// and accounts.
//
// A callback is checked, committed, and only then acknowledged, because the
// provider repeats what was not acknowledged, for up to a week, and never what
// was. It goes through three steps.
//
//   - Split (apply.go): a callback holds changes, a change of a number holds
//     items. Each prepare… method reads one kind outside the transaction and
//     returns a piece for each item: the item, and the step that writes it.
//   - Commit: the steps run in transactions of up to 50, or of 1,000 where native webhooks
//     get them. If a transaction fails for good, its steps are run one by one, so that one bad
//     item does not stop the others.
//   - Acknowledge, when everything is committed.
//
// A callback we cannot read, do not handle, or cannot apply is kept as it came, in the
// table of raw callbacks with a reason, and acknowledged. Only a callback about an
// account that was removed here is dropped.
//
// The same callback may come twice, and callbacks may come in any order. Every
// step therefore looks first whether it has been done: messages are unique by
// the provider's id, contacts are compared with the stored ones. A status or an
// edit that arrives before its message is parked, and applied with the message.
package callback

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"confab/app/limit"
	"confab/jobs"
	"confab/jobs/messaging"
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
	Publisher   messaging.Publisher
	// Gateway says that clients of the gateway may ask for files that callbacks bring, and Answers
	// who of them waits for a message; nil for nobody.
	Gateway bool
	Answers *jobs.Answers
	// OnKept, if set, is called for each item that was only kept, after the
	// commit.
	OnKept func(field, reason string)
	// WriteError answers a request that failed, in the form that all errors have.
	WriteError func(http.ResponseWriter, *http.Request, error)
}

// Why a callback is refused. Errors of storage and limit.ErrExhausted are passed on
// as they are.
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

// ServeHTTP answers the provider's verification request, or receives a callback.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error

	switch r.Method {
	case http.MethodGet, http.MethodHead:
		err = s.verifySubscription(w, r)
	case http.MethodPost:
		err = s.handleCallback(w, r)
	default:
		err = ErrMethod
	}

	if err != nil {
		s.WriteError(w, r, err)
	}
}

// isConfigured reports whether the secrets are set. Without them no caller can
// prove to be the provider, and everything is refused.
func (s *Server) isConfigured() bool { return s.AppSecret != "" && s.VerifyToken != "" }

// verifySubscription answers the request by which the provider checks that the
// owner of this endpoint wants its callbacks: the challenge is sent back.
func (s *Server) verifySubscription(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	token := []byte(query.Get("hub.verify_token"))

	if !s.isConfigured() || query.Get("hub.mode") != "subscribe" ||
		subtle.ConstantTimeCompare(token, []byte(s.VerifyToken)) == 0 {
		return ErrUnauthorized
	}

	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff") // the challenge is not trusted: it may look like HTML
	_, _ = io.WriteString(w, query.Get("hub.challenge"))
	return nil
}

// handleCallback checks a callback's signature, commits it, and acknowledges it.
//
// Most strangers are refused by the form of the signature, before their body is
// read. For the others there is no way but to read it first.
func (s *Server) handleCallback(w http.ResponseWriter, r *http.Request) error {
	signature, ok := parseSignature(r.Header.Get("X-Hub-Signature-256"))
	if !ok || !s.isConfigured() {
		return ErrUnauthorized
	}

	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	if !isSigned(body, signature, s.AppSecret) {
		return ErrUnauthorized
	}

	limit.RequestOf(r.Context()).Identify(limit.Holder{Known: true, Group: "provider"})
	if err := s.apply(r.Context(), body); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// readBody reads a callback into memory.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, ErrTooLarge
	}

	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil || errors.Is(err, limit.ErrExhausted) {
		return body, err
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, ErrTooLarge
	}
	return nil, ErrUnreadable
}

// parseSignature reads the header sha256=<hex>. The result is false if it has any
// other form.
func parseSignature(header string) (signature []byte, ok bool) {
	digits, ok := strings.CutPrefix(header, "sha256=")
	if !ok || len(digits) != hex.EncodedLen(sha256.Size) {
		return nil, false
	}

	signature, err := hex.DecodeString(digits)
	return signature, err == nil
}

// isSigned checks a signature, an HMAC over the exact bytes of the body.
func isSigned(body, signature []byte, secret string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hmac.Equal(signature, mac.Sum(nil))
}
