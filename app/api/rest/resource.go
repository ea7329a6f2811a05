package rest

import (
	"confab/jobs/provider"
	"confab/storage"
)

// A finder finds the resource that a request's path names.
type finder[T any] func(*storage.Rx, *Request) (T, error)

// InPath finds a resource by its id in the path. An id of another form belongs to none.
func InPath[S, T any](r *Request, param, prefix string, scope S, read func(S, string) (T, error)) (found T, err error) {
	id := r.Param(param)
	if !storage.ValidID(prefix, id) {
		return found, NotFound()
	}
	return read(scope, id)
}

// OfOrganization makes the finder of what an organization has, by the id in the path.
func OfOrganization[T any](prefix string, read func(*storage.Rx, int64, string) (T, error)) finder[T] {
	return func(rx *storage.Rx, r *Request) (T, error) {
		return InPath(r, "id", prefix, r.Org.ID, func(of int64, id string) (T, error) { return read(rx, of, id) })
	}
}

// OfNumber is OfOrganization for what a number has.
func OfNumber[T any](prefix string, read func(*storage.Rx, int64, string) (T, error)) finder[T] {
	return func(rx *storage.Rx, r *Request) (T, error) {
		return InPath(r, "id", prefix, r.Account.ID, func(of int64, id string) (T, error) { return read(rx, of, id) })
	}
}

// Exists is a route's check that the resource in its path exists.
func Exists[T any](in finder[T]) func(*storage.Rx, *Request) error {
	return func(rx *storage.Rx, r *Request) error {
		_, err := in(rx, r)
		return err
	}
}

// Find finds the resource in the path, in a transaction of its own.
func Find[T any](s *Server, r *Request, in finder[T]) (T, error) {
	return Query(s, r, func(rx *storage.Rx) (T, error) { return in(rx, r) })
}

// Shows is the handler that replies with the resource in the path.
func Shows[T, V any](s *Server, in finder[T], view func(T) V) Handler {
	return func(r *Request) (Reply, error) {
		found, err := Find(s, r, in)
		return OK(view(found)), err
	}
}

// ShowsMore is Shows where the reply needs more than the row.
func ShowsMore[T any](s *Server, in finder[T], show func(*storage.Rx, T) (Reply, error)) Handler {
	return func(r *Request) (Reply, error) {
		return Query(s, r, func(rx *storage.Rx) (Reply, error) {
			found, err := in(rx, r)
			if err != nil {
				return Reply{}, err
			}
			return show(rx, found)
		})
	}
}

// UpdateFound is Update for what works on the resource in the path.
func UpdateFound[T any](s *Server, r *Request, in finder[T], fn func(*storage.Tx, T) (Reply, error)) (Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (Reply, error) {
		found, err := in(&tx.Rx, r)
		if err != nil {
			return Reply{}, err
		}
		return fn(tx, found)
	})
}

// Deletes is the handler that deletes the resource in the path, of a kind.
func Deletes[T any](s *Server, kind string, in finder[T], del func(tx *storage.Tx, organization int64, id string) error) Handler {
	return func(r *Request) (Reply, error) {
		return UpdateFound(s, r, in, func(tx *storage.Tx, _ T) (Reply, error) {
			return Deleted(kind, r.Param("id")), del(tx, r.Org.ID, r.Param("id"))
		})
	}
}

// findNumber finds the account of the number in the path. A number of another
// organization counts as missing, and so does one that the key is not bound to.
func (s *Server) findNumber(r *Request) error {
	number := r.Param("phone_number_id")
	if number == "" {
		return nil
	}
	if !provider.PhoneNumberID.MatchString(number) {
		return NotFound()
	}

	key, err := s.DB.AccountKey(r.HTTP.Context(), number)
	if err == nil && (key.OrganizationID != r.Org.ID || !r.Key.Accounts.Has(&key.ID)) {
		return NotFound()
	}
	r.Account = key
	return err
}

// checkAccountExists returns an error if the account was removed after findNumber
// found it. Rows written for it now would not be deleted by its purge.
func checkAccountExists(tx *storage.Tx, r *Request) error {
	if r.Account.ID == 0 {
		return nil
	}

	a, err := tx.AccountByNumber(r.Account.PhoneNumberID)
	if err == nil && a.ID != r.Account.ID {
		return NotFound() // connected anew, as another account
	}
	return err
}
