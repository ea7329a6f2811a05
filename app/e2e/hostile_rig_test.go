package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var besiegedBinary = flag.String("besieged", "", "absolute path of a confab to try strangers on, and to measure; this code by default")

// besieged is a whole sandbox in a process of its own, with an organization that has
// one of everything, twice: ids of the first are what strangers try, those of the
// second and the texts of both are in no request, so that having them means a leak.
type besieged struct {
	t         testing.TB
	base      string
	simulator string
	dir       string
	pid       int
	state     map[string]any    // sandbox.json
	number    string            // phone_number_id
	admin     visitor           // the organization's own
	ids       map[string]string // by the path segment before them
	secrets   []string
}

// visitor is somebody with what identifies them, as header lines.
type visitor struct {
	name   string
	header []string
	number string // phone_number_id of their own, or ""
}

const sekrit = "sekrit" // begins every text of the besieged organization

// besiege starts the sandbox and fills it.
func besiege(t testing.TB) *besieged {
	t.Helper()
	b := &besieged{t: t, dir: filepath.Join(t.TempDir(), "confab-sandbox"), ids: make(map[string]string)}
	listen, simulator := freeAddress(t), freeAddress(t)
	cmd := confab(t, "sandbox", "--data-dir", b.dir, "--listen", listen, "--simulator-listen", simulator)
	if *besiegedBinary != "" {
		cmd.Path = *besiegedBinary
	}
	b.base, b.simulator = "http://"+listen, "http://"+simulator
	startSandbox(t, filepath.Dir(b.dir), cmd)
	b.pid = cmd.Process.Pid

	text, err := os.ReadFile(filepath.Join(b.dir, "sandbox.json"))
	if err == nil {
		err = json.Unmarshal(text, &b.state)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.number = b.state["phone_number_id"].(string)
	b.admin = visitor{name: "their own admin", header: b.visitSandbox()}
	for n := range 2 {
		b.fill(n)
	}
	b.collect()
	return b
}

// visitSandbox is signed in by opening the console, as on one's own machine.
func (b *besieged) visitSandbox() []string {
	got := ask(b.t, "GET", b.base+"/console/inbox", nil, "Sec-Fetch-Site: none")
	return sessionLines(b.t, got.header)
}

// sessionLines are the headers of a browser that got these cookies.
func sessionLines(t testing.TB, header http.Header) []string {
	t.Helper()
	var pairs []string
	for _, c := range (&http.Response{Header: header}).Cookies() {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	if len(pairs) == 0 {
		t.Fatal("nobody was signed in")
	}
	return []string{"Cookie: " + strings.Join(pairs, "; "), "Sec-Fetch-Site: same-origin"}
}

// api calls the API for the besieged organization, which must work, and returns data.
func (b *besieged) api(method, path, body string, header ...string) map[string]any {
	b.t.Helper()
	var answer struct{ Data map[string]any }
	text := b.must(method, "/v1"+path, body, append(header, "Authorization: Bearer "+b.state["api_key"].(string))...)
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		b.t.Fatal(err)
	}
	return answer.Data
}

func (b *besieged) must(method, path, body string, header ...string) string {
	b.t.Helper()
	got := askWith(b.t, method, b.base+path, body, header...)
	if got.status >= 300 {
		b.t.Fatalf("%s %s: %d %s", method, path, got.status, got.body)
	}
	return got.body
}

// fill makes one of everything, for the n-th time.
func (b *besieged) fill(n int) {
	b.t.Helper()
	text := func(format string) string {
		return strings.NewReplacer("#", strconv.Itoa(n), "$", sekrit).Replace(format)
	}
	post := func(path, body string) string {
		b.t.Helper()
		id, _ := b.api("POST", path, text(body))["id"].(string)
		return id
	}
	number := "/" + b.number

	post("/labels", `{"name":"$ label #"}`)
	post("/quick_replies", `{"shortcut":"$#","text":"$ reply #"}`)
	post("/views", `{"name":"$ view #"}`)
	post("/rules", `{"name":"$ rule #","on":"message_received","then":[{"note":"$ rule's note #"}]}`)
	customer := post("/customers", `{"name":"$ customer #"}`)
	link := b.api("POST", "/customers/"+customer+"/setup_links", "{}")
	hook := post("/webhook_subscriptions", `{"url":"http://127.0.0.1:9/$-#","events":["*"]}`)
	post("/webhook_subscriptions/"+hook+"/test", "")
	contact := post(number+"/contacts", `{"phone_number":"+1555777000#","name":"$ person #"}`)
	post(number+"/messages", `{"messaging_product":"chat","to":"+1555777000#","type":"text","text":{"body":"$ text #"}}`)
	post(number+"/templates", `{"name":"$_template_#","language":"en_US","category":"UTILITY","components":[{"type":"BODY","text":"$ words #"}]}`)
	post(number+"/broadcasts", `{"name":"$ broadcast #","scheduled_at":"`+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+`",
		"template":{"name":"hello_world","language":"en_US"},"audience":{"contact_ids":["`+contact+`"]}}`)
	b.must("POST", "/graph"+number+"/messages", text(`{"messaging_product":"whatsapp","to":"1555777000#","type":"text","text":{"body":"$ native #"}}`),
		"Authorization: Bearer "+b.state["api_key"].(string))
	run(b.t, "trigger", "inbound", "--from", text("1555777000#"), "--text", text("$ answer #"), "--data-dir", b.dir)
	media := b.upload(number+"/media", "file", text("$-#.txt"), text("$ file #"))
	imported := b.upload(number+"/contact_imports", "file", "people.csv", text("phone_number,name\n+1555888000#,$ import #\n"))
	run(b.t, "users", "invite", "--org", b.state["organization_id"].(string), "--name", text("$ colleague #"),
		"--email", text("$#@example.com"), "--data-dir", b.dir)

	if n == 0 {
		b.ids["customers"], b.ids["setup_links"] = customer, link["id"].(string)
		b.ids["media"], b.ids["contact_imports"] = media, imported
		return
	}
	b.secrets = append(b.secrets, customer, link["id"].(string), media, imported)
}

// upload posts a file as a form and returns the id of what came of it.
func (b *besieged) upload(path, field, name, content string) string {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile(field, name)
	if err == nil {
		_, err = io.WriteString(part, content)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return b.api("POST", path, body.String(), "Content-Type: "+form.FormDataContentType())["id"].(string)
}

// collect reads every list as the organization's admin: the first of each is what
// strangers try, the others are secret.
func (b *besieged) collect() {
	b.t.Helper()
	number := b.number
	for segment, path := range map[string]string{
		"labels": "v1/labels", "quick_replies": "v1/quick_replies", "views": "v1/views", "rules": "v1/rules", "webhook_subscriptions": "v1/webhook_subscriptions",
		"webhook_deliveries": "v1/webhook_deliveries", "events": "v1/events", "messages": "v1/" + number + "/messages",
		"conversations": "v1/" + number + "/conversations", "contacts": "v1/" + number + "/contacts",
		"broadcasts": "v1/" + number + "/broadcasts", "templates": "v1/" + number + "/templates",
		"people": "people", "teams": "teams", "keys": "keys", "sessions": "sessions", "log": "log", "jobs": "jobs",
	} {
		var list struct{ Data []map[string]any }
		text := b.must("GET", "/console/api/"+path, "", b.admin.header...)
		if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Data) == 0 {
			b.t.Fatalf("%s: %v %s", path, err, text)
		}
		for i, one := range list.Data {
			id := fmt.Sprint(cmp.Or(one["id"], one["request_id"]))
			switch {
			case i == 0:
				b.ids[segment] = id
			case len(id) > 12: // a job has a small number, which may be anywhere
				b.secrets = append(b.secrets, id)
			}
		}
	}

	b.ids[""], b.ids["whatsapp_accounts"], b.ids["graph"], b.ids["trace"] = number, number, number, b.ids["messages"]
	b.ids["message_templates"] = b.ids["templates"]
	b.ids["secrets"], b.ids["passkeys"] = "sec_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "psk_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"
	note := b.api("POST", "/"+number+"/conversations/"+b.ids["conversations"]+"/notes", `{"text":"`+sekrit+` note"}`)
	b.ids["notes"] = note["id"].(string)
	b.secrets = append(b.secrets, sekrit, b.state["api_key"].(string), b.state["access_token"].(string), b.state["app_secret"].(string))
}

// strangers are those who have no business there: no one signed in, and people and a key of
// another organization that has a number of its own.
func (b *besieged) strangers() []visitor {
	b.t.Helper()
	org := run(b.t, "orgs", "create", "Others", "--data-dir", b.dir)
	key := run(b.t, "keys", "create", "--org", org, "--data-dir", b.dir)
	var number struct {
		ID   string `json:"phone_number_id"`
		WABA string `json:"waba_id"`
	}
	if err := json.Unmarshal([]byte(run(b.t, "trigger", "numbers", "--add", "--name", "Others", "--json", "--data-dir", b.dir)), &number); err != nil {
		b.t.Fatal(err)
	}
	connect := confab(b.t, "accounts", "connect", "--org", org, "--phone-number-id", number.ID, "--waba-id", number.WABA,
		"--access-token", b.state["access_token"].(string), "--data-dir", b.dir)
	connect.Env = append(connect.Env, "CONFAB_PROVIDER__BASE_URL="+b.simulator, "CONFAB_PROVIDER__APP_ID="+b.state["app_id"].(string),
		"CONFAB_PROVIDER__APP_SECRET="+b.state["app_secret"].(string))
	if out, err := connect.CombinedOutput(); err != nil {
		b.t.Fatalf("%v: %s", err, out)
	}

	all := []visitor{
		{name: "a stranger without a key", header: []string{"X-Forwarded-For: 203.0.113.9"}}, // not of this machine
		{name: "a key of others", header: []string{"Authorization: Bearer " + key}},
	}
	for _, role := range []string{"agent", "admin"} {
		link := run(b.t, "users", "invite", "--org", org, "--name", "Eve", "--email", role+"@others.example", "--role", role, "--data-dir", b.dir)
		welcome, err := url.Parse(link)
		if err != nil {
			b.t.Fatal(err)
		}
		joined := ask(b.t, "POST", b.base+welcome.Path, url.Values{"name": {"Eve"}, "password": {goodPassword}}, "Sec-Fetch-Site: same-origin")
		all = append(all, visitor{name: "an " + role + " of others", header: sessionLines(b.t, joined.header)})
	}
	for i := range all {
		all[i].number = number.ID
	}
	return all
}

// outcome is what came back; text is as much of it as a stream sends at once.
type outcome struct {
	status int
	text   string
}

// ask sends what a visitor sends, and reads the beginning of a stream.
func (b *besieged) ask(who visitor, method, path, body string, header ...string) (outcome, error) {
	for {
		got, err := b.askOnce(who, method, path, body, header...)
		if err != nil || got.status != http.StatusTooManyRequests || !strings.HasPrefix(path, "/console/api/") {
			return got, err
		}
		time.Sleep(20 * time.Millisecond) // people may ask 50 times a second
	}
}

func (b *besieged) askOnce(who visitor, method, path, body string, header ...string) (outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, b.base+path, strings.NewReader(body))
	if err != nil {
		return outcome{}, err
	}
	for _, line := range append(append([]string{"Content-Type: application/json"}, who.header...), header...) {
		name, value, _ := strings.Cut(line, ": ")
		if req.Header.Set(name, value); name == "Host" {
			req.Host = value
		}
	}

	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return outcome{}, err
	}
	defer res.Body.Close()
	if kind := res.Header.Get("Content-Type"); res.StatusCode == 200 && (strings.Contains(kind, "event-stream") || strings.Contains(kind, "ndjson")) {
		first := make([]byte, 64<<10)
		n, _ := res.Body.Read(first)
		return outcome{res.StatusCode, string(first[:n])}, nil
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, 8<<20))
	return outcome{res.StatusCode, fmt.Sprint(res.Header) + string(text)}, err
}

// wrong says why an answer to a stranger is wrong: it failed here, or it says
// what they cannot know.
func (b *besieged) wrong(got outcome) string {
	if got.status >= 500 && got.status != http.StatusNotImplemented && // which only the gateway answers
		!strings.Contains(got.text, "whatsapp_upstream_error") {
		return fmt.Sprintf("%d %.600s", got.status, got.text)
	}
	for _, secret := range b.secrets {
		if strings.Contains(got.text, secret) {
			return fmt.Sprintf("%d tells %s: %.600s", got.status, secret, got.text)
		}
	}
	return ""
}

// peak is the most memory that the process has had, in MB; 0 where it is not known.
func (b *besieged) peak() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.pid))
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if err != nil || found == nil {
		return 0
	}
	kb, _ := strconv.Atoi(string(found[1]))
	return kb >> 10
}
