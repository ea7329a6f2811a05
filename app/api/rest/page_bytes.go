package rest

import "cmp"

// A page is bounded in bytes as well as in items, and so is what is read for it: the
// content of one message may have a mebibyte. Pages of ordinary items are far below
// smallPage. A longer one needs a place among the large pages, which it keeps until it
// was sent; when there is none, it is short, and the next page goes on behind it. So
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
	case s.LargePages <- struct{}{}:
		r.holdsLargePage = true
		return most
	default:
		return min(most, smallPage)
	}
}

// releasePage gives back the place of a page that was sent.
func (s *Server) releasePage(r *Request) {
	if r.holdsLargePage {
		<-s.LargePages
	}
}
