package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// slowRequest is a POST whose body is sent at the test's command.
type slowRequest struct {
	t    testing.TB
	conn net.Conn
	body string
}

// beginPost sends everything but the body, and returns when the server asks for
// that: so the request is being handled.
func (s *server) beginPost(path, body string) *slowRequest {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: confab\r\nAuthorization: Bearer %s\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", path, s.key, len(body))
	line := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
	if _, err := io.ReadFull(conn, line); err != nil || !strings.Contains(string(line), "100 Continue") {
		s.t.Fatalf("the server did not ask for the body: %v: %s", err, line)
	}
	return &slowRequest{t: s.t, conn: conn, body: body}
}

// finish sends the body and returns the answer's status.
func (r *slowRequest) finish() int {
	r.t.Helper()
	fmt.Fprint(r.conn, r.body)
	res, err := http.ReadResponse(bufio.NewReader(r.conn), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// awaitDraining returns when the server no longer takes connections.
func (s *server) awaitDraining() {
	s.t.Helper()
	drains := until(func() bool {
		conn, err := net.Dial("tcp", s.address)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	if !drains {
		s.t.Fatal("the server still takes connections")
	}
}
