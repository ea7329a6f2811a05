package api

import "confab/storage"

// A finder finds the resource that a request's path names.
type finder[T any] func(*storage.Rx, *request) (T, error)

// inPath finds a resource by its id in the path. An id of another form belongs to none.
func inPath[S, T any](r *request, param, prefix string, scope S, read func(S, string) (T, error)) (found T, err error) {
	id := r.param(param)
	if !storage.ValidID(prefix, id) {
		return found, notFound()
	}
	return read(scope, id)
}

// exists is a route's check that the resource in its path exists.
func exists[T any](in finder[T]) func(*storage.Rx, *request) error {
	return func(rx *storage.Rx, r *request) error {
		_, err := in(rx, r)
		return err
	}
}

// find finds the resource in the path, in a transaction of its own.
func find[T any](s *Server, r *request, in finder[T]) (found T, err error) {
	err = s.view(r, func(rx *storage.Rx) (err error) {
		found, err = in(rx, r)
		return err
	})
	return found, err
}

// showFound replies with the resource in the path, of which the view needs more than its
// row.
func showFound[T any](s *Server, r *request, in finder[T], show func(*storage.Rx, T) (reply, error)) (rep reply, err error) {
	err = s.view(r, func(rx *storage.Rx) error {
		found, err := in(rx, r)
		if err != nil {
			return err
		}
		rep, err = show(rx, found)
		return err
	})
	return rep, err
}

// updateFound is update for what works on the resource in the path.
func updateFound[T any](s *Server, r *request, in finder[T], fn func(*storage.Tx, T) (reply, error)) (reply, error) {
	return s.update(r, func(tx *storage.Tx) (reply, error) {
		found, err := in(&tx.Rx, r)
		if err != nil {
			return reply{}, err
		}
		return fn(tx, found)
	})
}

// lister says how a list is read and shown.
type lister[T, V any] struct {
	// scope names the list with its filters. A cursor is of no use in another.
	scope string
	// read reads the page that q asks for, and where it stopped if it ran out of time
	// before it had that many rows. It may run twice.
	read func(rx *storage.Rx, q *listQuery) (rows []T, reached storage.After, err error)
	key  func(T) storage.After
	view func(T) V
}

// listOf replies with a page of a list.
func listOf[T, V any](s *Server, r *request, of lister[T, V]) (reply, error) {
	q, err := s.parseListQuery(r, of.scope)
	if err != nil {
		return reply{}, err
	}

	var rows []T
	err = s.readPage(r, &q, func(rx *storage.Rx) (err error) {
		rows, q.reached, err = of.read(rx, &q)
		return err
	})
	if err != nil {
		return reply{}, err
	}
	return page(s, q, rows, of.key, of.view)
}

// numberOf is the number after which a page begins, of a list in the order of numbers: its
// first page begins after 0.
func numberOf(after storage.After) int64 {
	if after == storage.First {
		return 0
	}
	return int64(after.Key)
}
