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

	hits, err := rest.QueryMany(s.Server, r, func(rx *storage.Rx) ([]storage.SearchHit, error) { return rx.SearchHits(r.Account.ID, ids) })
	return rest.OK(rest.OrEmpty(hits)), err
}
