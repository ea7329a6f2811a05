package simulator

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// keptCalls is how many calls of each direction are kept, keptBytes how much of each body.
	keptCalls = 200
	keptBytes = 16 << 10
)

// callRecord is one call: of the app to the provider, or a callback of the provider to
// the app. Bodies are kept as they were, cut off where they are long.
type callRecord struct {
	id       int64
	given    bool // a callback
	at       time.Time
	took     time.Duration
	method   string
	target   string // the path with the query, or the URL of a callback
	kind     string // content type of the request
	request  []byte
	status   int // 0 where there was no answer
	response []byte
	failure  string
}

// callLog keeps the newest calls of both directions in memory. It has a lock of its own,
// because every call passes here.
type callLog struct {
	mu    sync.Mutex
	last  int64
	asked []callRecord
	given []callRecord
}

// add keeps a call, and drops the oldest where there are enough.
func (l *callLog) add(c callRecord) callRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	c.id = l.last

	kept := &l.asked
	if c.given {
		kept = &l.given
	}
	*kept = append(*kept, c)
	*kept = (*kept)[max(0, len(*kept)-keptCalls):]
	return c
}

// newest lists the calls of one or both directions, newest first.
func (l *callLog) newest(asked, given bool, limit int) (all []callRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if asked {
		all = append(all, l.asked...)
	}
	if given {
		all = append(all, l.given...)
	}

	slices.SortFunc(all, func(a, b callRecord) int { return cmp.Compare(b.id, a.id) })
	return all[:min(len(all), limit)]
}

// clear drops all calls.
func (l *callLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked, l.given = nil, nil
}

// shorten cuts a body that is too long to be kept. The rest of it is not held in memory.
func shorten(body []byte) []byte {
	if len(body) <= keptBytes {
		return body
	}
	return append(bytes.Clone(body[:keptBytes]), "… ("+strconv.Itoa(len(body))+" bytes)"...)
}

// recordCall keeps a call of the app, and publishes it.
func (s *Server) recordCall(c *call, began time.Time, failure error) {
	r := callRecord{
		at: s.now().Add(-time.Since(began)), took: time.Since(began), method: c.r.Method, target: c.r.URL.RequestURI(),
		kind: c.r.Header.Get("Content-Type"), status: c.answerStatus, response: shorten(c.answerBody),
	}
	if failure != nil {
		r.failure = failure.Error()
	}

	if c.input != nil {
		r.request = shorten(c.raw)
		if c.raw == nil && c.r.Method != http.MethodGet {
			// A form or a file: its fields are shown as JSON.
			if fields, err := marshal(c.params); err == nil {
				r.request, r.kind = shorten(fields), "application/json"
			}
		}
	}
	s.publishCall(s.calls.add(r))
}

// recordCallback keeps a callback, and publishes it.
func (s *Server) recordCallback(target string, body []byte, began time.Time, status int, failure error) {
	r := callRecord{
		given: true, at: s.now().Add(-time.Since(began)), took: time.Since(began), method: http.MethodPost, target: target,
		kind: "application/json", request: shorten(body), status: status,
	}
	if failure != nil {
		r.failure = failure.Error()
	}
	s.publishCall(s.calls.add(r))
}

func (s *Server) publishCall(r callRecord) {
	s.publish("call", func() any { return r.view() })
}

// callView is a call as the control surface shows it.
type callView struct {
	ID          int64   `json:"id"`
	Direction   string  `json:"direction"` // asked, or given for callbacks
	Method      string  `json:"method"`
	Path        string  `json:"path"`
	ContentType string  `json:"content_type,omitempty"`
	Request     string  `json:"request"`
	Status      int     `json:"status"` // 0: no answer
	Response    string  `json:"response"`
	Error       string  `json:"error,omitempty"`
	DurationMS  float64 `json:"duration_ms"`
	CreatedAt   string  `json:"created_at"`
}

// view shows a call without the secrets in it.
func (r *callRecord) view() callView {
	direction := "asked"
	if r.given {
		direction = "given"
	}
	return callView{
		ID: r.id, Direction: direction, Method: r.method, Path: hideTarget(r.target), ContentType: r.kind,
		Request: hideSecrets(r.request), Status: r.status, Response: hideSecrets(r.response), Error: r.failure,
		DurationMS: float64(r.took.Microseconds()) / 1000, CreatedAt: rfc3339(r.at.UnixMilli()),
	}
}

// secretNames are the fields that hold secrets: a reader of calls need not know
// the tokens of all who made them.
const secretNames = `access_token|client_secret|input_token|fb_exchange_token|appsecret_proof|app_secret|verify_token|pin`

var (
	secretField = regexp.MustCompile(`("(?:` + secretNames + `)"\s*:\s*)"(?:[^"\\]|\\.)*"?`)
	secretQuery = regexp.MustCompile(`^(?:hub\.)?(?:` + secretNames + `|code)$`) // in a body, code is that of a language
	secretWord  = regexp.MustCompile(`\b(EAA|sim_|svc_live_|whsec_)[^/?]{8,}`)   // in a path, where it does not belong
)

const hiddenSecret = "***"

// hideSecrets takes the values of secret fields out of a body.
func hideSecrets(body []byte) string {
	return strings.ToValidUTF8(string(secretField.ReplaceAll(body, []byte(`${1}"`+hiddenSecret+`"`))), "\uFFFD")
}

// hideTarget takes tokens out of the path of a URL, and the values of secret parameters.
func hideTarget(target string) string {
	path, query, found := strings.Cut(target, "?")
	path = secretWord.ReplaceAllString(path, "${1}"+hiddenSecret)
	if !found {
		return path
	}

	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err != nil || secretQuery.MatchString(plain) {
			pairs[i] = name + "=" + hiddenSecret
		}
	}
	return path + "?" + strings.Join(pairs, "&")
}
