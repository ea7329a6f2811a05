package simulator

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// fieldNames splits a fields parameter. Nested selections such as
// throughput{level} are read as the outer name. Some clients separate the
// names with semicolons.
func fieldNames(fields string) (names []string) {
	depth := 0
	outer := strings.Map(func(r rune) rune {
		switch r {
		case '{', '(':
			depth++
		case '}', ')':
			depth--
			return -1
		}
		if depth > 0 {
			return -1
		}
		return r
	}, fields)

	for _, name := range strings.FieldsFunc(outer, func(r rune) bool { return r == ',' || r == ';' }) {
		name, _, _ = strings.Cut(strings.TrimSpace(name), ".")
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// project keeps the fields of a node that a call names, or its usual ones when it names
// none. The id is always there.
func project(node object, c *call, usual ...string) object {
	names := fieldNames(c.params.text("fields"))
	if len(names) == 0 {
		names = usual
	}

	view := object{}
	for _, name := range append(names, "id") {
		if v, ok := node[name]; ok {
			view[name] = v
		}
	}
	return view
}

const (
	defaultLimit = 25
	maxLimit     = 1000
)

// paged is one page of a list, with the cursors of its neighbours.
type paged struct {
	Data   []object `json:"data"`
	Paging *paging  `json:"paging,omitempty"`
}

type paging struct {
	Cursors  cursors `json:"cursors"`
	Next     string  `json:"next,omitempty"`
	Previous string  `json:"previous,omitempty"`
}

type cursors struct {
	Before string `json:"before"`
	After  string `json:"after"`
}

// page answers a list request. Items are identified by their id, so that a
// cursor stays valid while the list grows.
func (c *call) page(items []object) (paged, error) {
	limit := defaultLimit
	if c.params.has("limit") {
		n, ok := c.params.integer("limit")
		if !ok || n < 1 {
			return paged{}, badParameter("Param limit must be a positive number.")
		}
		limit = int(min(n, maxLimit))
	}

	first, last, err := c.pageBounds(items, limit)
	if err != nil {
		return paged{}, err
	}

	view := paged{Data: items[first:last]}
	if len(view.Data) == 0 {
		view.Data = []object{}
		return view, nil
	}

	view.Paging = &paging{Cursors: cursors{
		Before: cursor(view.Data[0].text("id")),
		After:  cursor(view.Data[len(view.Data)-1].text("id")),
	}}

	if last < len(items) {
		view.Paging.Next = c.pageURL("after", view.Paging.Cursors.After, limit)
	}
	if first > 0 {
		view.Paging.Previous = c.pageURL("before", view.Paging.Cursors.Before, limit)
	}
	return view, nil
}

func (c *call) pageBounds(items []object, limit int) (first, last int, err error) {
	indexOf := func(key string) (int, error) {
		id, err := base64.RawURLEncoding.DecodeString(c.params.text(key))
		i := slices.IndexFunc(items, func(o object) bool { return o.text("id") == string(id) })
		if err != nil || i < 0 {
			return 0, badParameter("Invalid cursor in param %s.", key)
		}
		return i, nil
	}

	switch {
	case c.params.text("after") != "":
		first, err = indexOf("after")
		first++
	case c.params.text("before") != "":
		last, err = indexOf("before")
		return max(0, last-limit), last, err
	}
	return first, min(first+limit, len(items)), err
}

func cursor(id string) string { return base64.RawURLEncoding.EncodeToString([]byte(id)) }

// pageURL is the request's own address with another cursor.
func (c *call) pageURL(key, value string, limit int) string {
	q := url.Values{}
	for k := range c.params {
		if k != "after" && k != "before" {
			q.Set(k, c.params.text(k))
		}
	}

	q.Set(key, value)
	q.Set("limit", strconv.Itoa(limit))
	return origin(c.r) + c.r.URL.Path + "?" + q.Encode()
}

// origin is the address that the client used to reach us.
func origin(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}
