package rig

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// The ports that FreeAddress chooses from. They are below those that the system gives to
// outgoing connections and to listeners on port 0, and others than those of the tests in
// app/cli.
const (
	firstPort = 12000
	portCount = 8000
)

// givenPorts are those that FreeAddress has returned.
var givenPorts struct {
	sync.Mutex
	ports map[int]bool
}

// FreeAddress returns an address of this machine that is free, now and until the caller
// listens on it. It never returns the same one twice.
//
// A port that the system chooses would not do: the process that it is for binds it only
// seconds later, and meanwhile the system may give it to another listener or connection.
func FreeAddress() (string, error) {
	givenPorts.Lock()
	defer givenPorts.Unlock()

	if givenPorts.ports == nil {
		givenPorts.ports = make(map[int]bool)
	}

	// At random, because another process may choose at the same time.
	for _, n := range rand.Perm(portCount) {
		port := firstPort + n
		if givenPorts.ports[port] {
			continue
		}

		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		listener, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return "", err
		}

		givenPorts.ports[port] = true
		return address, nil
	}
	return "", errors.New("there is no free port")
}
