package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"confab/app/datadir"
)

var mutated = flag.Int("mutated", 600, "mutated requests to console and API together")

// memoryLimit is the most that a server may need under any attack, in MB.
const memoryLimit = 200

// entry is a line of a table of routes, with the path in front of it.
type entry struct{ method, path string }

// tableLine finds the lines of the tables of routes in their source.
var tableLine = regexp.MustCompile(`(?m)^\t\trest\.At\("([A-Z]+)", "(/[^"]*)", `)

// gatewayLine finds those of the gateway, some of which are inside of a call.
var gatewayLine = regexp.MustCompile(`rest\.At\("([A-Z]+)", "(/[^"]*)", `)

// controlLine finds those of the played provider.
var controlLine = regexp.MustCompile(`"([A-Z]+) /_sim(/[^"]+)"`)

// everyEntry reads the tables: the API by key, the API and the rest of the console by
// session, the gateway, and the played provider.
func everyEntry(t testing.TB) (all []entry) {
	t.Helper()
	for _, table := range []struct {
		file     string
		line     *regexp.Regexp
		prefixes []string
		least    int
	}{
		{"../api/routes.go", tableLine, []string{"/v1", "/console/api/v1"}, 60},
		{"../console/api/routes.go", tableLine, []string{"/console/api"}, 40},
		{"../gateway/gateway.go", gatewayLine, []string{"/graph"}, 14},
		{"../simulator/control.go", controlLine, []string{"/console/api/sim"}, 30},
	} {
		text, err := os.ReadFile(table.file)
		if err != nil {
			t.Fatal(err)
		}
		lines := table.line.FindAllStringSubmatch(string(text), -1)
		if len(lines) < table.least {
			t.Fatalf("only %d routes were found in %s", len(lines), table.file)
		}
		for _, prefix := range table.prefixes {
			for _, line := range lines {
				all = append(all, entry{line[1], prefix + line[2]})
			}
		}
	}
	return all
}

// others are addresses outside of the tables.
var otherAddresses = []entry{
	{"GET", "/"}, {"GET", "/console"}, {"GET", "/console/"}, {"GET", "/console/sign-in"}, {"POST", "/console/sign-in"}, {"GET", "/console/sign-out"},
	{"GET", "/console/inbox"}, {"GET", "/console/inbox/:conversations"}, {"GET", "/console/contacts/:contacts"}, {"GET", "/console/trace/:messages"},
	{"GET", "/console/settings/keys"}, {"GET", "/console/phone"}, {"GET", "/console/welcome/none"}, {"POST", "/console/welcome/none"},
	{"GET", "/console/assets/none"}, {"GET", "/docs"}, {"GET", "/docs/none"}, {"GET", "/onboard/:setup_links"}, {"POST", "/onboard/:setup_links"},
	{"GET", "/media/:media"}, {"GET", "/media/none/a.png"}, {"GET", "/provider/webhook"}, {"POST", "/provider/webhook"}, {"GET", "/metrics"},
	{"GET", "/livez"}, {"GET", "/readyz"}, {"POST", "/readyz"}, {"GET", "/_sim/messages"}, {"GET", "/_phone/"}, {"GET", "/mcp"}, {"POST", "/mcp"}, {"DELETE", "/mcp"},
	{"POST", datadir.CommandRefresh}, {"POST", datadir.CommandFlush}, {"POST", datadir.CommandAddress}, {"POST", datadir.CommandPurge},
	{"GET", datadir.CommandEvents}, {"POST", "/jobs/1/cancel"}, {"GET", "/api/:organization/v1/labels"},
}

// placeholder finds the placeholder of an id, as tables write it and as others do.
var placeholder = regexp.MustCompile(`:[a-z_]+|\{[a-z_]+\}`)

// fillIn puts the besieged organization's ids into a path. number is in the place of the
// phone number, if it is not "".
func (b *besieged) fillIn(path, number string) (filled string, foreign bool) {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if !placeholder.MatchString(segment) {
			continue
		}
		switch id, known := b.ids[segments[i-1]]; {
		case segment == ":phone_number_id" && number != "" && segments[i-1] != "whatsapp_accounts":
			segments[i] = number
			continue
		case segment == ":phone_number_id":
			segments[i] = b.number
		case segment == ":organization":
			segments[i] = b.state["organization_id"].(string)
		case b.ids[strings.Trim(segment, ":")] != "":
			segments[i] = b.ids[strings.Trim(segment, ":")]
		case known:
			segments[i] = id
		case strings.HasPrefix(path, "/console/api/sim/"):
			segments[i] = "15557770000"
		default:
			b.t.Fatalf("%s: fill must make something for %s/%s", path, segments[i-1], segment)
		}
		foreign = true
	}
	return strings.Join(segments, "/"), foreign
}

// greedy is a body with every field that could name something of others.
func (b *besieged) greedy() string {
	text, _ := json.Marshal(map[string]any{
		"name": "x", "text": map[string]any{"body": "x"}, "messaging_product": "chat", "type": "text", "to": "+15557770000", "status": "open",
		"label_ids": []string{b.ids["labels"]}, "label_id": b.ids["labels"], "contact_ids": []string{b.ids["contacts"]}, "assigned_to": b.ids["people"],
		"audience": map[string]any{"contact_ids": []string{b.ids["contacts"]}}, "conversation_id": b.ids["conversations"], "phone_number_id": b.number,
		"customer_id": b.ids["customers"], "context": map[string]any{"message_id": b.ids["messages"]}, "ids": []string{b.ids["webhook_deliveries"]},
	})
	return string(text)
}

// Strangers learn nothing and break nothing, no matter what address they
// try: every line of every table, with the ids of the organization that they are after,
// under its number and under their own.
func TestStrangersLearnNothingAtAnyAddress(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	b := besiege(t)
	visitors := b.strangers()
	before := b.shown()
	own, err := b.ask(b.admin, "GET", "/console/api/v1/labels", "")
	is.NoErr(err)
	is.True(b.wrong(own) != "") // what only they may see is noticed
	tried := 0
	for _, who := range visitors {
		for _, e := range append(everyEntry(t), otherAddresses...) {
			tried += b.tryEntry(t, who, e)
		}
		b.tryTools(t, who)
		t.Logf("%s: %d requests so far, the server has had %d MB at the most", who.name, tried, b.peak())
		is.True(b.peak() <= memoryLimit)
	}
	is.True(tried >= 1500)
	is.Equal(b.shown(), before) // nothing of theirs was changed
	for _, who := range visitors[1:] {
		path := map[bool]string{true: "/v1/me", false: "/console/api/v1/me"}[strings.HasPrefix(who.header[0], "Authorization")]
		got, err := b.ask(who, "GET", path, "")
		is.NoErr(err)
		is.Equal(got.status, 200) // they were who they said to the end
	}
}

// tryEntry lets a visitor try one address, and returns how many requests that took.
func (b *besieged) tryEntry(t *testing.T, who visitor, e entry) (tried int) {
	t.Helper()
	numbers := []string{""}
	if strings.Count(e.path, "/:") > 1 && strings.Contains(e.path, "/:phone_number_id/") {
		numbers = append(numbers, who.number) // their own, with an id of others below it
	}
	for _, number := range numbers {
		path, foreign := b.fillIn(e.path, number)
		if strings.HasSuffix(path, "/events/stream") {
			path += "?wait=0&after=oldest"
		}
		for _, body := range []string{"{}", b.greedy()} {
			got, err := b.ask(who, e.method, path, body)
			tried++
			switch {
			case err != nil:
				t.Errorf("%s: %s %s: %v", who.name, e.method, path, err)
			case b.wrong(got) != "":
				t.Errorf("%s: %s %s -> %s", who.name, e.method, path, b.wrong(got))
			case foreign && strings.Contains(path, "/v1/") && !slices.Contains([]int{401, 403, 404}, got.status):
				t.Errorf("%s: %s %s -> %d %.300s", who.name, e.method, path, got.status, got.text)
			case foreign && strings.HasPrefix(path, "/graph/") && !slices.Contains([]int{400, 401}, got.status): // as the provider answers
				t.Errorf("%s: %s %s -> %d %.300s", who.name, e.method, path, got.status, got.text)
			case strings.HasPrefix(path, "/console/api/sim/") && got.status != 401 && got.status != 403:
				t.Errorf("%s plays the provider: %s %s -> %d", who.name, e.method, path, got.status)
			}
		}
	}
	return tried
}

// tryTools lets a visitor call every tool for agents with ids of others.
func (b *besieged) tryTools(t *testing.T, who visitor) {
	t.Helper()
	for _, tool := range append(slices.Clone(readingTools), writingTools...) {
		arguments, err := json.Marshal(map[string]any{
			"phone_number_id": b.number, "conversation_id": b.ids["conversations"], "contact_id": b.ids["contacts"], "query": "text", "text": "x",
			"label_id": b.ids["labels"], "user_id": b.ids["people"], "delivery_id": b.ids["webhook_deliveries"], "idempotency_key": "k" + tool,
			"subscription_id": b.ids["webhook_subscriptions"], "template": "x", "language": "en",
		})
		if err != nil {
			t.Fatal(err)
		}
		call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
		got, err := b.ask(who, "POST", "/mcp", call, "Accept: application/json, text/event-stream")
		if err != nil || b.wrong(got) != "" {
			t.Errorf("%s: %s: %v %s", who.name, tool, err, b.wrong(got))
		}
	}
}

// shown is what the organization has, as far as only people change it.
func (b *besieged) shown() (all []string) {
	b.t.Helper()
	withoutID := regexp.MustCompile(`"request_id":"[^"]*"`)
	for _, path := range []string{"labels", "quick_replies", "rules", "customers", b.number + "/hours", b.number + "/opt_out", b.number + "/contacts", b.number + "/broadcasts", b.number + "/messages"} {
		text := b.must("GET", "/console/api/v1/"+path+"?limit=100", "", b.admin.header...)
		all = append(all, regexp.MustCompile(`"(status|sent_at|error|updated_at|delivered_at|read_at)":[^,}]*`).ReplaceAllString(withoutID.ReplaceAllString(text, ""), ""))
	}
	return all
}

// With any request, at any address of console and API and from anyone, nothing
// fails here, no answer has another's data, and memory stays within its limit.
// -mutated 10000 sends more of them.
func TestMutatedRequestsBreakNothing(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	b := besiege(t)
	ownKey := visitor{name: b.admin.name, header: []string{"Authorization: Bearer " + b.state["api_key"].(string)}}
	visitors, entries := append(b.strangers(), b.admin, ownKey), append(everyEntry(t), otherAddresses...)
	statuses := make(map[int]int)
	var mu sync.Mutex
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for n := worker; n < *mutated; n += 8 {
				m := newMutator(uint64(n))
				who, e := visitors[m.IntN(len(visitors))], entries[m.IntN(len(entries))]
				for m.IntN(4) > 0 && !who.fits(e) { // mostly somebody who is let in
					who = visitors[m.IntN(len(visitors))]
				}
				got, request, err := b.tryMutated(m, who, e)
				mu.Lock()
				statuses[got.status]++
				mu.Unlock()
				own := who.name == b.admin.name
				if what := b.wrong(got); err == nil && what != "" && !(own && got.status < 500) {
					t.Errorf("%d, %s: %.700s -> %s", n, who.name, request, what)
				}
			}
		})
	}
	all.Wait()

	t.Logf("%d requests: %v; the server has had %d MB at the most", *mutated, statuses, b.peak())
	is.True(b.peak() <= memoryLimit)
	is.True(statuses[0] < *mutated/10)                         // without an answer, because a large body was refused before its end
	is.True(statuses[200] > 0 && statuses[400] > 0)            // some got through, and some were read
	is.Equal(ask(t, "GET", b.base+"/readyz", nil).status, 200) // and it is well
	b.must("GET", "/v1/me", "", "Authorization: Bearer "+b.state["api_key"].(string))
}

// fits reports whether a visitor has what an address asks for: a session, or a key.
func (who visitor) fits(e entry) bool {
	kind := map[bool]string{true: "Cookie", false: "Authorization"}[strings.HasPrefix(e.path, "/console")]
	return strings.HasPrefix(who.header[0], kind)
}

// tryMutated sends one mutated request, and returns it in words too.
func (b *besieged) tryMutated(m mutator, who visitor, e entry) (got outcome, request string, err error) {
	path, _ := b.fillIn(e.path, []string{"", who.number}[m.IntN(2)])
	if who.name == b.admin.name && (e.method == "DELETE" || strings.Contains(path, "disable") || strings.Contains(path, "sign") || strings.Contains(path, "/sim/")) {
		path = "/console/api/v1/me" // what ends the siege is left out
	}
	path = m.path(path) + "?" + m.query()
	if strings.Contains(path, "stream") {
		path += "&wait=0"
	}
	method := e.method
	if m.IntN(20) == 0 {
		method = []string{"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "BREW"}[m.IntN(9)]
	}
	body, header := m.body(b.greedy()), m.header(who)
	got, err = b.ask(who, method, path, body, header...)
	return got, fmt.Sprintf("%s %s %q %q", method, path, header, body), err
}

func newMutator(seed uint64) mutator { return mutator{rand.New(rand.NewPCG(seed, 24))} }
