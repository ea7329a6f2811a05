package provider

import (
	"context"
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

// list reads the items of all pages. If a page cannot be read, there is no list: an incomplete
// one must not look like a short one.
func list[T any](ctx context.Context, c *Client, tok Token, rq call) ([]T, error) {
	rq.limit = pageLimit
	rq.query.Set("limit", pageSize)

	all := []T{}
	for range maxPages {
		var p page[T]
		if err := c.do(ctx, tok, rq, &p); err != nil {
			return nil, err
		}
		all = append(all, p.Data...)

		// A cursor that does not move would make us read the same page for ever.
		cursor, more := p.next()
		if !more {
			return all, nil
		}
		if cursor == "" || cursor == rq.query.Get("after") {
			break
		}
		rq.query.Set("after", cursor)
	}
	return nil, unreadableError(rq.op, http.StatusOK, missingKey("end of the list"))
}
