//go:build !linux

package stream

import (
	"net"
	"time"
)

// setUserTimeout does nothing where the system has no such limit.
func setUserTimeout(*net.TCPConn, time.Duration) {}
