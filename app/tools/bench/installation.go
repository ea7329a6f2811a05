package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"confab/app/tools/rig"
	"confab/jobs/webhook"
	"confab/storage"
)

// unlimitedSettings switches off the limits that would cap a measurement.
var unlimitedSettings = []string{
	"CONFAB_LOG__LEVEL=error",
	"CONFAB_PLANS__SELF_HOSTED__RATE_PER_SECOND=0",
	"CONFAB_PROVIDER__MESSAGES_PER_SECOND=0", "CONFAB_PROVIDER__PAIR_LIMIT=false",
	"CONFAB_SERVER__MAX_STREAMS=1000",
	"CONFAB_GATEWAY__ENABLED=true", "CONFAB_GATEWAY__WAIT=100s",
	"CONFAB_SECURITY__ALLOW_INSECURE_URLS=true", "CONFAB_SECURITY__ALLOW_CIDRS=127.0.0.0/8",
}

// server is confab in a process of its own, with an organization that has the number of
// the simulator.
type server struct {
	*rig.Server
	org     string
	api     rig.Client
	number  string
	account storage.Account // of the number
	past    history
	db      *storage.DB // to look into it

	// Counts of requests so far: sends, messages in callbacks, and reads.
	sent, received, read atomic.Int64
}

// startServer stores messages and starts a server on them, which has a number of the provider. change,
// unless it is nil, does something with the server before it starts.
func (b *bench) startServer(address string, provider *rig.Simulator, messages int, change func(*server)) *server {
	s := &server{
		Server: &rig.Server{
			Program: b.confab,
			Dir:     rig.Must(os.MkdirTemp(b.dir, "server-*")),
			Address: address,
			Env:     append(provider.Settings(), unlimitedSettings...),
			Log:     os.Stderr,
		},
		number: provider.PhoneNumberID,
		api:    rig.Client{Base: "http://" + address + "/v1"},
	}
	s.org, s.api.Key = s.NewOrganization("Bench")
	s.ConnectNumber(s.org, s.number, provider.WABAID, provider.AccessToken)

	// The database is closed before the server starts, which folds its log into its file.
	s.db = b.openDatabase(s.Dir)
	s.account = view(s.db, func(rx *storage.Rx) (storage.Account, error) { return rx.AccountByNumber(s.number) })
	s.past = prefill(s.db, s.account.ID, messages)
	if change != nil {
		change(s)
	}
	rig.Check(s.db.Close())

	s.Start()
	s.db = b.openDatabase(s.Dir)
	rig.Cleanup(func() { s.db.Close() })
	return s
}

// startSibling starts a second server on the provider of the first, as startServer does.
func (b *bench) startSibling(o *installation, messages int, change func(*server)) *server {
	return b.startServer(rig.Must(rig.FreeAddress()), o.provider, messages, change)
}

func (b *bench) openDatabase(dir string) *storage.DB {
	return rig.Must(storage.Open(storage.Options{
		Path:        storage.DatabaseFile(dir),
		Schema:      b.schema,
		MasterKey:   rig.Must(storage.LoadMasterKey(dir, "")),
		Synchronous: "normal",
		Readers:     1,
		SkipCheck:   true,
		Served:      true,
	}))
}

func (s *server) awaitSent() {
	pollDatabase(s.db, time.Millisecond, func(rx *storage.Rx) (bool, error) {
		left, err := rx.Jobs(storage.JobFilter{Kind: "send", Limit: 1})
		return len(left) == 0, err
	})
}

func (b *bench) setCallbacks(p *rig.Simulator, on bool) {
	when := `"sent_ms":null,"delivered_ms":null`
	b.table.callbacks = "off"
	if on {
		when = `"sent_ms":50,"delivered_ms":200`
		b.table.callbacks = "on"
	}
	p.Call("PATCH", "/_sim/settings", `{`+rig.Uncapped+`,"auto_read":false,`+when+`}`, nil)
}

// installation is a server with a simulator of the provider and a receiver of webhooks,
// each in a process of its own.
type installation struct {
	*server
	provider *rig.Simulator
	receiver *rig.Counter
}

// openInstallation starts an installation in which messages are stored already. The simulator does
// not report about sent messages.
func (b *bench) openInstallation(messages int) *installation {
	address := rig.Must(rig.FreeAddress())
	provider := b.confab.StartSimulator(rig.Must(os.MkdirTemp(b.dir, "provider-*")), "http://"+address+"/provider/webhook", io.Discard)
	b.setCallbacks(provider, false)
	return &installation{b.startServer(address, provider, messages, nil), provider, b.self.StartCounter()}
}

func (o *installation) processes() []process {
	return []process{
		o.serverProcess(), {name: "provider", used: o.provider.CPUTime}, {name: "receiver", used: o.receiver.CPUTime},
		ownProcess(loadGenerator),
	}
}

func (s *server) serverProcess() process {
	return process{name: "server", used: func() time.Duration { return s.CPUTime() }}
}

func (s *server) request(method, path, body string) []byte {
	return formatRequest(s.Address, method, path, body, "Authorization: Bearer "+s.api.Key)
}

func formatRequest(host, method, path, body string, headers ...string) []byte {
	request := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n", method, path, host)
	for _, line := range headers {
		request = append(request, line+"\r\n"...)
	}
	return fmt.Appendf(request, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

func (s *server) messages() string { return "/" + s.number + "/messages" }

// message returns a request to send a message to the next person.
func (s *server) message() []byte { return s.messageTo(s.sent.Add(1)) }

func (s *server) messageTo(n int64) []byte {
	return s.request("POST", "/v1"+s.messages(), textTo(personPhone(n)))
}

func textTo(phone string) string {
	return `{"messaging_product":"chat","to":"` + phone + `","type":"text","text":{"body":"` + rig.TimestampedText() + `"}}`
}

// callback returns a signed callback of the provider with a message of the next person.
func (o *installation) callback() []byte { return o.callbackOf(o.received.Add(1)) }

// callbackOf returns a signed callback of the provider with a message of the nth person.
func (o *installation) callbackOf(n int64) []byte {
	from := personPhone(n)[1:]
	contact := fmt.Sprintf(`{"profile":{"name":"Person %d"},"wa_id":%q,"user_id":"US.77%s"}`, n%int64(people), from, from)
	message := fmt.Sprintf(`{"from":%q,"from_user_id":"US.77%s","id":"wamid.HBgLMTU1NTAwMDExMTEVAgASGBQz%d",`+
		`"timestamp":"%d","text":{"body":%q},"type":"text"}`, from, from, n, time.Now().Unix(), rig.TimestampedText())
	body := fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":%q,"changes":[{"value":{"messaging_product":"whatsapp",`+
		`"metadata":{"display_phone_number":%q,"phone_number_id":%q},"contacts":[%s],"messages":[%s]},"field":"messages"}]}]}`,
		o.provider.WABAID, strings.TrimPrefix(o.provider.PhoneNumber, "+"), o.provider.PhoneNumberID, contact, message)

	return formatRequest(o.Address, "POST", "/provider/webhook", body,
		"X-Hub-Signature-256: "+webhook.SignNative([]byte(body), o.provider.AppSecret))
}

func (s *server) create(path, body string) string {
	var made struct{ Data struct{ ID string } }
	s.api.Call("POST", path, body, &made)
	return made.Data.ID
}

func (o *installation) subscribe(path, event string) (id string) {
	return o.create("/webhook_subscriptions", fmt.Sprintf(`{"url":%q,"events":[%q]}`, o.receiver.URL+path, event))
}

func (o *installation) setStatus(subscription, status string) {
	o.api.Call("PATCH", "/webhook_subscriptions/"+subscription, fmt.Sprintf(`{"status":%q}`, status), nil)
}
