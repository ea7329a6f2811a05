package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// fetch makes a request without a key and without following redirects.
func (s *server) fetch(method, path string, header ...string) (status int, body string, h http.Header) {
	s.t.Helper()
	req, err := http.NewRequest(method, "http://"+s.address+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(text), res.Header
}

func TestWhatIsOutsideOfTheAPI(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newServer(t)
	for _, c := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"GET", "/livez", 200, "ok"},
		{"GET", "/readyz", 200, "ready"},
		{"GET", "/console/", 302, ``},
		{"GET", "/docs", 200, "<title>confab API reference</title>"},
		{"GET", "/nowhere", 404, `"code":"resource_not_found"`},
		{"GET", "/", 404, `"code":"resource_not_found"`},
		{"GET", "/v10/labels", 404, `"code":"resource_not_found"`},
		{"GET", "/provider/webhook?hub.mode=subscribe&hub.verify_token=&hub.challenge=1", 401, `"code":"invalid_signature"`},
		{"POST", "/provider/webhook", 401, `"code":"invalid_signature"`},
		{"PUT", "/provider/webhook", 405, `"code":"method_not_allowed"`},
	} {
		status, body, _ := s.fetch(c.method, c.path)
		if status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, body)
		}
	}
	for _, path := range []string{"/livez", "/readyz", "/metrics", "/console/", "/docs"} {
		head, body, _ := s.fetch("HEAD", path)
		get, _, _ := s.fetch("GET", path)
		is.Equal(head, get)
		is.Equal(body, "")
		status, _, header := s.fetch("POST", path)
		is.Equal(status, 405)
		is.Equal(header.Get("Allow"), "GET, HEAD")
	}
	_, body, header := s.fetch("GET", "/nowhere")
	is.True(strings.Contains(body, header.Get("X-Request-Id")))
}

func TestMetricsAreForThisMachineOnly(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newServer(t)
	is.Equal(s.mustSend("POST", "/v1/labels", `{"name":"one"}`).status, 201)
	text := s.metrics(`confab_jobs_total{kind="housekeeping",outcome="done"} 1`)
	for _, line := range []string{
		`confab_requests_total{method="POST",route="/v1/labels",status="201"} 1`,
		`confab_request_seconds_count{method="POST",route="/v1/labels"} 1`,
		"confab_writer_batch_size_count ",
		"confab_writer_wait_seconds_count ",
		"confab_database_bytes ",
		"confab_callbacks_dropped_total 0",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("/metrics has no %s", line)
		}
	}
	is.True(!strings.Contains(text, s.key))
	for _, host := range []string{"evil.test", "evil.test:8080", "localhost.evil.test", "10.0.0.1"} {
		status, body, _ := s.fetch("GET", "/metrics", "Host: "+host)
		if status != 403 || strings.Contains(body, "confab_requests_total") { // a page elsewhere whose name leads here
			t.Errorf("Host: %s: %d", host, status)
		}
	}
	for _, proxy := range []string{
		"X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "Via: 1.1 proxy", "x-real-ip: 127.0.0.1", "X-Forwarded-Port: 443",
		"X-Forwarded-Server: proxy", "X-Forwarded-For: ", "CF-Connecting-IP: 127.0.0.1", "True-Client-IP: 127.0.0.1", "X-Client-IP: 127.0.0.1",
	} {
		status, body, _ := s.fetch("GET", "/metrics", proxy)
		if status != 404 || strings.Contains(body, "confab_requests_total") { // the caller is behind the proxy
			t.Errorf("%s: %d", proxy, status)
		}
	}
}

// metrics reads /metrics once a line is there that appears a moment after the start.
func (s *server) metrics(line string) string {
	s.t.Helper()
	var text string
	there := until(func() bool {
		status, body, _ := s.fetch("GET", "/metrics")
		if status != 200 {
			s.t.Fatalf("/metrics answered %d", status)
		}
		text = body
		return strings.Contains(text, line)
	})
	if !there {
		s.t.Fatalf("/metrics has no %s", line)
	}
	return text
}
