package app_test

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what takes a moment. It measures nothing:
// where other packages are compiled and tested at the same time, a moment is long.
const patience = time.Minute

// until asks again and again whether something has happened that nothing tells
// of, and returns false when it has not.
func until(happened func() bool) bool { return within(patience, happened) }

// within is until for what may take longer.
func within(limit time.Duration, happened func() bool) bool {
	for began := time.Now(); !happened(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > limit {
			return false
		}
	}
	return true
}

// ports are those that freeAddress gave to a test.
var ports struct {
	sync.Mutex
	given map[int]bool
}

// freeAddress is an address that nobody listens on now, nor later, unless the
// test does. A port that the system chooses would not do: as soon as it is let
// go, the system may give it to a server or a connection of another test, in this
// process or another, while the test still prepares the one that it is for. The
// ports here are below those of the system, and others than those of app/cli.
func freeAddress(t testing.TB) string {
	t.Helper()
	ports.Lock()
	defer ports.Unlock()
	for range 1000 {
		port := 12000 + rand.IntN(8000)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if ports.given[port] {
			continue
		}
		listener, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		if ports.given == nil {
			ports.given = make(map[int]bool)
		}
		ports.given[port] = true
		return address
	}
	t.Fatal("there is no free port")
	return ""
}
