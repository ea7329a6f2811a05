package storage

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// memoLife is how long what was read is believed. Changes are noticed at
	// once; this is for a command of another process that died between its
	// change and its word.
	memoLife = 10 * time.Second
	// memoSize bounds each memo, which is emptied when it is full.
	memoSize = 10_000
)

// tables is a set of the tables of which rows are kept in memory.
type tables uint

// The tables of which rows are kept.
const (
	inOrganizations tables = 1 << iota
	inKeys
	inCustomers
	inAccounts
	inSubscriptions
	inSecrets
	inParked

	inAny = ^tables(0)
)

// watched names the tables.
func watched() map[string]tables {
	return map[string]tables{
		"organizations": inOrganizations, "api_keys": inKeys, "customers": inCustomers, "accounts": inAccounts,
		"subscriptions": inSubscriptions, "signing_secrets": inSecrets, "parked_statuses": inParked,
	}
}

// onlyReads tells whether a statement can change nothing: it is a SELECT.
func onlyReads(query string) bool {
	words := strings.Fields(query)
	return len(words) == 0 || strings.EqualFold(words[0], "select")
}

// changedBy are the tables that a statement may change: every one that it names,
// unless it only reads. It is too many rather than too few, so that whoever
// writes a new statement need not think of what is kept in memory.
func changedBy(query string) (all tables) {
	if onlyReads(query) {
		return 0
	}
	known := watched()
	for _, word := range strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
		all |= known[word]
	}
	return all
}

// memo keeps what was read of rows that every message needs and that rarely
// change. It holds only what is committed, and is never behind it:
//
//   - A statement that may change a table makes the rest of its transaction read
//     past the memo, and the commit empties it before anybody is answered.
//   - What another process changed, the writer notices when it begins its next
//     transaction; a command also tells, through Forget.
//   - What a reader finds is kept only if nothing was committed since before its
//     snapshot was taken.
//
// What does not exist is not kept: a stranger must not fill the memory.
type memo[K comparable, V any] struct {
	of   tables
	read func(*Rx, K) (V, error)

	mu    sync.RWMutex
	known map[K]kept[V]
}

type kept[V any] struct {
	value V
	until Time
}

func newMemo[K comparable, V any](of tables, read func(*Rx, K) (V, error)) *memo[K, V] {
	return &memo[K, V]{of: of, read: read, known: make(map[K]kept[V])}
}

// find returns what belongs to a key as the transaction sees it, or something
// newer. Callers share it and must not change what it points to.
func (m *memo[K, V]) find(rx *Rx, key K) (V, error) {
	if rx.s.changed&m.of != 0 {
		return m.read(rx, key)
	}
	if value, ok := m.recall(key); ok {
		return value, nil
	}
	value, err := m.read(rx, key)
	if err == nil {
		m.keep(rx, key, value)
	}
	return value, err
}

// fetch is find for callers without a transaction, who mostly need none.
func (m *memo[K, V]) fetch(ctx context.Context, db *DB, key K) (value V, err error) {
	if value, ok := m.recall(key); ok {
		return value, nil
	}
	err = db.View(ctx, func(rx *Rx) (err error) {
		value, err = m.find(rx, key)
		return err
	})
	return value, err
}

func (m *memo[K, V]) recall(key K) (value V, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	k, ok := m.known[key]
	return k.value, ok && Now() < k.until
}

func (m *memo[K, V]) keep(rx *Rx, key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if rx.db.memos.changes.Load() != rx.since {
		return // it may be from before the change
	}
	if len(m.known) >= memoSize {
		clear(m.known)
	}
	m.known[key] = kept[V]{value, Now().Add(memoLife)}
}

// forget empties the memo if it is of any of the tables.
func (m *memo[K, V]) forget(changed tables) {
	if changed&m.of == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.known)
}

// memos are all that is kept in memory of the database.
type memos struct {
	// changes counts what emptied a memo. It moves before that happens.
	changes atomic.Int64

	principals  *memo[[sha256.Size]byte, Principal]
	numbers     *memo[string, Account]
	senders     *memo[int64, Sender]
	tokens      *memo[int64, string]
	subscribers *memo[int64, []subscriber]
	endpoints   *memo[string, *Endpoint]
	failures    *memo[string, int]
	parked      *memo[struct{}, bool]
}

func newMemos() *memos {
	return &memos{
		principals:  newMemo(inKeys|inOrganizations, (*Rx).readPrincipal),
		numbers:     newMemo(inAccounts, (*Rx).readAccountByNumber),
		senders:     newMemo(inAccounts|inOrganizations|inCustomers, (*Rx).readSender),
		tokens:      newMemo(inAccounts, (*Rx).readAccessToken),
		subscribers: newMemo(inSubscriptions, (*Rx).readSubscribers),
		endpoints:   newMemo(inSubscriptions|inSecrets, (*Rx).readEndpoint),
		failures:    newMemo(inSubscriptions, (*Rx).readFailures),
		parked:      newMemo(inParked, (*Rx).readParked),
	}
}

// forget empties the memos of tables that were changed.
func (m *memos) forget(changed tables) {
	if changed == 0 {
		return
	}
	m.changes.Add(1)
	m.principals.forget(changed)
	m.numbers.forget(changed)
	m.senders.forget(changed)
	m.tokens.forget(changed)
	m.subscribers.forget(changed)
	m.endpoints.forget(changed)
	m.failures.forget(changed)
	m.parked.forget(changed)
}

// Forget drops what is kept in memory: another process changed the database.
func (db *DB) Forget() { db.memos.forget(inAny) }
