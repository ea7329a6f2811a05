// Package guardtest answers questions for names in memory, so that tests can
// decide where a name leads, and when.
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

// Names is a name server that lives in memory. Each question for a name takes
// the next of its Answers, addresses separated by spaces; the last one stays.
// IPv6 answers stand under the name with /6 behind it. A Silent one never answers.
type Names struct {
	Answers map[string][]string
	Silent  bool

	mu sync.Mutex
}

// Resolver returns one that asks only these names.
func (n *Names) Resolver(t testing.TB) *net.Resolver {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe() // not a packet connection, so messages carry a length
		context.AfterFunc(ctx, func() { theirs.Close() })
		go n.serve(theirs)
		return ours, nil
	}}
}

func (n *Names) serve(conn net.Conn) {
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

// reply answers one question of class IN for addresses of either kind.
func (n *Names) reply(query []byte) []byte {
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
		reply = append(reply, 0xc0, 12) // the name stands at offset 12
		reply = binary.BigEndian.AppendUint16(reply, kind)
		reply = append(reply, 0, 1, 0, 0, 0, 0)
		raw := addr.AsSlice()
		reply = binary.BigEndian.AppendUint16(reply, uint16(len(raw)))
		reply = append(reply, raw...)
	}
	return reply
}

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

// nextAnswer takes the answer of a name for a kind of address.
func (n *Names) nextAnswer(name string, kind uint16) (addrs []netip.Addr, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := name
	if kind == 28 {
		key = name + "/6"
	}
	if _, ok := n.Answers[key]; !ok && kind == 28 {
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
