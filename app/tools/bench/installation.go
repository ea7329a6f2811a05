package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

// unlimitedSettings switches off the limits that would cap a measurement.
var unlimitedSettings = []string{
	"CONFAB_LOG__LEVEL=error",
	"CONFAB_PLANS__SELF_HOSTED__RATE_PER_SECOND=0",
	"CONFAB_PROVIDER__MESSAGES_PER_SECOND=0", "CONFAB_PROVIDER__PAIR_LIMIT=false",
	"CONFAB_SERVER__MAX_STREAMS=1000",
	"CONFAB_SECURITY__ALLOW_INSECURE_URLS=true", "CONFAB_SECURITY__ALLOW_CIDRS=127.0.0.0/8",
}

// server is confab in a process of its own, with an organization that has the number of
// the simulator.
type server struct {
	*rig.Server
	key    string
	number string
}

// newServer prepares a server and does not start it yet.
func (b *bench) newServer(address string, provider *rig.Simulator) (*server, error) {
	dir, err := os.MkdirTemp(b.dir, "server-*")
	if err != nil {
		return nil, err
	}

	s := &server{
		Server: &rig.Server{Program: b.confab, Dir: dir, Address: address, Env: append(provider.Settings(), unlimitedSettings...)},
		number: provider.PhoneNumberID,
	}

	org, err := s.Command("orgs", "create", "Bench")
	if err != nil {
		return nil, err
	}
	if s.key, err = s.Command("keys", "create", "--org", org); err != nil {
		return nil, err
	}

	_, err = s.Command("accounts", "connect", "--org", org, "--phone-number-id", provider.PhoneNumberID,
		"--waba-id", provider.WABAID, "--access-token", provider.AccessToken)
	return s, err
}

// open opens the database of the server, which may run.
func (b *bench) open(s *server) (*storage.DB, error) {
	key, err := storage.LoadMasterKey(s.Dir, "")
	if err != nil {
		return nil, err
	}
	return storage.Open(storage.Options{
		Path:        storage.DatabaseFile(s.Dir),
		Schema:      b.schema,
		MasterKey:   key,
		Synchronous: "normal",
		Readers:     1,
		SkipCheck:   true,
		KeepVersion: true,
	})
}

// prefill stores old messages in the database of the server, which must not run yet.
func (b *bench) prefill(ctx context.Context, s *server, messages int) (history, error) {
	db, err := b.open(s)
	if err != nil {
		return history{}, err
	}
	h, err := prefill(ctx, db, s.number, messages)
	return h, errors.Join(err, db.Close())
}

// startProvider runs the simulator, without callbacks about sent messages.
func (b *bench) startProvider(server string) (*rig.Simulator, error) {
	dir, err := os.MkdirTemp(b.dir, "provider-*")
	if err != nil {
		return nil, err
	}

	p, err := b.confab.StartSimulator(dir, "http://"+server+"/provider/webhook", io.Discard)
	if err == nil {
		err = setCallbacks(p, callbacksOff)
	}
	if err == nil {
		return p, nil
	}
	if p != nil {
		p.Kill()
	}
	return nil, err
}

// setCallbacks switches on or off whether the simulator reports sent and delivered.
func setCallbacks(p *rig.Simulator, c callbacks) error {
	when := `"sent_ms":null,"delivered_ms":null`
	if c == callbacksOn {
		when = `"sent_ms":50,"delivered_ms":200`
	}
	return p.Call("PATCH", "/_sim/settings", `{`+rig.Uncapped+`,"auto_read":false,`+when+`}`, nil)
}

// installation is a server with a simulator of the provider and a receiver of webhooks,
// each in a process of its own.
type installation struct {
	*server
	provider *rig.Simulator
	receiver *rig.Receiver
	db       *storage.DB // the server's database, to look into it
}

// openInstallation starts an installation in which messages are stored already.
func (b *bench) openInstallation(ctx context.Context, messages int) (*installation, history, error) {
	o := &installation{}

	h, err := b.startParts(ctx, o, messages)
	if err != nil {
		o.close()
		return nil, h, err
	}
	return o, h, nil
}

// startParts starts the processes. If one fails, those before it run and must be closed.
func (b *bench) startParts(ctx context.Context, o *installation, messages int) (h history, err error) {
	address, err := rig.FreeAddress()
	if err != nil {
		return h, err
	}

	if o.provider, err = b.startProvider(address); err != nil {
		return h, err
	}
	if o.receiver, err = b.self.StartReceiver(); err != nil {
		return h, err
	}

	if o.server, err = b.newServer(address, o.provider); err != nil {
		return h, err
	}
	if h, err = b.prefill(ctx, o.server, messages); err != nil {
		return h, err
	}

	if err = o.Start(); err != nil {
		return h, err
	}
	o.db, err = b.open(o.server)
	return h, err
}

func (o *installation) close() {
	if o.db != nil {
		o.db.Close()
	}

	if o.server != nil {
		o.Kill()
		os.RemoveAll(o.Dir)
	}
	if o.receiver != nil {
		o.receiver.Kill()
	}
	if o.provider != nil {
		o.provider.Kill()
	}
}

// processes returns the processes whose processor time is measured.
func (o *installation) processes() []process {
	return []process{{"server", o.CPUTime}, {"provider", o.provider.CPUTime}, {"receiver", o.receiver.CPUTime}, loadGenerator}
}

// request returns the bytes of a request with the API key of the server.
func (s *server) request(method, path, body string, header ...string) []byte {
	more := ""
	for _, line := range header {
		more += line + "\r\n"
	}
	return fmt.Appendf(nil, "%s /v1%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%sContent-Length: %d\r\n\r\n%s",
		method, path, s.Address, s.key, more, len(body), body)
}

// message returns the nth request to send a message.
func (s *server) message(n int64) []byte {
	return s.request("POST", "/"+s.number+"/messages",
		`{"messaging_product":"chat","to":"`+personPhone(n)+`","type":"text","text":{"body":"`+rig.TimestampedText()+`"}}`)
}

// callback returns a signed callback of the provider with the last each messages of
// people up to the nth.
func (o *installation) callback(n int64, each int) []byte {
	var contacts, messages strings.Builder

	now := time.Now().Unix()
	for i := n - int64(each) + 1; i <= n; i++ {
		if contacts.Len() > 0 {
			contacts.WriteByte(',')
			messages.WriteByte(',')
		}

		from := personPhone(i)[1:]
		fmt.Fprintf(&contacts, `{"profile":{"name":"Person %d"},"wa_id":%q,"user_id":"US.77%s"}`, i%people, from, from)
		fmt.Fprintf(&messages, `{"from":%q,"from_user_id":"US.77%s","id":"wamid.HBgLMTU1NTAwMDExMTEVAgASGBQz%d",`+
			`"timestamp":"%d","text":{"body":%q},"type":"text"}`, from, from, i, now, rig.TimestampedText())
	}

	body := fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":%q,"changes":[{"value":{"messaging_product":"whatsapp",`+
		`"metadata":{"display_phone_number":%q,"phone_number_id":%q},"contacts":[%s],"messages":[%s]},"field":"messages"}]}]}`,
		o.provider.WABAID, strings.TrimPrefix(o.provider.PhoneNumber, "+"), o.provider.PhoneNumberID, contacts.String(), messages.String())

	mac := hmac.New(sha256.New, []byte(o.provider.AppSecret))
	mac.Write([]byte(body))
	return []byte("POST /provider/webhook HTTP/1.1\r\nHost: " + o.Address + "\r\nContent-Type: application/json\r\n" +
		"X-Hub-Signature-256: sha256=" + hex.EncodeToString(mac.Sum(nil)) + "\r\n" +
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// subscribe subscribes a path of the receiver to a type of event.
func (o *installation) subscribe(path, event string) (id string, err error) {
	var made struct {
		Data struct{ ID string }
	}
	err = o.call("POST", "/webhook_subscriptions", fmt.Sprintf(`{"url":%q,"events":[%q]}`, o.receiver.URL+path, event), &made)
	return made.Data.ID, err
}

// setStatus makes a subscription active or paused.
func (o *installation) setStatus(subscription, status string) error {
	return o.call("PATCH", "/webhook_subscriptions/"+subscription, fmt.Sprintf(`{"status":%q}`, status), nil)
}

// call makes one request, which must succeed, and reads its answer unless into is nil.
func (s *server) call(method, path, body string, into any) error {
	return s.client().Call(method, path, body, into)
}

func (s *server) client() rig.Client { return rig.Client{Base: s.URL() + "/v1", Key: s.key} }
