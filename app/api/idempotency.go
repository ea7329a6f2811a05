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

// idempotency is a request's Idempotency-Key and the fingerprint of what it asks for.
//
// Of several requests with the same key only the first runs. While it runs, its key is
// in inFlightRequests, in memory: another request with the key gets 409, or 422 if its
// fingerprint differs. When it succeeds, update stores its answer in the same
// transaction as its effects, so after a crash there are either both or none. A later
// request with the key gets the stored answer, or 422 if its fingerprint differs. A
// failed request stores nothing and may be repeated with the key.
type idempotency struct {
	key         string
	fingerprint [sha256.Size]byte
	saved       bool
}

// inFlightRequests are the requests with a key that are running now. They are only in
// memory, so a crash leaves none behind.
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

// begin adds a request, unless one with its key is running: then it returns the
// fingerprint of that one and false.
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

// handleOnce runs the handler, or returns the stored answer of an earlier request with
// the same Idempotency-Key.
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

	// Only now, with the key taken: an earlier request may have ended just before.
	if earlier, err := s.savedAnswer(r); err != nil || earlier.body != nil {
		return earlier, err
	}

	// A handler that writes has saved its answer in its own transaction.
	rep, err := s.handle(r)
	if err == nil && !r.idempotency.saved {
		err = s.DB.Update(r.http.Context(), func(tx *storage.Tx) error { return s.saveAnswer(tx, r, &rep) })
	}
	return rep, err
}

// handle runs the handler and renders its reply, unless the client has it already.
func (s *Server) handle(r *request) (reply, error) {
	rep, err := r.route.handle(r)
	switch {
	case err != nil:
		return reply{}, err
	case rep.isKnown(r.http):
		return rep, nil
	}

	err = rep.render(r.id)
	return rep, err
}

// savedAnswer is the stored answer of an earlier request with the key. Without one the
// reply has no body.
func (s *Server) savedAnswer(r *request) (reply, error) {
	var a storage.IdempotentReply
	err := s.view(r, func(rx *storage.Rx) (err error) {
		a, err = rx.IdempotentReply(r.org.ID, r.idempotency.key)
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

// saveAnswer stores the answer of a request that has a key. The answer is only stored
// if it is a success.
func (s *Server) saveAnswer(tx *storage.Tx, r *request, rep *reply) error {
	if r.idempotency == nil || rep.status/100 != 2 {
		return nil
	}

	// Only an answer that is stored is rendered inside of the transaction.
	if err := rep.render(r.id); err != nil {
		return err
	}

	r.idempotency.saved = true
	a := storage.IdempotentReply{
		Fingerprint: r.idempotency.fingerprint[:],
		Status:      rep.status,
		RequestID:   r.id,
		Body:        rep.body,
		Sealed:      rep.secret,
	}
	if r.account.ID != 0 {
		a.AccountID = &r.account.ID
	}
	return tx.SaveIdempotentReply(r.org.ID, r.idempotency.key, a)
}

func errKeyReuse() *Error {
	return fail(IdempotencyKeyReuse, "This Idempotency-Key was used for another request.")
}

// fingerprint identifies what a request asks for: method, path with query, raw body.
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
