package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"sync"

	"confab/storage"
)

// idempotency is a request's Idempotency-Key and what it stands for.
type idempotency struct {
	key         string
	fingerprint [sha256.Size]byte
	saved       bool
}

// inFlightRequests are the requests with a key that are being worked on. They live in
// memory only, so a crash leaves none behind.
type inFlightRequests struct {
	mu  sync.Mutex
	all map[inFlightKey][sha256.Size]byte
}

type inFlightKey struct {
	organization int64
	key          string
}

func newInFlightRequests() *inFlightRequests {
	return &inFlightRequests{all: make(map[inFlightKey][sha256.Size]byte)}
}

// begin enters a request, unless one with its key is in the air: then it
// returns that one's fingerprint and false.
func (f *inFlightRequests) begin(id inFlightKey, fingerprint [sha256.Size]byte) ([sha256.Size]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if other, busy := f.all[id]; busy {
		return other, false
	}
	f.all[id] = fingerprint
	return fingerprint, true
}

func (f *inFlightRequests) end(id inFlightKey) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, id)
}

// handleOnce runs the handler, or repeats the answer that the request's
// Idempotency-Key had before.
func (s *Server) handleOnce(r *request) (reply, error) {
	keys := r.http.Header.Values("Idempotency-Key")
	if r.http.Method != http.MethodPost || len(keys) == 0 {
		return s.handle(r)
	}

	if len(keys) > 1 || !isIdempotencyKey(keys[0]) {
		return reply{}, invalid("Idempotency-Key", "must be given once and have 1 to 255 printable ASCII characters")
	}

	r.idempotency = &idempotency{key: keys[0], fingerprint: fingerprint(r)}
	id := inFlightKey{r.org.ID, keys[0]}
	if other, free := s.inFlight.begin(id, r.idempotency.fingerprint); !free {
		if other != r.idempotency.fingerprint {
			return reply{}, errKeyReuse()
		}
		return reply{}, fail(IdempotencyInProgress, "A request with this Idempotency-Key is still being processed.")
	}

	defer s.inFlight.end(id)
	if earlier, err := s.savedAnswer(r); err != nil || earlier.body != nil {
		return earlier, err
	}

	rep, err := s.handle(r)
	if err == nil && !r.idempotency.saved {
		err = s.DB.Update(r.http.Context(), func(tx *storage.Tx) error { return s.saveAnswer(tx, r, &rep) })
	}
	return rep, err
}

// handle runs the handler and renders its reply.
func (s *Server) handle(r *request) (reply, error) {
	rep, err := r.route.handle(r)
	if err != nil {
		return reply{}, err
	}
	err = rep.render(r.id)
	return rep, err
}

// savedAnswer finds the answer that the key had before, if it had one.
func (s *Server) savedAnswer(r *request) (reply, error) {
	var a storage.Answer
	err := s.view(r, func(rx *storage.Rx) (err error) {
		a, err = rx.Answer(r.org.ID, r.idempotency.key)
		return err
	})

	switch {
	case errors.Is(err, storage.ErrNotFound):
		return reply{}, nil
	case err != nil:
		return reply{}, err
	case subtle.ConstantTimeCompare(a.Fingerprint, r.idempotency.fingerprint[:]) == 0:
		return reply{}, errKeyReuse()
	}

	return reply{status: a.Status, body: a.Body, replayed: true, requestID: a.RequestID}, nil
}

// saveAnswer stores the answer in the transaction that it answers.
func (s *Server) saveAnswer(tx *storage.Tx, r *request, rep *reply) error {
	if r.idempotency == nil || rep.status/100 != 2 {
		return nil
	}

	if err := rep.render(r.id); err != nil { // others are rendered off the writer
		return err
	}

	r.idempotency.saved = true
	a := storage.Answer{
		Fingerprint: r.idempotency.fingerprint[:],
		Status:      rep.status,
		RequestID:   r.id,
		Body:        rep.body,
		Sealed:      rep.secret,
	}

	if r.account.ID != 0 {
		a.AccountID = &r.account.ID
	}

	return tx.SaveAnswer(r.org.ID, r.idempotency.key, a)
}

func errKeyReuse() *Error {
	return fail(IdempotencyKeyReuse, "This Idempotency-Key was used for another request.")
}

// fingerprint is what makes two requests the same: method, path with query, raw body.
func fingerprint(r *request) [sha256.Size]byte {
	h := sha256.New()
	io.WriteString(h, r.http.Method+"\x00"+r.http.URL.RequestURI()+"\x00")
	h.Write(r.raw)
	return [sha256.Size]byte(h.Sum(nil))
}

func isIdempotencyKey(key string) bool {
	for _, c := range []byte(key) {
		if c < 0x20 || c > 0x7e {
			return false
		}
	}
	return 1 <= len(key) && len(key) <= 255
}
