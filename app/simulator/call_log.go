package simulator

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// keptCalls is how many calls of each direction are kept, keptBytes how much of each body.
	keptCalls = 200
	keptBytes = 16 << 10
)

// The directions of calls.
const (
	callAsked = "asked" // by the app
	callGiven = "given" // to the app: callbacks
)

// callRecord is one call: of the app to the provider, or a callback of the provider to
// the app. Bodies are kept as they were, cut off where they are long.
type callRecord struct {
	ID          int64   `json:"id"`
	Direction   string  `json:"direction"`
	Method      string  `json:"method"`
	Path        string  `json:"path"` // with the query; or the URL of a callback
	ContentType string  `json:"content_type,omitempty"`
	Request     string  `json:"request"`
	Status      int     `json:"status"` // 0: no answer
	Response    string  `json:"response"`
	Error       string  `json:"error,omitempty"`
	DurationMS  float64 `json:"duration_ms"`
	CreatedAt   string  `json:"created_at"`
}

// callLog keeps the newest calls of each direction in memory. It has a lock of its own,
// because every call passes here.
type callLog struct {
	mu   sync.Mutex
	last int64
	kept map[string][]callRecord
}

func (l *callLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = map[string][]callRecord{}
}

// add keeps a call, and drops the oldest where there are enough.
func (l *callLog) add(r callRecord) callRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	r.ID = l.last

	all := append(l.kept[r.Direction], r)
	l.kept[r.Direction] = all[max(0, len(all)-keptCalls):]
	return r
}

func (l *callLog) list(directions ...string) (all []callRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, direction := range directions {
		all = append(all, l.kept[direction]...)
	}
	return all
}

// recordCall keeps a call that began at a time, and publishes it.
func (s *Server) recordCall(r callRecord, began time.Time, failure error) {
	took := time.Since(began)
	r.DurationMS, r.CreatedAt = float64(took.Microseconds())/1000, rfc3339(s.now().Add(-took).UnixMilli())
	if failure != nil {
		r.Error = failure.Error()
	}

	r = s.calls.add(r)
	s.publish("call", func() any { return r.withoutSecrets() })
}

func (c *call) record() callRecord {
	r := callRecord{
		Direction: callAsked, Method: c.r.Method, Path: c.r.URL.RequestURI(), ContentType: c.r.Header.Get("Content-Type"),
		Status: c.answerStatus, Response: shorten(c.answerBody),
	}

	if c.input != nil {
		r.Request = shorten(c.raw)
		if c.raw == nil && c.r.Method != http.MethodGet {
			// A form or a file: its fields are shown as JSON.
			r.Request, r.ContentType = shorten(marshal(c.params)), "application/json"
		}
	}
	return r
}

// shorten cuts a body that is too long to be kept.
func shorten(body []byte) string {
	if len(body) <= keptBytes {
		return string(body)
	}
	return fmt.Sprintf("%s… (%d bytes)", body[:keptBytes], len(body))
}

// controlCalls handles GET /_sim/calls: what the provider was asked and what it answered,
// newest first; with direction=given the callbacks that it posted, with all both.
func (s *Server) controlCalls(c *controlCall) (any, error) {
	limit, err := c.listLimit(keptCalls, 2*keptCalls)
	if err != nil {
		return nil, err
	}

	var found []callRecord
	switch direction := firstOf(c.r.URL.Query().Get("direction"), callAsked); direction {
	case callAsked, callGiven:
		found = s.calls.list(direction)
	case "all":
		found = s.calls.list(callAsked, callGiven)
	default:
		return nil, invalid("direction", "must be asked, given or all")
	}

	slices.SortFunc(found, func(a, b callRecord) int { return cmp.Compare(b.ID, a.ID) })
	shown := viewsOf(found[:min(len(found), limit)], callRecord.withoutSecrets)
	return object{"data": shown, "base_url": s.opt.PublicURL}, nil
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

// withoutSecrets is a call as it is shown.
func (r callRecord) withoutSecrets() callRecord {
	r.Path, r.Request, r.Response = hideTarget(r.Path), hideSecrets(r.Request), hideSecrets(r.Response)
	return r
}

// hideSecrets takes the values of secret fields out of a body.
func hideSecrets(body string) string {
	return strings.ToValidUTF8(secretField.ReplaceAllString(body, `${1}"`+hiddenSecret+`"`), "\uFFFD")
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
