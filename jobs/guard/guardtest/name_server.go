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

	"golang.org/x/net/dns/dnsmessage"
)

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

func (n *NameServer) reply(query []byte) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		panic(err) // the resolver of package net wrote it
	}

	asked := m.Questions[0]
	addrs, known := n.nextAnswer(strings.TrimSuffix(asked.Name.String(), "."), asked.Type)
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, addr := range addrs {
		answer := dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: asked.Name, Class: asked.Class}}
		answer.Body = &dnsmessage.AAAAResource{AAAA: addr.As16()}
		if addr.Is4() {
			answer.Body = &dnsmessage.AResource{A: addr.As4()}
		}
		m.Answers = append(m.Answers, answer)
	}

	reply, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return reply
}

func (n *NameServer) nextAnswer(name string, kind dnsmessage.Type) (addrs []netip.Addr, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()

	key := name
	if kind == dnsmessage.TypeAAAA {
		key = name + "/6"
	}
	list := n.Answers[key]
	switch len(list) {
	case 0:
		return nil, key != name && list == nil && n.Answers[name] != nil
	case 1:
	default:
		n.Answers[key] = list[1:]
	}

	for _, text := range strings.Fields(list[0]) {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, true
}
