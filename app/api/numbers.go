package api

import (
	"context"
	"regexp"
	"sync"

	"confab/storage"
)

// phoneNumberID is the pattern of the provider's number ids in paths.
var phoneNumberID = regexp.MustCompile(`^[0-9]{6,20}$`)

// numbers caches which account a number in a path belongs to. Only what cannot
// change is cached, so it has to forget when accounts come and go, no more.
type numbers struct {
	db *storage.DB

	mu         sync.RWMutex
	known      map[string]storage.AccountKey
	generation int
}

func newNumbers(db *storage.DB) *numbers {
	return &numbers{db: db, known: make(map[string]storage.AccountKey)}
}

// find returns the account of a number, or storage.ErrNotFound.
func (n *numbers) find(ctx context.Context, number string) (storage.AccountKey, error) {
	n.mu.RLock()
	key, ok := n.known[number]
	generation := n.generation
	n.mu.RUnlock()
	if ok {
		return key, nil
	}
	err := n.db.View(ctx, func(rx *storage.Rx) (err error) {
		key, err = rx.AccountKey(number)
		return err
	})
	if err != nil {
		return key, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.generation == generation { // else what was read may be from before the change
		n.known[number] = key
	}
	return key, nil
}

// clear forgets everything.
func (n *numbers) clear() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.known)
	n.generation++
}

// findNumber finds the account of the number in the path. One of another
// organization is as good as missing.
func (s *Server) findNumber(r *request) error {
	number := r.param("phone_number_id")
	if number == "" {
		return nil
	}
	if !phoneNumberID.MatchString(number) {
		return notFound()
	}
	key, err := s.numbers.find(r.http.Context(), number)
	if err == nil && key.OrganizationID != r.org.ID {
		return notFound()
	}
	r.account = key
	return err
}
