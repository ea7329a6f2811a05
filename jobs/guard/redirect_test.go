package guard

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/jobs/guard/guardtest"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// free returns an address at which nothing listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// listener hands each connection to h and returns its address.
func listener(t *testing.T, h func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			h(conn)
		}
	}()
	return l.Addr().String()
}

// countdown redirects from /n to /n-1 and answers at /0.
func countdown(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Referer") != "" {
		http.Error(w, "referer", http.StatusTeapot)
		return
	}
	n, _ := strconv.Atoi(r.URL.Path[1:])
	if n == 0 {
		io.WriteString(w, "there")
		return
	}
	http.Redirect(w, r, "/"+strconv.Itoa(n-1), http.StatusFound)
}

func TestRedirectsAreFollowedAsFarAsAllowed(t *testing.T) {
	url, _ := serve(t, countdown)
	for _, test := range []struct {
		name            string
		limit, distance int
		status          int
		err             error
	}{
		{"none allowed", 0, 1, http.StatusFound, nil},
		{"none needed", 3, 0, http.StatusOK, nil},
		{"as many as allowed", 3, 3, http.StatusOK, nil},
		{"one too many", 3, 4, 0, ErrTooManyRedirects},
		{"more asked for than anyone may", 50, 4, 0, ErrTooManyRedirects},
		{"one allowed", 1, 2, 0, ErrTooManyRedirects},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			c := open(t, Options{AllowInsecure: true, Allow: loopback, Redirects: test.limit})
			res, err := c.Get(t.Context(), url+"/"+strconv.Itoa(test.distance))
			if test.err != nil {
				is.True(errors.Is(err, test.err))
				return
			}
			is.NoErr(err)
			defer res.Body.Close()
			is.Equal(res.StatusCode, test.status)
		})
	}
}

func TestEachRedirectIsCheckedAgain(t *testing.T) {
	var target string
	url, port := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusFound)
	})
	dns := &guardtest.NameServer{Answers: map[string][]string{"inside.example": {"10.0.0.1"}}}
	c := open(t, Options{AllowInsecure: true, Allow: loopback, Redirects: 3, Resolver: dns.Resolver(t)})

	for name, to := range map[string]string{
		"metadata":            "http://169.254.169.254/latest/meta-data/",
		"a name that is ours": "http://inside.example/",
		"another scheme":      "file:///etc/passwd",
		"credentials":         "http://a:b@127.0.0.1:" + port + "/",
		"a mapped address":    "http://[::ffff:10.0.0.1]/",
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			target = to
			_, err := c.Get(t.Context(), url)
			is.Equal(Reason(err), AddressBlocked)
		})
	}
}

func TestHTTPIsRefusedUnlessInsecureURLsAreAllowed(t *testing.T) {
	is := is.New(t)
	url, _ := serve(t, hello)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
	is.NoErr(err)
	_, err = open(t, Options{Allow: loopback}).Do(req)
	is.Equal(Reason(err), AddressBlocked)
	is.True(errors.Is(err, ErrURL))
}
