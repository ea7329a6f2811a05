package e2e

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app"
	"confab/app/simulator"
	"confab/storage/storagetest"
)

// poster is a connection on which a callback is sent.
type poster struct {
	t    *testing.T
	conn net.Conn
}

// beginCallback sends a callback that announces length bytes, and only a part of it.
func (s *stage) beginCallback(t *testing.T, signature string, length int, part string) poster {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.app.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST /provider/webhook HTTP/1.1\r\nHost: localhost\r\nX-Hub-Signature-256: sha256=%s\r\nContent-Length: %d\r\n\r\n", signature, length)
	go fmt.Fprint(conn, part)
	return poster{t, conn}
}

// answer reads the status, and how long to wait before another try.
func (p poster) answer() (status int, retryAfter string) {
	p.t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(p.conn), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode, res.Header.Get("Retry-After")
}

// bodyBytes is the memory that bodies take, as the metrics show it.
func (s *stage) bodyBytes() float64 {
	s.t.Helper()
	_, rest, found := strings.Cut(string(s.exchange("GET", s.app.URL()+"/metrics", "")), "\nconfab_body_bytes ")
	value, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseFloat(value, 64)
	if !found || err != nil {
		s.t.Fatalf("/metrics has no confab_body_bytes: %q", value)
	}
	return n
}

// TestCallbacksOfStrangersShareABudget lets strangers post callbacks under signatures
// that only look like one, and never finish: what they hold is bounded, those that are open
// longest make way, the provider's callbacks and those who sign in go on, and all is given
// back when they leave.
func TestCallbacksOfStrangersShareABudget(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const budget, large, announced = 1 << 20, 300 << 10, 2 << 20
	s := startStage(t, func(o *app.Options, _ *simulator.Server) { o.BodyBudget = budget })
	signed := func(body string) poster {
		mac := hmac.New(sha256.New, []byte(s.sim.Credentials().AppSecret))
		mac.Write([]byte(body))
		return s.beginCallback(t, hex.EncodeToString(mac.Sum(nil)), len(body), body)
	}
	forged, part := strings.Repeat("0", 64), strings.Repeat(" ", large)

	var held []poster
	for n := range 2 { // one after the other, so that it is known which is older
		held = append(held, s.beginCallback(t, forged, announced, part))
		is.True(until(func() bool { return s.bodyBytes() >= float64(n+1)*large }))
	}

	held = append(held, s.beginCallback(t, forged, announced, part), s.beginCallback(t, forged, announced, part))
	status, retryAfter := held[0].answer()
	is.Equal(status, 503)
	is.Equal(retryAfter, "1")
	status, _ = signed(part).answer()
	is.Equal(status, 200)

	for range 200 { // each has sent a byte, and costs its connection
		held = append(held, s.beginCallback(t, forged, announced, " "))
	}
	for range 20 {
		status, _ = signed(`{"object":"whatsapp_business_account","entry":[]}`).answer()
		is.Equal(status, 200)
	}
	is.Equal(s.browser().signIn("nobody@example.com", "wrong password").status, 401)
	is.True(s.bodyBytes() <= budget)

	for _, p := range held {
		p.conn.Close()
	}
	is.True(until(func() bool { return s.bodyBytes() == 0 }))
	status, _ = signed(part).answer()
	is.Equal(status, 200)
}

// TestAFewOrganizationsDoNotHoldAllRoomForBodies lets six begin as many large bodies as each
// may have, and never finish.
func TestAFewOrganizationsDoNotHoldAllRoomForBodies(t *testing.T) {
	is := is.New(t)
	s := newStage(t)
	const announced, sent = 1<<20 - 1, 20 << 10
	begin := func(key string, length, sent int) poster {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.app.URL(), "http://"))
		is.NoErr(err)
		t.Cleanup(func() { conn.Close() })
		fmt.Fprintf(conn, "POST /v1/labels HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", key, length)
		name := `{"name":"urgent"}`
		fmt.Fprint(conn, name+strings.Repeat(" ", sent-len(name)))
		return poster{t, conn}
	}
	answered := make(chan int, 100)
	for i := range 6 {
		key := storagetest.Seed(t, s.app.DB, fmt.Sprint("Greedy ", i)).Secret
		for range 12 {
			held := begin(key, announced, sent)
			go func() {
				if res, err := http.ReadResponse(bufio.NewReader(held.conn), nil); err == nil {
					answered <- res.StatusCode
				}
			}()
		}
	}
	time.Sleep(500 * time.Millisecond) // so that they are there before it comes
	status, _ := begin(s.tenant.Secret, 500<<10, 500<<10).answer()
	is.Equal(status, 201)
	is.Equal(<-answered, 503)
}
