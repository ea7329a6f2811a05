package api

import (
	"context"
	"sync"
	"time"

	"confab/storage"
)

// cacheLife is how long what was read is believed. Changes are told at once;
// this is for a command that died between its change and its word.
const cacheLife = 10 * time.Second

// cache keeps what was read from the database. What does not exist is not kept:
// a stranger must not fill the memory.
type cache[K comparable, V any] struct {
	db   *storage.DB
	read func(*storage.Rx, K) (V, error)

	mu         sync.RWMutex
	known      map[K]cached[V]
	generation int
}

type cached[V any] struct {
	value V
	at    storage.Time
}

func newCache[K comparable, V any](db *storage.DB, read func(*storage.Rx, K) (V, error)) *cache[K, V] {
	return &cache[K, V]{db: db, read: read, known: make(map[K]cached[V])}
}

// find returns what belongs to a key, or storage.ErrNotFound.
func (c *cache[K, V]) find(ctx context.Context, key K) (V, error) {
	c.mu.RLock()
	hit, ok := c.known[key]
	generation := c.generation
	c.mu.RUnlock()
	if ok && storage.Now() < hit.at.Add(cacheLife) {
		return hit.value, nil
	}
	fresh := cached[V]{at: storage.Now()}
	err := c.db.View(ctx, func(rx *storage.Rx) (err error) {
		fresh.value, err = c.read(rx, key)
		return err
	})
	if err != nil {
		return fresh.value, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation == generation { // else what was read may be from before the change
		c.known[key] = fresh
	}
	return fresh.value, nil
}

// clear forgets everything: something was changed.
func (c *cache[K, V]) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.known)
	c.generation++
}
