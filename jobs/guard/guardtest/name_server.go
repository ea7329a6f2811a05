// Package guardtest is a DNS server in memory, so that tests can decide to which
// addresses a name resolves, and when that changes.
package guardtest

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// typeAAAA is the type of the records that hold IPv6 addresses.
const typeAAAA = 28

// NameServer is a DNS server in memory. Each query for a name takes the next of its
// Answers, which are addresses separated by spaces; the last one stays. The IPv6
// answers of a name are under the name with /6 appended.
type NameServer struct {
	Answers map[string][]string
	Silent  bool // no query is ever answered

	mu sync.Mutex // guards Answers
}

// Resolver returns a resolver that asks only this server.
func (n *NameServer) Resolver(t testing.TB) *net.Resolver {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe() // not a packet connection, so messages carry a length
		context.AfterFunc(ctx, func() { theirs.Close() })
		go n.serve(theirs)
		return ours, nil
	}}
}

// serve answers the queries of a connection until it is closed. Each message is
// preceded by its length in two bytes, as in DNS over TCP.
func (n *NameServer) serve(conn net.Conn) {
	defer conn.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}

		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}

		if n.Silent {
			continue
		}

		reply := n.reply(query)
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

// reply answers one query of class IN, for IPv4 or IPv6 addresses (RFC 1035).
func (n *NameServer) reply(query []byte) []byte {
	name, end := parseQuestion(query)
	kind := binary.BigEndian.Uint16(query[end:])
	addrs, known := n.nextAnswer(name, kind)

	reply := append([]byte{}, query[:end+4]...)
	reply[2], reply[3] = 0x81, 0x80 // an answer, recursion offered
	if !known {
		reply[3] |= 3 // no such name
	}
	binary.BigEndian.PutUint16(reply[6:], uint16(len(addrs)))
	binary.BigEndian.PutUint32(reply[8:], 0)

	for _, addr := range addrs {
		reply = append(reply, 0xc0, 12) // the name is at offset 12
		reply = binary.BigEndian.AppendUint16(reply, kind)
		reply = append(reply, 0, 1, 0, 0, 0, 0)

		raw := addr.AsSlice()
		reply = binary.BigEndian.AppendUint16(reply, uint16(len(raw)))
		reply = append(reply, raw...)
	}
	return reply
}

// parseQuestion reads the name in a query, and where it ends. It follows the
// header of 12 bytes: labels, each after its length, up to an empty one.
func parseQuestion(query []byte) (name string, end int) {
	var labels []string
	end = 12
	for query[end] != 0 {
		size := int(query[end])
		labels = append(labels, string(query[end+1:end+1+size]))
		end += 1 + size
	}
	return strings.Join(labels, "."), end + 1
}

// nextAnswer takes the next answer of a name for a type of record.
func (n *NameServer) nextAnswer(name string, kind uint16) (addrs []netip.Addr, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()

	key := name
	if kind == typeAAAA {
		key = name + "/6"
	}
	if _, ok := n.Answers[key]; !ok && kind == typeAAAA {
		return nil, n.Answers[name] != nil
	}

	list := n.Answers[key]
	if len(list) == 0 {
		return nil, false
	}

	if len(list) > 1 {
		n.Answers[key] = list[1:]
	}

	for _, text := range strings.Fields(list[0]) {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, true
}
