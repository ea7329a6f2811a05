package rest

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"confab/storage"
)

// ListQuery is the position and length of a page.
type ListQuery struct {
	Limit int
	After storage.After
	scope string // what the cursor is bound to
	// bytes is how large the page may become, and Budget what may be read for it.
	bytes  int
	Budget *storage.Budget
	// Reached is where a search stopped that ran out of time before it filled its
	// page. The next page begins there.
	Reached storage.After
}

// Fetch is how many rows to read: one more than the page shows, to know whether there
// are more.
func (q ListQuery) Fetch() int { return q.Limit + 1 }

// ParseListQuery reads limit and cursor. scope names the list with its filters; the
// organization is added here, and the numbers that the key is bound to.
func (s *Server) ParseListQuery(r *Request, scope string) (ListQuery, error) {
	q := ListQuery{Limit: 25, After: storage.First, scope: scope + "\x00" + r.Org.PublicID, bytes: s.pageBytes(r)}
	q.Budget = storage.NewBudget(q.bytes)
	if r.Key.Accounts.Bound() {
		q.scope += fmt.Sprint("\x00", r.Key.Accounts)
	}

	values := r.Query()
	if values.Has("limit") {
		n, err := strconv.ParseUint(values.Get("limit"), 10, 32) // unlike Atoi it takes no sign
		if err != nil || n < 1 || n > 100 {
			return q, &Error{Code: InvalidLimit, Param: "limit", Message: "limit must be a number from 1 to 100."}
		}
		q.Limit = int(n)
	}

	if values.Has("cursor") {
		after, ok := s.cursors.decode(q.scope, values.Get("cursor"))
		if !ok {
			return q, &Error{Code: InvalidCursor, Param: "cursor", Message: "cursor must come from this list with the same filters."}
		}
		q.After = after
	}

	return q, nil
}

// ReadPage is List for a page: each run of fn has the page's whole budget.
func (s *Server) ReadPage(r *Request, q *ListQuery, fn func(*storage.Rx) error) error {
	left := *q.Budget
	return s.List(r, func(rx *storage.Rx) error {
		*q.Budget = left
		return fn(rx)
	})
}

// Lister says how a list is read and shown.
type Lister[T, V any] struct {
	// Scope names the list with its filters. A cursor is of no use in another.
	Scope string
	// Err is why its filters are refused.
	Err error
	// Read reads the page that q asks for, and where it stopped if it ran out of time
	// before it had that many rows. It may run twice.
	Read func(rx *storage.Rx, q *ListQuery) (rows []T, reached storage.After, err error)
	Key  func(T) storage.After
	View func(T) V
}

// ListOf replies with a page of a list.
func ListOf[T, V any](s *Server, r *Request, of Lister[T, V]) (Reply, error) {
	if of.Err != nil {
		return Reply{}, of.Err
	}
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

// Page makes the reply of a list. rows has one row more than the page when there are
// more. The page is shorter if its items would have more bytes than it may: the next
// one begins after its last item.
func Page[T, V any](s *Server, q ListQuery, rows []T, key func(T) storage.After, view func(T) V) (Reply, error) {
	next := q.Reached
	switch {
	case len(rows) > q.Limit:
		rows = rows[:q.Limit]
		next = key(rows[q.Limit-1])
	case q.Budget.Cut():
		next = key(rows[len(rows)-1])
	}

	body := newList(len(rows))
	item := new(V)
	for i, row := range rows {
		*item = view(row)
		fits, err := body.Add(item, q.bytes)
		if err != nil {
			return Reply{}, err
		}
		if !fits {
			next = key(rows[i-1])
			break
		}
	}

	if body.HasMore = next != storage.Last; body.HasMore {
		body.NextCursor = new(s.cursors.Encode(q.scope, next))
	}
	return Reply{Status: http.StatusOK, List: body}, nil
}

// WholeList answers with a list that has no further pages, because it is short.
func WholeList[T, V any](rows []T, view func(T) V) (Reply, error) {
	body := newList(len(rows))
	for _, row := range rows {
		if _, err := body.Add(new(view(row)), math.MaxInt); err != nil {
			return Reply{}, err
		}
	}
	return Reply{Status: http.StatusOK, List: body}, nil
}

// listBody is a page: its items, rendered, and what follows them.
type listBody struct {
	Data       []byte // the document so far, beginning with listStart
	HasMore    bool
	NextCursor *string
}

// listStart begins the document of a list. The items follow.
const listStart = `{"data":[`

// newList begins a page of some items.
func newList(items int) *listBody {
	return &listBody{Data: append(make([]byte, 0, len(listStart)+items*usualItem+listEndSize), listStart...)}
}

// usualItem is about how many bytes an item has. It only saves the page from being
// copied as it grows.
const usualItem = 640

// Add renders an item, unless the page would then have more than most bytes with it:
// that it returns as false. A page takes its first item at any size. Items are
// encoded one by one, because the encoder would parse the output of items that encode
// themselves again.
func (l *listBody) Add(item any, most int) (bool, error) {
	before := len(l.Data)
	first := before == len(listStart)
	if !first {
		l.Data = append(l.Data, ',')
	}

	var err error
	start := len(l.Data)
	l.Data, err = AppendView(l.Data, item)
	size := len(l.Data) - start
	if err != nil || !first && before+size+listEndSize > most {
		l.Data = l.Data[:before]
		return false, err
	}
	return true, nil
}

// listEndSize is more than what follows the items takes.
const listEndSize = 512

// Render is the whole body.
func (l *listBody) Render(requestID string) []byte {
	b := strconv.AppendBool(append(l.Data, `],"has_more":`...), l.HasMore)
	b = AppendOptional(append(b, `,"next_cursor":`...), l.NextCursor)
	b = AppendText(append(b, `,"request_id":`...), requestID)
	return append(b, '}')
}

// A page is bounded in bytes as well as in items, and so are the rows read for it: the
// content of one message may have a mebibyte. Pages of ordinary items are far below
// smallPage. A longer one needs a place among the large pages, which it keeps until it
// was sent; when there is none, it is short, and the next page goes on after it. So
// the memory of all pages together stays small however many are asked for at once.
const (
	MaxPage       = 4 << 20
	smallPage     = 256 << 10
	maxLargePages = 8
)

// pageBytes is how many bytes the page of a request may have.
func (s *Server) pageBytes(r *Request) int {
	most := cmp.Or(s.PageBytes, MaxPage)
	select {
	case s.largePages <- struct{}{}:
		r.holdsLargePage = true
		return most
	default:
		return min(most, smallPage)
	}
}

// releasePage gives back the place of a page that was sent.
func (s *Server) releasePage(r *Request) {
	if r.holdsLargePage {
		<-s.largePages
	}
}

// cursorCodec makes and reads cursors. A cursor is a position in a list, sealed and bound
// to the list, the organization and the filters: a client can neither forge one nor use
// it with another list.
type cursorCodec struct{ tokens *storage.Tokens }

func newCursorCodec(key []byte) *cursorCodec { return &cursorCodec{storage.NewTokens(key)} }

// Encode makes the cursor of the page that begins after the given row.
func (c *cursorCodec) Encode(scope string, after storage.After) string {
	return c.tokens.Seal(scope, append(binary.AppendVarint(nil, int64(after.Key)), after.ID...))
}

// decode reads a cursor; false for one that encode did not make for this scope.
func (c *cursorCodec) decode(scope, cursor string) (storage.After, bool) {
	value, ok := c.tokens.Open(scope, cursor)
	if !ok {
		return storage.After{}, false
	}

	key, n := binary.Varint(value)
	if n <= 0 {
		return storage.After{}, false
	}
	return storage.After{Key: storage.Time(key), ID: string(value[n:])}, true
}
