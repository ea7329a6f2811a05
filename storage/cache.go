package storage

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"confab/storage/sqlite"
)

const (
	// cacheLife is how long what was read is believed. Changes are noticed at
	// once; this is for a command of another process that died after its change
	// and before it could notify the server.
	cacheLife = 10 * time.Second
	// cacheSize bounds each cache, which is emptied when it is full.
	cacheSize = 10_000
)

type tableSet = sqlite.TableSet

// The tables of which rows are cached.
const (
	inOrganizations tableSet = 1 << iota
	inKeys
	inCustomers
	inAccounts
	inSubscriptions
	inSecrets
	inParked
	inThreads // contacts and conversations, with what goes with them
	inUsers
	inUserSessions
	inTeams
	inRules

	inErased // none of them: see erasing

	inAny = ^tableSet(0)
)

func cachedTables() map[string]tableSet {
	return map[string]tableSet{
		"organizations":   inOrganizations,
		"api_keys":        inKeys,
		"customers":       inCustomers,
		"accounts":        inAccounts,
		"subscriptions":   inSubscriptions,
		"signing_secrets": inSecrets,
		"parked_statuses": inParked,
		"users":           inUsers,
		"user_sessions":   inUserSessions,
		"user_codes":      inUsers,
		"user_passkeys":   inUsers,
		"user_identities": inUsers,
		"teams":           inTeams,
		"push_devices":    inUserSessions, // it goes with its session
		"rules":           inRules,
		"number_settings": inRules,

		"contacts":            inThreads,
		"contact_aliases":     inThreads,
		"conversations":       inThreads,
		"conversation_labels": inThreads,
		"labels":              inThreads,
	}
}

// messageStatements are the statements on conversations that messages run. Of threads they change
// nothing that is kept in memory.
func messageStatements() []string {
	return []string{markMessageWritten, markMessageReceived, markReactionWritten, touchThread, recountWaiting, setHolder, touchHolder}
}

// classify are the tables that a statement may change: every one that it names, unless it only
// reads. It is too many rather than too few, so that the author of a new statement need not think
// of the cache.
//
// One that only adds rows leaves kept threads valid, since only those with a conversation are kept.
// But what its transaction then reads of them may be new, and is not kept before it is committed.
func classify(query string) (changes, adds tableSet) {
	if sqlite.OnlyReads(query) {
		return 0, 0
	}

	text, known := strings.ToLower(query), cachedTables()
	notInName := func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }
	for _, word := range strings.FieldsFunc(text, notInName) {
		changes |= known[word]
	}

	switch words := strings.Fields(text); {
	case words[0] == "insert" && words[1] == "into" && !slices.Contains(words, "conflict"):
		changes, adds = changes&^inThreads, changes&inThreads
	case slices.Contains(messageStatements(), query):
		changes &^= inThreads
	}
	if erasing.MatchString(query) {
		changes |= inErased
	}
	return changes, adds
}

// cache keeps what was read of rows that every message needs and that rarely
// change. It holds only committed rows, and is never older than them:
//
//   - A statement that may change a table makes the rest of its transaction read
//     past the cache, and the commit empties it before anybody is answered.
//   - What another process changed, the writer notices when it begins its next
//     transaction; a command also notifies it, through Forget.
//   - What a reader finds is kept only if nothing was committed since before its
//     snapshot was taken.
//
// A missing row is not kept: a stranger must not fill the memory.
//
// The caches are kept for their speed: with 32 messages in a commit, one takes the writer
// 158 µs of processor time, and 210 µs without them (BenchmarkMessage).
type cache[K comparable, V any] struct {
	of   tableSet
	read func(*Rx, K) (V, error)
	keep func(V) bool // which values are kept; nil for all

	mu      sync.RWMutex
	entries map[K]cacheEntry[V]
}

type cacheEntry[V any] struct {
	value V
	until time.Time
}

func newCache[K comparable, V any](all *caches, of tableSet, read func(*Rx, K) (V, error)) *cache[K, V] {
	c := &cache[K, V]{of: of, read: read, entries: make(map[K]cacheEntry[V])}
	all.all = append(all.all, c)
	return c
}

// find returns what the transaction sees of a key, or newer. Callers must not change it.
func (c *cache[K, V]) find(rx *Rx, key K) (V, error) {
	if rx.Changed()&c.of != 0 {
		return c.read(rx, key)
	}
	if value, ok := c.lookup(key); ok {
		return value, nil
	}

	value, err := c.read(rx, key)
	if err == nil && rx.Added()&c.of == 0 && (c.keep == nil || c.keep(value)) {
		c.store(rx, key, value)
	}
	return value, err
}

// fetch is find for callers without a transaction, who mostly need none.
func (c *cache[K, V]) fetch(ctx context.Context, db *DB, key K) (V, error) {
	if value, ok := c.lookup(key); ok {
		return value, nil
	}
	return Query(ctx, db, func(rx *Rx) (V, error) { return c.find(rx, key) })
}

func (c *cache[K, V]) lookup(key K) (value V, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()

	entry, ok := c.entries[key]
	return entry.value, ok && time.Now().Before(entry.until)
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
	c.entries[key] = cacheEntry[V]{value, time.Now().Add(cacheLife)}
}

func (c *cache[K, V]) forget(changed tableSet) {
	if changed&c.of == 0 {
		return
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
}

type caches struct {
	// changes counts what emptied a cache. It moves before that happens.
	changes atomic.Int64
	all     []interface{ forget(changed tableSet) }

	principals  *cache[[sha256.Size]byte, Principal]
	signedIn    *cache[[sha256.Size]byte, SignedIn]
	numbers     *cache[string, Account]
	senders     *cache[int64, Sender]
	summaries   *cache[int64, AccountSummary]
	tokens      *cache[int64, string]
	subscribers *cache[int64, subscriberSet]
	endpoints   *cache[string, *Endpoint]
	failures    *cache[string, int]
	parked      *cache[struct{}, bool]
	teams       *cache[int64, Team]
	devices     *cache[int64, bool]
	rules       *cache[int64, NumberRules]
	natives     *cache[struct{}, bool]

	recipients *cache[phoneOf, Recipient]
	threads    *cache[phoneOf, Thread]
	states     *cache[string, threadState]
}

type phoneOf struct {
	account int64
	phone   string
}

func newCaches() *caches {
	c := &caches{}
	c.principals = newCache(c, inKeys|inOrganizations|inAccounts, (*Rx).readPrincipal)
	c.signedIn = newCache(c, inUserSessions|inUsers|inOrganizations, (*Rx).readSignedIn)
	c.numbers = newCache(c, inAccounts, (*Rx).readAccountByNumber)
	c.senders = newCache(c, inAccounts|inOrganizations|inCustomers, (*Rx).readSender)
	c.summaries = newCache(c, inAccounts|inCustomers, (*Rx).readAccountSummary)
	c.tokens = newCache(c, inAccounts, (*Rx).readAccessToken)
	c.subscribers = newCache(c, inSubscriptions, (*Rx).readSubscribers)
	c.endpoints = newCache(c, inSubscriptions|inSecrets, (*Rx).readEndpoint)
	c.failures = newCache(c, inSubscriptions, (*Rx).readFailures)
	c.parked = newCache(c, inParked, (*Rx).readParked)
	c.teams = newCache(c, inTeams, (*Rx).readTeam)
	c.devices = newCache(c, inUserSessions, (*Rx).readHasPushDevices)
	c.rules = newCache(c, inRules|inAccounts, (*Rx).readNumberRules)
	c.natives = newCache(c, inSubscriptions, (*Rx).readNatives)

	c.recipients = newCache(c, inThreads, (*Rx).readRecipientByPhone)
	c.threads = newCache(c, inThreads, (*Rx).readThreadByPhone)
	c.states = newCache(c, inThreads, (*Rx).readThreadState)

	// A conversation that is made adds a row and empties no cache: see classify.
	c.recipients.keep = func(r Recipient) bool { return r.ConversationID != nil }
	c.threads.keep = func(t Thread) bool { return t.ConversationID != "" }
	return c
}

func (c *caches) forget(changed tableSet) {
	if changed == 0 {
		return
	}

	c.changes.Add(1)
	for _, one := range c.all {
		one.forget(changed)
	}
}

// DropCaches drops all that is kept in memory: another process may have changed anything.
func (db *DB) DropCaches() {
	db.forget(inAny)
	db.events.addAll()
	db.hints.addAll()
}
