package storage

import "math"

// After is where a page begins: behind the row with this sort key and id, in
// descending order of both.
type After struct {
	Key Time
	ID  string
}

// First is the key before the first page: greater than any row's. A page query
// compares against it, because an OR for "no key yet" would cost the index seek.
var First = After{Key: math.MaxInt64, ID: "~"}
