package rig

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// The ports that FreeAddress chooses from. They are below those that the system gives to
// outgoing connections and to listeners on port 0, and others than those of the tests in
// app/cli.
const (
	firstPort = 12000
	portCount = 8000
)

// triedAddresses are those that FreeAddress has returned, or that others have.
var triedAddresses sync.Map

// FreeAddress returns an address of this machine that is free, now and until the caller
// listens on it. It never returns the same one twice.
//
// A port that the system chooses would not do: the process that it is for binds it only
// seconds later, and meanwhile the system may give it to another listener or connection.
func FreeAddress() (string, error) {
	// At random, because another process may choose at the same time.
	for _, n := range rand.Perm(portCount) {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+n)
		if _, tried := triedAddresses.LoadOrStore(address, true); tried {
			continue
		}
		if listener, err := net.Listen("tcp", address); err == nil {
			return address, listener.Close()
		}
	}
	return "", errors.New("there is no free port")
}
