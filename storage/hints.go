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
//     no one watches.
//   - After the commit the writer adds what was noted, without ever waiting. Changes of one
//     kind and scope come together there; of more than MaxHintIDs only that they are many is
//     kept.
//   - One goroutine takes what has come together, and finds out whose it is
//     (Rx.OrganizationOf).
//
// mu guards pending and all.
type Hints struct {
	signal
	watchers atomic.Int64
	pending  map[hintKey]map[string]bool // ids; "" stands for any
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

// MaxHintIDs is how many ids a hint has; more are "many".
const MaxHintIDs = 100

// Scope says whose something is, as far as the code that changes it knows: at most one of its
// fields is set. Without any, the organization is looked up by the id of what was changed.
type Scope struct {
	Organization int64
	Account      int64
	Subscription string
}

// Hint says that some things of a kind were changed.
type Hint struct {
	Kind string
	Of   Scope
	IDs  []string // nil: which ones is not known, or they are too many
}

type hintKey struct {
	kind string
	of   Scope
}

// noted is a hint of a closure: of one thing, or with "" of any.
type noted struct {
	key hintKey
	id  string
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

	for key, ids := range h.pending {
		hint := Hint{Kind: key.kind, Of: key.of}
		if !ids[""] && len(ids) <= MaxHintIDs {
			hint.IDs = slices.Sorted(maps.Keys(ids))
		}
		hints = append(hints, hint)
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
		ids := h.pending[n.key]
		if ids == nil {
			ids = make(map[string]bool)
			h.pending[n.key] = ids
		}
		if len(ids) <= MaxHintIDs {
			ids[n.id] = true
		}
	}
	h.mu.Unlock()
	h.wake()
}

func (h *Hints) addAll() {
	if h.isWatched() {
		h.signal.addAll()
	}
}

// hint notes that a statement changed something of a kind, if it did: id is which, or ""
// for any. It returns the statement's error.
func (tx *Tx) hint(err error, kind string, of Scope, id string) error {
	if err != nil || !tx.db.hints.isWatched() {
		return err
	}

	if of == (Scope{}) {
		if of.Organization, err = value[int64](&tx.Rx, organizationByID[kind], id); err != nil {
			return IgnoreNotFound(err)
		}
	}
	tx.noted = append(tx.noted, noted{hintKey{kind, of}, id})
	return nil
}

// organizationByID finds the organization of something of a kind by its id, for hints
// without a scope. Kinds that are missing always come with theirs.
var organizationByID = map[string]string{
	HintConversation: `SELECT a.organization_id FROM conversations v JOIN accounts a ON a.id = v.account_id WHERE v.id = ?`,
	HintContact:      `SELECT a.organization_id FROM contacts c JOIN accounts a ON a.id = c.account_id WHERE c.id = ?`,
	HintDelivery:     `SELECT organization_id FROM deliveries WHERE id = ?`,
	HintUser:         `SELECT organization_id FROM users WHERE id = ?`,
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

// OrganizationOf finds whose something is; ErrNotFound if that was deleted.
func (rx *Rx) OrganizationOf(s Scope) (int64, error) {
	switch {
	case s.Account != 0:
		return value[int64](rx, `SELECT organization_id FROM accounts WHERE id = ?`, s.Account)
	case s.Subscription != "":
		return rx.SubscriptionOrganization(s.Subscription)
	}
	return s.Organization, nil
}
