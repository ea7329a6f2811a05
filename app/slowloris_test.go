package app

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/app/limit"
)

// pipes is a listener in memory, so that time can be virtual.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// withServer runs a test against a server with our limits. Its clock is virtual.
func withServer(t *testing.T, test func(is *is.I, dial func() net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				limit.RequestOf(r.Context()).Identify(limit.Organization(1, ""))
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
			io.WriteString(w, "ok")
		})
		p := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
		server := newHTTPServer(handler, slog.New(slog.DiscardHandler))
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(p) }()
		test(is.New(t), func() net.Conn {
			ours, theirs := net.Pipe()
			p.accepted <- theirs
			t.Cleanup(func() { ours.Close() })
			return ours
		})
		server.Close()
		<-ended
		time.Sleep(time.Second) // a connection that was refused lingers
	})
}

// drip writes a text a byte a second, and returns how long the other side bore it.
func drip(conn net.Conn, text string) time.Duration {
	began := time.Now()
	go io.Copy(io.Discard, conn)
	for i := range len(text) {
		if _, err := conn.Write([]byte{text[i]}); err != nil {
			break
		}
		time.Sleep(time.Second)
	}
	return time.Since(began)
}

func TestSlowClientsAreCutOff(t *testing.T) {
	withServer(t, func(is *is.I, dial func() net.Conn) {
		held := drip(dial(), "GET / HTTP/1.1\r\nHost: x\r\n"+strings.Repeat("X-Slow: yes\r\n", 1000))
		is.True(held <= 12*time.Second) // a header has ten seconds

		conn := dial()
		io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
		held = drip(conn, strings.Repeat("x", 1000))
		is.True(held <= 62*time.Second) // and a whole request a minute

		conn = dial()
		began := time.Now()
		io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		is.NoErr(err)
		is.Equal(res.StatusCode, 200)
		_, err = io.Copy(io.Discard, conn)
		is.True(err == nil || errors.Is(err, io.ErrClosedPipe))
		is.True(time.Since(began) <= 121*time.Second) // who says nothing more is let go
	})
}

// TestWhoOnlyHoldsConnectionsIsLetGo opens connections and leaves their headers open.
func TestWhoOnlyHoldsConnectionsIsLetGo(t *testing.T) {
	withServer(t, func(is *is.I, dial func() net.Conn) {
		var lost atomic.Int64
		hold := func(text string) {
			conn := dial()
			io.WriteString(conn, text)
			go func() {
				io.Copy(io.Discard, conn)
				lost.Add(1)
			}()
		}
		for range 100 {
			hold("GET / HTTP/1.1\r\nHost: x\r\n\r\n") // answered, and then silent
		}
		for range maxWaitingConnections + 200 {
			hold("GET / HTTP/1.1\r\nHost: x\r\nX-Long: ")
		}
		synctest.Wait()
		if lost.Load() != 300 {
			t.Errorf("of %d connections without a request %d were closed", maxWaitingConnections+300, lost.Load())
		}

		conn := dial()
		io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		is.NoErr(err)
		is.Equal(res.StatusCode, 200) // who asks for something is answered
	})
}

// TestWhoNeverSendsItsBodyIsLetGo announces bodies that never come.
func TestWhoNeverSendsItsBodyIsLetGo(t *testing.T) {
	withServer(t, func(is *is.I, dial func() net.Conn) {
		var lost atomic.Int64
		for range maxBusyRequests + 200 {
			conn := dial()
			io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
			go func() {
				io.Copy(io.Discard, conn)
				lost.Add(1)
			}()
		}
		synctest.Wait()
		if lost.Load() != 200 {
			t.Errorf("of %d requests without their body %d were cut off", maxBusyRequests+200, lost.Load())
		}

		conn := dial()
		io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx")
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		is.NoErr(err)
		is.Equal(res.StatusCode, 200) // who sends what it announced is answered
	})
}

// TestStrangersDoNotEndTheRequestsOfTheKnown opens as many requests and connections as
// there may be, beside one upload and one idle connection of somebody with a key.
func TestStrangersDoNotEndTheRequestsOfTheKnown(t *testing.T) {
	withServer(t, func(is *is.I, dial func() net.Conn) {
		const head = "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: x\r\nContent-Length: 2\r\n\r\n"
		upload, idle := dial(), dial()
		io.WriteString(upload, head+"x")
		io.WriteString(idle, head+"xy")
		answers := bufio.NewReader(idle)
		res, err := http.ReadResponse(answers, nil)
		is.NoErr(err)
		io.Copy(io.Discard, res.Body)

		for range maxBusyRequests + 10 {
			io.WriteString(dial(), "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
		}
		for range maxWaitingConnections + 10 {
			io.WriteString(dial(), "GET")
		}
		synctest.Wait()

		io.WriteString(upload, "y")
		res, err = http.ReadResponse(bufio.NewReader(upload), nil)
		is.NoErr(err)
		is.Equal(res.StatusCode, 200)
		io.WriteString(idle, head+"xy")
		res, err = http.ReadResponse(answers, nil)
		is.NoErr(err)
		is.Equal(res.StatusCode, 200)
	})
}

// TestRequestsThatShareAConnectionAreCutOffOneByOne does so over HTTP/2, where a
// connection has hundreds of requests.
func TestRequestsThatShareAConnectionAreCutOffOneByOne(t *testing.T) {
	is := is.New(t)
	const surplus = 20
	entered := make(chan struct{}, maxBusyRequests+surplus+1)
	server := httptest.NewUnstartedServer(nil)
	server.EnableHTTP2 = true
	server.Config = newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		io.Copy(io.Discard, r.Body)
	}), slog.New(slog.DiscardHandler))
	server.StartTLS()
	defer server.Close()
	defer server.CloseClientConnections()

	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	lost := make(chan error, maxBusyRequests+surplus)
	for range maxBusyRequests + surplus {
		go func() {
			endless, _ := io.Pipe()
			req, err := http.NewRequestWithContext(ctx, "POST", server.URL, endless)
			if err == nil {
				_, err = server.Client().Do(req)
			}
			lost <- err
		}()
		<-entered
	}
	for range surplus {
		is.True(<-lost != nil)
	}

	res, err := server.Client().Get(server.URL) // cuts off one more
	is.NoErr(err)
	res.Body.Close()
	is.Equal(res.StatusCode, 200)
	is.Equal(res.ProtoMajor, 2)
	is.True(<-lost != nil)
	is.Equal(len(lost), 0)
}

func TestHeadersHaveALimit(t *testing.T) {
	withServer(t, func(is *is.I, dial func() net.Conn) {
		for size, want := range map[int]int{15 << 10: 200, 200 << 10: 431} {
			conn := dial()
			go io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nX-Long: "+strings.Repeat("x", size)+"\r\n\r\n")
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			is.NoErr(err)
			is.Equal(res.StatusCode, want)
			conn.Close()
		}
	})
}
