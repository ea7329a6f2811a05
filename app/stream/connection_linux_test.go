package stream

import (
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
)

func TestAVanishedClientIsGivenUp(t *testing.T) {
	is := is.New(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	is.NoErr(err)
	defer client.Close()
	conn, err := listener.Accept()
	is.NoErr(err)
	defer conn.Close()

	r, err := http.NewRequestWithContext(WithConnection(t.Context(), conn), "GET", "/", nil)
	is.NoErr(err)
	limitSilence(r, 30*time.Second)
	raw, err := conn.(*net.TCPConn).SyscallConn()
	is.NoErr(err)
	is.NoErr(raw.Control(func(fd uintptr) {
		limit, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
		is.NoErr(err)
		is.Equal(limit, 30_000)
	}))
	limitSilence(r.Clone(t.Context()), time.Second) // without a connection: nothing happens
}
