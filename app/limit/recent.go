package limit

import "container/list"

// maxRecent bounds the memory of a recent.
const maxRecent = 10_000

// recent are values by key. Of too many keys the one that was longest not used is forgotten.
type recent[K comparable, V any] struct {
	order list.List // of entries, the last used first
	found map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

func newRecent[K comparable, V any]() recent[K, V] {
	return recent[K, V]{found: make(map[K]*list.Element)}
}

// of is the value of a key, which fresh makes if there is none.
func (r *recent[K, V]) of(key K, fresh func() V) V {
	at := r.found[key]
	if at == nil {
		if len(r.found) >= maxRecent {
			delete(r.found, r.order.Remove(r.order.Back()).(entry[K, V]).key)
		}
		at = r.order.PushFront(entry[K, V]{key, fresh()})
		r.found[key] = at
	}
	r.order.MoveToFront(at)
	return at.Value.(entry[K, V]).value
}
