package storage

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// Hints are the notices of changes sent to consoles: that something of a kind was changed, and
// where that is known which. They carry no data, so that the receiver reads it again, with
// its own rights. They live in memory alone:
//
//   - A closure notes what it changes by Tx.hint, which costs a look at a flag while
//     no one watches, and never a statement.
//   - After the commit the writer adds what was noted, without ever waiting. Changes of one
//     kind and scope come together there; of more than MaxHintIDs only that they are many is
//     kept.
//   - One goroutine takes what has come together, and finds out whose it is
//     (Rx.OrganizationsOf).
//
// mu guards pending and all.
type Hints struct {
	signal
	watchers atomic.Int64
	pending  map[hintKey]*hintIDs
}

// Kinds of what a hint is about, as consoles call them.
const (
	HintConversation = "conversation" // with its messages
	HintContact      = "contact"
	HintTemplate     = "template"
	HintAccount      = "account" // a business number, or the customer that has it
	HintDelivery     = "delivery"
	HintJob          = "job"
	HintBroadcast    = "broadcast"
	HintKey          = "key"
	HintUser         = "user"
	HintLabel        = "label"
	HintQuickReply   = "quick_reply"
	HintView         = "view"
	HintRule         = "rule"
	HintCall         = "call"
)

// HintKinds lists all kinds.
func HintKinds() []string {
	return []string{
		HintConversation, HintContact, HintTemplate, HintAccount, HintDelivery, HintJob,
		HintBroadcast, HintKey, HintUser, HintLabel, HintQuickReply, HintView, HintRule, HintCall,
	}
}

const (
	// MaxHintIDs is how many ids a hint has; more are "many".
	MaxHintIDs = 100
	// maxUnscoped is how many ids of one kind wait whose organization is not known yet.
	maxUnscoped = 1000
)

// Scope says whose something is, as far as the code that changes it knows: at most one of
// its fields is set. Without any it is looked up by the id of what was changed.
type Scope struct {
	Organization int64
	Account      int64
	Subscription string
}

// Hint says that some things of a kind were changed.
type Hint struct {
	Kind  string
	Of    Scope
	IDs   []string
	IsAny bool // which ones is not known, or too many
}

type hintKey struct {
	kind string
	of   Scope
}

type hintIDs struct {
	ids   map[string]struct{}
	isAny bool
}

// noted is a hint of a closure: of one thing, or with "" of any.
type noted struct {
	key hintKey
	id  string
}

func newHints() *Hints {
	return &Hints{signal: newSignal(), pending: make(map[hintKey]*hintIDs)}
}

// Hints reports what was changed, while somebody watches.
func (db *DB) Hints() *Hints { return db.hints }

// WatchHints collects hints of all that is not committed yet when it returns, until stop is called.
func (db *DB) WatchHints(ctx context.Context) (stop func()) {
	db.hints.watchers.Add(1)

	// Closures that ran before the flag was set are committed when this one is. Where
	// nothing can be written, there is nothing to miss.
	_ = db.Update(ctx, func(*Tx) error { return nil })
	return sync.OnceFunc(func() { db.hints.watchers.Add(-1) })
}

func (h *Hints) isWatched() bool { return h.watchers.Load() > 0 }

// Take returns what was changed since the last call; with all, anything may have been.
func (h *Hints) Take() (hints []Hint, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()

	for key, of := range h.pending {
		hints = append(hints, Hint{Kind: key.kind, Of: key.of, IDs: slices.Sorted(maps.Keys(of.ids)), IsAny: of.isAny})
	}
	all = h.all
	clear(h.pending)
	h.all = false
	return hints, all
}

func (h *Hints) add(notes []noted) {
	if len(notes) == 0 {
		return
	}

	h.mu.Lock()
	for _, n := range notes {
		h.addOne(n)
	}
	h.mu.Unlock()
	h.wake()
}

// addOne is add for those who hold mu.
func (h *Hints) addOne(n noted) {
	waiting := h.pending[n.key]
	if waiting == nil {
		waiting = &hintIDs{ids: make(map[string]struct{})}
		h.pending[n.key] = waiting
	}

	if waiting.isAny {
		return
	}

	most := MaxHintIDs
	if n.key.of == (Scope{}) {
		most = maxUnscoped
	}
	waiting.ids[n.id] = struct{}{}
	if waiting.isAny = n.id == "" || len(waiting.ids) > most; waiting.isAny {
		clear(waiting.ids)
	}
}

// addAll says that anything may have been changed.
func (h *Hints) addAll() {
	if h.isWatched() {
		h.signal.addAll()
	}
}

// hint notes that a statement changed something of a kind, if it did: id is which, or ""
// for any. It returns the statement's error.
func (tx *Tx) hint(err error, kind string, of Scope, id string) error {
	if err == nil && tx.db.hints.isWatched() {
		tx.noted = append(tx.noted, noted{hintKey{kind, of}, id})
	}
	return err
}

// hintMessage notes that the conversation of a message looks other than before.
func (tx *Tx) hintMessage(err error, m *Message) error {
	return tx.hint(err, HintConversation, Scope{Account: m.AccountID}, m.ConversationID)
}

// hintJob notes that a job's state was changed by more than its running. Which
// organization it is of follows from what it is about; that of a delivery shows with it.
func (tx *Tx) hintJob(err error, id int64, args JSON) error {
	if err != nil || !tx.db.hints.isWatched() {
		return err
	}

	var about struct {
		Account      int64  `json:"account"`
		Delivery     string `json:"delivery"`
		Subscription string `json:"subscription"`
	}
	if json.Unmarshal(args, &about) != nil {
		return nil // an unreadable job belongs to no one
	}
	switch {
	case about.Account != 0:
		return tx.hint(nil, HintJob, Scope{Account: about.Account}, strconv.FormatInt(id, 10))
	case about.Subscription != "":
		return tx.hint(nil, HintJob, Scope{Subscription: about.Subscription}, strconv.FormatInt(id, 10))
	case about.Delivery != "":
		return tx.hint(nil, HintDelivery, Scope{}, about.Delivery)
	}
	return nil
}

// organizationsByID finds the organizations of things of a kind by their ids, for hints
// whose scope is not known. Kinds that are missing always come with their scope.
var organizationsByID = map[string]string{
	HintConversation: `
		SELECT v.id, a.organization_id FROM conversations v JOIN accounts a ON a.id = v.account_id
		WHERE v.id IN (SELECT value FROM json_each(?))`,
	HintContact: `
		SELECT c.id, a.organization_id FROM contacts c JOIN accounts a ON a.id = c.account_id
		WHERE c.id IN (SELECT value FROM json_each(?))`,
	HintDelivery: `SELECT id, organization_id FROM deliveries WHERE id IN (SELECT value FROM json_each(?))`,
	HintUser:     `SELECT id, organization_id FROM users WHERE id IN (SELECT value FROM json_each(?))`,
}

// OrganizationsOf groups the ids of a hint by their organization. What was deleted has none.
func (rx *Rx) OrganizationsOf(h Hint) (map[int64][]string, error) {
	var organization int64
	var err error
	switch of := h.Of; {
	case of.Organization != 0:
		organization = of.Organization
	case of.Account != 0:
		err = rx.Scan([]any{&organization}, `SELECT organization_id FROM accounts WHERE id = ?`, of.Account)
	case of.Subscription != "":
		organization, err = rx.SubscriptionOrganization(of.Subscription)
	default:
		return rx.organizationsByID(h.Kind, h.IDs)
	}

	if err != nil {
		return nil, IgnoreNotFound(err)
	}
	return map[int64][]string{organization: h.IDs}, nil
}

func (rx *Rx) organizationsByID(kind string, ids []string) (map[int64][]string, error) {
	var rows []struct {
		ID           string `db:"id"`
		Organization int64  `db:"organization_id"`
	}
	query := organizationsByID[kind]
	if query == "" || len(ids) == 0 {
		return nil, nil
	}
	if err := rx.List(&rows, query, jsonList(ids)); err != nil {
		return nil, err
	}

	found := make(map[int64][]string)
	for _, row := range rows {
		found[row.Organization] = append(found[row.Organization], row.ID)
	}
	return found, nil
}
