package rest

import "confab/storage"

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

// Exists is a route's check that the resource in its path exists.
func Exists[T any](in finder[T]) func(*storage.Rx, *Request) error {
	return func(rx *storage.Rx, r *Request) error {
		_, err := in(rx, r)
		return err
	}
}

// Find finds the resource in the path, in a transaction of its own.
func Find[T any](s *Server, r *Request, in finder[T]) (found T, err error) {
	err = s.View(r, func(rx *storage.Rx) (err error) {
		found, err = in(rx, r)
		return err
	})
	return found, err
}

// ShowFound replies with the resource in the path, of which the view needs more than its
// row.
func ShowFound[T any](s *Server, r *Request, in finder[T], show func(*storage.Rx, T) (Reply, error)) (rep Reply, err error) {
	err = s.View(r, func(rx *storage.Rx) error {
		found, err := in(rx, r)
		if err != nil {
			return err
		}
		rep, err = show(rx, found)
		return err
	})
	return rep, err
}

// UpdateFound is update for what works on the resource in the path.
func UpdateFound[T any](s *Server, r *Request, in finder[T], fn func(*storage.Tx, T) (Reply, error)) (Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (Reply, error) {
		found, err := in(&tx.Rx, r)
		if err != nil {
			return Reply{}, err
		}
		return fn(tx, found)
	})
}

// Lister says how a list is read and shown.
type Lister[T, V any] struct {
	// scope names the list with its filters. A cursor is of no use in another.
	Scope string
	// read reads the page that q asks for, and where it stopped if it ran out of time
	// before it had that many rows. It may run twice.
	Read func(rx *storage.Rx, q *ListQuery) (rows []T, reached storage.After, err error)
	Key  func(T) storage.After
	View func(T) V
}

// ListOf replies with a page of a list.
func ListOf[T, V any](s *Server, r *Request, of Lister[T, V]) (Reply, error) {
	q, err := s.ParseListQuery(r, of.Scope)
	if err != nil {
		return Reply{}, err
	}

	var rows []T
	err = s.ReadPage(r, &q, func(rx *storage.Rx) (err error) {
		rows, q.Reached, err = of.Read(rx, &q)
		return err
	})
	if err != nil {
		return Reply{}, err
	}
	return Page(s, q, rows, of.Key, of.View)
}

// NumberOf is the number after which a page begins, of a list in the order of numbers: its
// first page begins after 0.
func NumberOf(after storage.After) int64 {
	if after == storage.First {
		return 0
	}
	return int64(after.Key)
}
