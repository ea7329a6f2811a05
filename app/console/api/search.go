package api

import (
	"strconv"
	"strings"

	"confab/app/api/rest"
	"confab/storage"
)

// maxHits is how many messages are asked about at once.
const maxHits = 100

// getSearchHits handles GET /console/api/:phone_number_id/search_hits: what the messages in the
// query say, so that the words that were looked for can be marked, and of which broadcasts they
// are copies.
func (s *Server) getSearchHits(r *rest.Request) (rest.Reply, error) {
	asked := r.Query().Get("ids")
	if asked == "" {
		return rest.Reply{}, rest.Missing("ids")
	}
	ids := strings.Split(asked, ",")
	if len(ids) > maxHits {
		return rest.Reply{}, rest.Invalid("ids", "must have at most "+strconv.Itoa(maxHits)+" items")
	}

	hits := []storage.SearchHit{} // a list, also if nothing was found
	err := s.List(r, func(rx *storage.Rx) error {
		found, err := rx.SearchHits(r.Account.ID, ids)
		hits = append(hits[:0], found...)
		return err
	})
	return rest.OK(hits), err
}
