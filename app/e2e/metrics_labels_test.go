package e2e

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"confab/app/config"
	"confab/storage/storagetest"
)

// hostile is somebody who puts a word of their own wherever a request, a callback or
// an answer has room for one.
type hostile struct {
	*stage
	number string
	word   string       // lower-case letters, as names of fields have; another one in each round
	asked  atomic.Int64 // attempts of webhooks that were answered
}

// strangePaths are paths of all routes that need no key, and of some that do.
var strangePaths = []string{
	"/v1/health", "/v1/openapi.json", "/v1/me", "/v1/labels/%s", "/v1/%s", "/v1/123/messages/%s", "/provider/webhook", "/media/%s", "/docs", "/docs/%s",
	"/onboard/%s", "/onboard/assets/%s", "/console/%s", "/livez", "/readyz", "/metrics", "/%s", "/",
}

// raw makes one request byte by byte, as no client of HTTP would, and reads the answer.
func (h *hostile) raw(method, path, header, body string) int {
	h.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.app.URL(), "http://"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%sContent-Length: %d\r\n\r\n%s", method, path, header, len(body), body)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// requests uses the word as method, in paths, in queries and in headers.
func (h *hostile) requests() {
	h.t.Helper()
	headers := fmt.Sprintf("User-Agent: %[1]s\r\nX-%[1]s: %[1]s\r\nContent-Type: %[1]s/%[1]s\r\nX-Forwarded-For: %[1]s\r\n", h.word)
	for _, path := range strangePaths {
		path = strings.ReplaceAll(path, "%s", h.word)
		for _, method := range []string{h.word, strings.ToUpper(h.word), strings.Repeat(h.word, 500), "GET", "POST", "TRACE"} {
			h.raw(method, path+"?"+h.word+"="+h.word, "", "")
			h.raw(method, path, headers+"Authorization: Bearer "+h.word+"\r\n", h.word)
			h.raw(method, path, "Authorization: Bearer "+h.tenant.Secret+"\r\n", h.word)
		}
	}
}

// callbacks uses the word wherever a signed callback has one.
func (h *hostile) callbacks() {
	h.t.Helper()
	value := fmt.Sprintf(`{"metadata":{"phone_number_id":%[1]q},"event":%[2]q,"statuses":[{"id":%[2]q,"status":%[2]q}],"messages":[{"id":%[2]q,"from":%[2]q,"type":%[2]q}],"errors":[{"code":1,"message":%[2]q}]}`, h.number, h.word)
	for _, field := range []string{h.word, strings.Repeat(h.word, 100), "messages", "account_update", "message_template_status_update", "history", "user_preferences"} {
		body := fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":%q,"value":%s}]}]}`, field, value)
		mac := hmac.New(sha256.New, []byte(h.sim.Credentials().AppSecret))
		mac.Write([]byte(body))
		if status := h.raw("POST", "/provider/webhook", "X-Hub-Signature-256: sha256="+hex.EncodeToString(mac.Sum(nil))+"\r\n", body); status != 200 {
			h.t.Errorf("a callback with the field %.40s was answered with %d", field, status)
		}
	}
}

// answers lets the receiver of webhooks answer with ever other statuses and the word.
func (h *hostile) answers(subscription string) {
	h.t.Helper()
	want := h.asked.Load() + 5
	for range 5 {
		h.exchange("POST", h.app.URL()+"/v1/webhook_subscriptions/"+subscription+"/test", `{}`)
	}
	if !until(func() bool { return h.asked.Load() >= want }) {
		h.t.Fatal("the webhooks were not delivered")
	}
}

// series reads /metrics: every line without its value.
func (h *hostile) series() map[string]bool {
	h.t.Helper()
	all := make(map[string]bool)
	for line := range bytes.Lines(h.exchange("GET", h.app.URL()+"/metrics", "")) {
		if line[0] != '#' {
			all[string(line[:bytes.LastIndexByte(line, ' ')])] = true
		}
	}
	return all
}

// countOf counts the series of one metric.
func countOf(series map[string]bool, metric string) (n int) {
	for name := range series {
		if strings.HasPrefix(name, metric+"{") {
			n++
		}
	}
	return n
}

// round does everything once, with a new word, and returns all series.
func (h *hostile) round(subscription string) map[string]bool {
	h.t.Helper()
	letters := make([]byte, 12)
	for i := range letters {
		letters[i] = byte('a' + rand.IntN(26))
	}
	h.word = "hostile" + string(letters)
	h.requests()
	h.callbacks()
	h.answers(subscription)
	return h.series()
}

// TestNobodyCanMakeTheMetricsGrow does the same twice, with other words: a label that
// shows any of them, or that has more values after the second time, is one that
// strangers can fill the memory with.
func TestNobodyCanMakeTheMetricsGrow(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := &hostile{stage: newStage(t, func(c *config.Config) {
		c.Security.AllowInsecureURLs, c.Security.AllowCIDRs = true, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})}
	h.number = h.connect()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "hostile")
		w.WriteHeader(400 + int(h.asked.Add(1))*7%500)
		io.WriteString(w, "hostile")
	}))
	defer receiver.Close()
	subscription, _ := storagetest.Subscribe(t, h.app.DB, h.tenant, receiver.URL)

	first := h.round(subscription.ID)
	second := h.round(subscription.ID)
	named, example := 0, ""
	for name := range second {
		if strings.Contains(strings.ToLower(name), "hostile") {
			named, example = named+1, name
		}
	}
	if named > 0 {
		t.Errorf("strangers have named the labels of %d series, such as %.100s", named, example)
	}
	for _, metric := range []string{"confab_requests_total", "confab_request_seconds_count", "confab_callbacks_kept_total"} {
		before, after := countOf(first, metric), countOf(second, metric)
		if before < 5 || after != before { // the second round says nothing new
			t.Errorf("%s has %d series, and then %d", metric, before, after)
		}
	}
	is.True(len(second) < 2000)
}
