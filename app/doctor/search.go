package doctor

import (
	"context"

	"confab/storage"
)

// checkSearch checks how far the search index is. A server makes it anew by itself, so
// that nothing about it is broken for long.
func (e *examination) checkSearch(ctx context.Context) {
	facts, err := storage.InspectSearchIndex(e.path(storage.SearchFile))
	if err != nil {
		e.warn("search", "Start the server, or wait: it rebuilds the index automatically.", "The search index cannot be read: %v.", err)
		return
	}

	lacking, ok := query(ctx, e, "search", func(rx *storage.Rx) (int64, error) { return rx.CountUnindexed(facts.Position) })
	if !ok {
		return
	}

	switch {
	case lacking > maxUnindexed && e.served:
		e.warn("search", "Wait: searches are slower until the index is complete.",
			"%s missing from the search index; the server adds them.", count(lacking, "message is", "messages are"))
	case facts.IsMissing:
		e.ok("search", "There is no search index yet; the server creates it.")
	default:
		e.ok("search", "The search index has %s.", count(facts.Messages, "message", "messages"))
	}
}

// maxUnindexed is how many messages a busy server's index may lack at any moment.
const maxUnindexed = 20000
