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
	// cacheLife is how long what was read is believed. Changes are noticed at
	// once; this is for a command of another process that died after its change
	// and before it could tell the server.
	cacheLife = 10 * time.Second
	// cacheSize bounds each cache, which is emptied when it is full.
	cacheSize = 10_000
)

// tableSet is a set of the tables of which rows are cached.
type tableSet uint

// The tables of which rows are cached.
const (
	inOrganizations tableSet = 1 << iota
	inKeys
	inCustomers
	inAccounts
	inSubscriptions
	inSecrets
	inParked

	inAny = ^tableSet(0)
)

// cachedTables names the tables.
func cachedTables() map[string]tableSet {
	return map[string]tableSet{
		"organizations":   inOrganizations,
		"api_keys":        inKeys,
		"customers":       inCustomers,
		"accounts":        inAccounts,
		"subscriptions":   inSubscriptions,
		"signing_secrets": inSecrets,
		"parked_statuses": inParked,
	}
}

// onlyReads tells whether a statement can change nothing: it is a SELECT.
func onlyReads(query string) bool {
	words := strings.Fields(query)
	return len(words) == 0 || strings.EqualFold(words[0], "select")
}

// changedBy are the tables that a statement may change: every one that it names,
// unless it only reads. It is too many rather than too few, so that whoever
// writes a new statement need not think of what is cached.
func changedBy(query string) (all tableSet) {
	if onlyReads(query) {
		return 0
	}

	notInName := func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }
	known := cachedTables()
	for _, word := range strings.FieldsFunc(strings.ToLower(query), notInName) {
		all |= known[word]
	}
	return all
}

// cache keeps what was read of rows that every message needs and that rarely
// change. It holds only what is committed, and is never behind it:
//
//   - A statement that may change a table makes the rest of its transaction read
//     past the cache, and the commit empties it before anybody is answered.
//   - What another process changed, the writer notices when it begins its next
//     transaction; a command also tells, through Forget.
//   - What a reader finds is kept only if nothing was committed since before its
//     snapshot was taken.
//
// What does not exist is not kept: a stranger must not fill the memory.
type cache[K comparable, V any] struct {
	of   tableSet
	read func(*Rx, K) (V, error)

	mu      sync.RWMutex
	entries map[K]cacheEntry[V]
}

type cacheEntry[V any] struct {
	value V
	until Time
}

func newCache[K comparable, V any](of tableSet, read func(*Rx, K) (V, error)) *cache[K, V] {
	return &cache[K, V]{of: of, read: read, entries: make(map[K]cacheEntry[V])}
}

// find returns what belongs to a key as the transaction sees it, or something
// newer. Callers share it and must not change what it points to.
func (c *cache[K, V]) find(rx *Rx, key K) (V, error) {
	if rx.s.changed&c.of != 0 {
		return c.read(rx, key)
	}
	if value, ok := c.lookup(key); ok {
		return value, nil
	}

	value, err := c.read(rx, key)
	if err == nil {
		c.store(rx, key, value)
	}
	return value, err
}

// fetch is find for callers without a transaction, who mostly need none.
func (c *cache[K, V]) fetch(ctx context.Context, db *DB, key K) (value V, err error) {
	if value, ok := c.lookup(key); ok {
		return value, nil
	}

	err = db.View(ctx, func(rx *Rx) (err error) {
		value, err = c.find(rx, key)
		return err
	})
	return value, err
}

func (c *cache[K, V]) lookup(key K) (value V, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()

	entry, ok := c.entries[key]
	return entry.value, ok && Now() < entry.until
}

func (c *cache[K, V]) store(rx *Rx, key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if rx.db.caches.changes.Load() != rx.since {
		return // it may be from before the change
	}
	if len(c.entries) >= cacheSize {
		clear(c.entries)
	}
	c.entries[key] = cacheEntry[V]{value, Now().Add(cacheLife)}
}

// forget empties the cache if it is of any of the tables.
func (c *cache[K, V]) forget(changed tableSet) {
	if changed&c.of == 0 {
		return
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
}

// caches are all that is kept in memory of the database.
type caches struct {
	// changes counts what emptied a cache. It moves before that happens.
	changes atomic.Int64

	principals  *cache[[sha256.Size]byte, Principal]
	numbers     *cache[string, Account]
	senders     *cache[int64, Sender]
	tokens      *cache[int64, string]
	subscribers *cache[int64, []subscriber]
	endpoints   *cache[string, *Endpoint]
	failures    *cache[string, int]
	parked      *cache[struct{}, bool]
}

func newCaches() *caches {
	return &caches{
		principals:  newCache(inKeys|inOrganizations, (*Rx).readPrincipal),
		numbers:     newCache(inAccounts, (*Rx).readAccountByNumber),
		senders:     newCache(inAccounts|inOrganizations|inCustomers, (*Rx).readSender),
		tokens:      newCache(inAccounts, (*Rx).readAccessToken),
		subscribers: newCache(inSubscriptions, (*Rx).readSubscribers),
		endpoints:   newCache(inSubscriptions|inSecrets, (*Rx).readEndpoint),
		failures:    newCache(inSubscriptions, (*Rx).readFailures),
		parked:      newCache(inParked, (*Rx).readParked),
	}
}

// forget empties the caches of tables that were changed.
func (c *caches) forget(changed tableSet) {
	if changed == 0 {
		return
	}

	c.changes.Add(1)
	c.principals.forget(changed)
	c.numbers.forget(changed)
	c.senders.forget(changed)
	c.tokens.forget(changed)
	c.subscribers.forget(changed)
	c.endpoints.forget(changed)
	c.failures.forget(changed)
	c.parked.forget(changed)
}

// DropCaches drops what is kept in memory: another process changed the database, and
// may have stored events.
func (db *DB) DropCaches() {
	db.caches.forget(inAny)
	db.events.addAll()
}
