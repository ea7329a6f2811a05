//go:build !linux

package stream

import (
	"syscall"
	"time"
)

// setUserTimeout does nothing where the system has no such limit.
func setUserTimeout(syscall.Conn, time.Duration) {}
