package provider

import (
	"context"
	"iter"
	"net/http"
	"net/url"
)

const (
	pageSize = "100"
	// maxPages ends a list whose pages never end.
	maxPages = 1000
)

// page is one page of a list.
type page[T any] struct {
	envelope
	Data   []T `json:"data"`
	Paging struct {
		Cursors struct {
			After string `json:"after"`
		} `json:"cursors"`
		Next string `json:"next"`
	} `json:"paging"`
}

func (p *page[T]) check() error { return requireKey("data", p.Data != nil) }

// next returns the cursor of the following page, and whether there is such a
// page. The address in the answer is not used: our token must not go to an
// address that an answer names.
func (p *page[T]) next() (cursor string, more bool) {
	if p.Paging.Next == "" {
		return "", false
	}

	if p.Paging.Cursors.After != "" {
		return p.Paging.Cursors.After, true
	}

	// Some answers name the cursor only in the address of the next page.
	if u, err := url.Parse(p.Paging.Next); err == nil {
		cursor = u.Query().Get("after")
	}
	return cursor, true
}

// list iterates over the items of all pages. If a page cannot be read, it yields
// the error and ends: an incomplete list must not look like a short one.
func list[T any](ctx context.Context, c *Client, tok Token, rq call) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		rq := rq // of this run: an iterator may run more than once
		rq.limit = pageLimit
		rq.query = withParam(rq.query, "limit", pageSize)

		for range maxPages {
			var p page[T]
			if err := c.do(ctx, tok, rq, &p); err != nil {
				yield(*new(T), err)
				return
			}

			for _, item := range p.Data {
				if !yield(item, nil) {
					return
				}
			}

			cursor, more := p.next()
			if !more {
				return
			}

			// A cursor that does not move would make us read the same page for ever.
			if cursor == "" || cursor == rq.query.Get("after") {
				break
			}
			rq.query = withParam(rq.query, "after", cursor)
		}

		yield(*new(T), unreadableError(rq.op, http.StatusOK, missingKey("end of the list")))
	}
}

// withParam returns a copy of the query with a key set.
func withParam(query url.Values, key, value string) url.Values {
	changed := url.Values{}
	for k, v := range query {
		changed[k] = v
	}
	changed.Set(key, value)
	return changed
}

// collect makes a slice of a list that is known to be short.
func collect[T any](items iter.Seq2[T, error]) ([]T, error) {
	all := []T{}
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		all = append(all, item)
	}
	return all, nil
}
