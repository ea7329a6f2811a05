//go:build !trial

package sqlite

import "time"

// Now is the current instant.
func Now() Time { return At(time.Now()) }
