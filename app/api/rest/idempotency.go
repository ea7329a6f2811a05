package rest

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"strings"

	"confab/storage"
)

// idempotency is a request's Idempotency-Key and the fingerprint of what it asks for.
//
// Of several requests with the same key only the first runs. While it runs, its key is
// in Server.inFlight, in memory: another request with the key gets 409, or 422 if its
// fingerprint differs. When it succeeds, update stores its answer in the same
// transaction as its effects, so after a crash there are either both or none. A later
// request with the key gets the stored answer, or 422 if its fingerprint differs. A
// failed request stores nothing and may be repeated with the key.
//
// Keys are the organization's. But an API key that is bound to numbers must not learn what is
// asked for elsewhere: an Idempotency-Key that was used there is free for it, and is kept
// apart, under the number.
type idempotency struct {
	key         string
	fingerprint [sha256.Size]byte
	saved       bool
}

// inFlightKey is the key of a request that is running now.
type inFlightKey struct {
	Organization int64
	Key          string
}

type inFlightRequest struct {
	fingerprint [sha256.Size]byte
	account     int64 // of the number in its path; 0 for the organization's own
}

// handleOnce runs the handler, or returns the stored answer of an earlier request with
// the same Idempotency-Key.
func (s *Server) handleOnce(r *Request) (Reply, error) {
	keys := r.HTTP.Header.Values("Idempotency-Key")
	if r.HTTP.Method != http.MethodPost || len(keys) == 0 {
		return s.handle(r)
	}

	if len(keys) > 1 || !isIdempotencyKey(keys[0]) {
		return Reply{}, Invalid("Idempotency-Key", "must be given once, with 1 to 255 printable ASCII characters")
	}

	r.Idempotency = &idempotency{key: keys[0], fingerprint: fingerprintOf(r)}
	rep, err := s.handleKeyed(r)
	if errors.Is(err, errKeyElsewhere) {
		r.Idempotency.key += "\t" + r.Account.PhoneNumberID // a tab is in no key
		rep, err = s.handleKeyed(r)
	}
	return rep, err
}

// handleKeyed is handleOnce for a request with a key. errKeyElsewhere means that the key was
// used for another number, of which the caller must not know.
func (s *Server) handleKeyed(r *Request) (Reply, error) {
	id := inFlightKey{r.Org.ID, r.Idempotency.key}
	if busy, isBusy := s.inFlight.LoadOrStore(id, inFlightRequest{r.Idempotency.fingerprint, r.Account.ID}); isBusy {
		other := busy.(inFlightRequest)
		if other.fingerprint != r.Idempotency.fingerprint {
			return Reply{}, errKeyReuse(r, &other.account)
		}
		return Reply{}, Fail(IdempotencyInProgress, "A request with this Idempotency-Key is still being processed.")
	}
	defer s.inFlight.Delete(id)

	// Only now, with the key taken: an earlier request may have ended just before.
	if earlier, err := s.savedAnswer(r); err != nil || earlier.Body != nil {
		return earlier, err
	}

	// A handler that writes has saved its answer in its own transaction.
	rep, err := s.handle(r)
	if err == nil && !r.Idempotency.saved {
		err = s.DB.Update(r.HTTP.Context(), func(tx *storage.Tx) error { return s.SaveAnswer(tx, r, &rep) })
	}
	return rep, err
}

// handle runs the handler and renders its reply, unless the client has it already.
func (s *Server) handle(r *Request) (Reply, error) {
	rep, err := r.route.Handle(r)
	switch {
	case err != nil:
		return Reply{}, err
	case rep.IsKnown(r.HTTP):
		return rep, nil
	}

	err = rep.Render(r.ID)
	return rep, err
}

// savedAnswer is the stored answer of an earlier request with the key. Without one the
// reply has no body.
func (s *Server) savedAnswer(r *Request) (Reply, error) {
	a, err := Query(s, r, func(rx *storage.Rx) (storage.IdempotentReply, error) {
		return rx.IdempotentReply(r.Org.ID, r.Idempotency.key)
	})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return Reply{}, nil
	case err != nil:
		return Reply{}, err
	case subtle.ConstantTimeCompare(a.Fingerprint, r.Idempotency.fingerprint[:]) == 0:
		return Reply{}, errKeyReuse(r, a.AccountID)
	}

	return Reply{Status: a.Status, Body: a.Body, replayed: true, requestID: a.RequestID}, nil
}

// SaveAnswer stores the answer of a request that has a key. The answer is only stored
// if it is a success.
func (s *Server) SaveAnswer(tx *storage.Tx, r *Request, rep *Reply) error {
	if r.Idempotency == nil || rep.Status/100 != 2 {
		return nil
	}

	// Only an answer that is stored is rendered inside of the transaction.
	if err := rep.Render(r.ID); err != nil {
		return err
	}

	r.Idempotency.saved = true
	a := storage.IdempotentReply{
		Fingerprint: r.Idempotency.fingerprint[:],
		Status:      rep.Status,
		RequestID:   r.ID,
		Body:        rep.Body,
		Sealed:      rep.Secret,
	}
	if r.Account.ID != 0 {
		a.AccountID = &r.Account.ID
	}
	return tx.SaveIdempotentReply(r.Org.ID, r.Idempotency.key, a)
}

// errKeyElsewhere means that an Idempotency-Key was used for another number.
var errKeyElsewhere = errors.New("the key was used for another number")

// errKeyReuse is the error of a request whose key was used for another one, of an account.
func errKeyReuse(r *Request, account *int64) error {
	if r.Key.Accounts.Bound() && (account == nil || *account != r.Account.ID) {
		return errKeyElsewhere
	}
	return Fail(IdempotencyKeyReuse, "This Idempotency-Key was already used for a different request.")
}

// fingerprintOf identifies what a request asks for: method, path with query, raw body. In the
// console the person, too: answers there show what is for nobody else.
func fingerprintOf(r *Request) [sha256.Size]byte {
	h := sha256.New()
	io.WriteString(h, r.HTTP.Method+"\x00"+r.HTTP.URL.RequestURI()+"\x00")
	if r.User != nil {
		io.WriteString(h, r.User.ID+"\x00")
	}
	h.Write(r.Raw)
	return [sha256.Size]byte(h.Sum(nil))
}

func isIdempotencyKey(key string) bool {
	isUnprintable := func(c rune) bool { return c < ' ' || c > '~' }
	return 1 <= len(key) && len(key) <= 255 && !strings.ContainsFunc(key, isUnprintable)
}
