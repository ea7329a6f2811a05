// Package callback is what the provider tells us, at /provider/webhook.
//
// A callback is checked, committed, and only then acknowledged, because the
// provider repeats what was not acknowledged and forgets what was.
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

	"confab/jobs"
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
	// OnKept is told of each change that was only kept, once that is durable.
	OnKept func(field, reason string)
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
		err = s.verifySubscription(w, r)
	case http.MethodPost:
		err = s.handleCallback(w, r)
	default:
		err = ErrMethod
	}
	if err != nil {
		s.Refuse(w, r, err)
	}
}

// isConfigured tells whether anybody can prove to be the provider.
func (s *Server) isConfigured() bool { return s.AppSecret != "" && s.VerifyToken != "" }

// verifySubscription proves to the provider that this endpoint is ours.
func (s *Server) verifySubscription(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	token := []byte(query.Get("hub.verify_token"))
	if !s.isConfigured() || query.Get("hub.mode") != "subscribe" || subtle.ConstantTimeCompare(token, []byte(s.VerifyToken)) == 0 {
		return ErrUnauthorized
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff") // the challenge is a stranger's text
	_, err := io.WriteString(w, query.Get("hub.challenge"))
	return err
}

// take checks a callback's signature, commits it, and acknowledges.
func (s *Server) handleCallback(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return ErrTooLarge
		}
		return ErrUnreadable
	}
	if !s.isConfigured() || !validSignature(body, r.Header.Get("X-Hub-Signature-256"), s.AppSecret) {
		return ErrUnauthorized
	}
	if err := s.apply(r.Context(), body); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// validSignature checks sha256=<hex> over the exact bytes.
func validSignature(body []byte, header, secret string) bool {
	given, err := hex.DecodeString(strings.TrimPrefix(header, "sha256="))
	if err != nil || !strings.HasPrefix(header, "sha256=") {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hmac.Equal(given, mac.Sum(nil))
}
