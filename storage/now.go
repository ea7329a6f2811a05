//go:build !trial

package storage

import "time"

// Now is the current instant.
func Now() Time { return At(time.Now()) }
