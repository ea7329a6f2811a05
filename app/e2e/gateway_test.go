package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/config"
	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

// withGateway switches the gateway on, with a short wait.
func withGateway(wait time.Duration) func(*config.Config) {
	return func(c *config.Config) { c.Gateway.Enabled, c.Gateway.Wait = true, wait }
}

// graphAnswer is an answer of the gateway.
type graphAnswer struct {
	status int
	header http.Header
	raw    []byte
}

func (a graphAnswer) view() (v struct {
	ID       string
	URL      string
	Success  bool
	Messages []struct{ ID string }
	Contacts []struct {
		Input string
		WaID  string `json:"wa_id"`
	}
	Data  []map[string]any
	Error struct {
		Code        int
		Subcode     int `json:"error_subcode"`
		Message     string
		IsTransient bool              `json:"is_transient"`
		Data        map[string]string `json:"error_data"`
	}
}) {
	json.Unmarshal(a.raw, &v)
	return v
}

// graph makes one call as a client of the provider.
func (s *stage) graph(method, path, body string, headers ...string) graphAnswer {
	s.t.Helper()
	req, err := http.NewRequest(method, s.app.URL()+"/graph"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.tenant.Secret)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		} else {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return graphAnswer{res.StatusCode, res.Header, raw}
}

const graphText = `{"messaging_product":"whatsapp","to":"15550001111","type":"text","text":{"body":"hi"}}`

// simSent are the sends that the provider holds.
func (s *stage) simSent() (sent []struct {
	ID      string
	Request map[string]any
}) {
	s.t.Helper()
	res, err := http.Get(s.simURL + "/_sim/messages")
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var all struct {
		Data []struct {
			ID      string
			Request map[string]any
		}
	}
	if err := json.NewDecoder(res.Body).Decode(&all); err != nil {
		s.t.Fatal(err)
	}
	return all.Data
}

// connectTo connects another number of a business account.
func (s *stage) connectTo(waba string) string {
	s.t.Helper()
	n, err := s.sim.AddNumber(simulator.Number{WABAID: waba})
	if err != nil {
		s.t.Fatal(err)
	}
	s.connectAt(n)
	return n.PhoneNumberID
}

func TestTheGatewaySendsAsTheProviderWould(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, withGateway(5*time.Second))
	number := s.connect()

	var waiting struct{ Data []struct{ ID string } }
	s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	s.read("/"+number+"/conversations?waiting=true", &waiting)
	is.Equal(len(waiting.Data), 1)
	for _, path := range []string{"/" + number + "/messages", "/v24.0/" + number + "/messages"} {
		got := s.graph("POST", path, graphText)
		is.Equal(got.status, 200)
		is.True(strings.HasPrefix(got.view().Messages[0].ID, "wamid."))
		is.Equal(got.view().Contacts[0].WaID, "15550001111")
		is.True(strings.HasPrefix(got.header.Get("X-Request-Id"), "req_"))
	}
	s.read("/"+number+"/conversations?waiting=true", &waiting)
	is.Equal(len(waiting.Data), 0) // it is an answer

	// What we have no name for passes on, and the tag at the provider is ours.
	flow := `{"messaging_product":"whatsapp","recipient_type":"individual","to":"+1 (555) 000-1111","type":"interactive",` +
		`"biz_opaque_callback_data":"order 7","interactive":{"type":"flow","body":{"text":"b"},"action":{"name":"flow","parameters":` +
		`{"flow_message_version":"3","flow_id":"1","flow_cta":"Go","flow_action":"navigate"}}}}`
	got := s.graph("POST", "/"+number+"/messages", flow)
	if got.status != 200 {
		t.Fatalf("%s", got.raw)
	}
	last := s.simSent()[len(s.simSent())-1]
	is.Equal(last.Request["interactive"].(map[string]any)["type"], "flow")
	is.True(strings.HasPrefix(last.Request["biz_opaque_callback_data"].(string), "msg_"))

	var list struct {
		Data []struct{ Type, Source, Status string }
	}
	s.read("/"+number+"/messages?limit=10&direction=outbound", &list)
	is.Equal(len(list.Data), 3)
	for _, m := range list.Data {
		is.Equal(m.Source, "gateway")
	}

	// A refusal is the provider's own.
	got = s.graph("POST", "/"+number+"/messages", strings.Replace(graphText, "15550001111", "1999000131030", 1))
	is.Equal(got.status, 400)
	is.Equal(got.view().Error.Code, 131030)
	is.True(!strings.Contains(string(got.raw), "msg_"))

	// As a form, with the token in it.
	form := url.Values{"messaging_product": {"whatsapp"}, "to": {"15550001111"}, "type": {"text"}, "text": {`{"body":"form"}`}, "access_token": {s.tenant.Secret},
		"biz_opaque_callback_data": {`{"order":7}`}} // a text, though it looks like JSON
	got = s.graph("POST", "/"+number+"/messages", form.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Authorization", "")
	is.Equal(got.status, 200)
	last = s.simSent()[len(s.simSent())-1]
	is.Equal(last.Request["text"].(map[string]any)["body"], "form")
	is.Equal(last.Request["access_token"], nil)

	// A type that we do not know.
	got = s.graph("POST", "/"+number+"/messages?access_token="+s.tenant.Secret, `{"messaging_product":"whatsapp","to":"15550001111","type":"dance","dance":{"a":[1,2]}}`, "Authorization", "")
	is.Equal(got.status, 400) // the simulator knows no such type
	s.read("/"+number+"/messages?type=other", &list)
	is.Equal(len(list.Data), 1)
	is.Equal(list.Data[0].Status, "failed")
}

func TestTheGatewayMapsOurRefusals(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, withGateway(5*time.Second))
	number := s.connect()
	messages := "/" + number + "/messages"

	check := func(got graphAnswer, status, code int, detail string) {
		t.Helper()
		if got.status != status || got.view().Error.Code != code || !strings.HasPrefix(got.view().Error.Data["details"], detail) {
			t.Errorf("%d %s, want %d, %d, %s", got.status, got.raw, status, code, detail)
		}
	}
	check(s.graph("POST", messages, graphText, "Authorization", ""), 401, 190, "missing_api_key")
	check(s.graph("POST", messages, graphText, "Authorization", "Bearer x"), 401, 190, "invalid_api_key")
	got := s.graph("POST", "/999999999999999/messages", graphText)
	check(got, 400, 100, "resource_not_found")
	is.Equal(got.view().Error.Subcode, 33)
	check(s.graph("POST", messages, `{`), 400, 100, "invalid_json")
	check(s.graph("POST", messages, `{"type":"text"}`), 400, 100, "missing_required_field")
	check(s.graph("POST", "/"+number+"/register", `{}`), 501, 1, "not_implemented")
	check(s.graph("GET", "/debug_token", ""), 501, 1, "not_implemented")
	check(s.graph("POST", "/upload:4711", "\x89PNG", "Content-Type", "application/octet-stream"), 501, 1, "not_implemented")
	check(s.graph("PATCH", messages, ""), 501, 1, "not_implemented")
	reader := s.keyWith(storage.Key{Scopes: storage.Strings{"read"}})
	check(s.graph("POST", messages, graphText, "Authorization", "Bearer "+reader), 403, 10, "permission_denied")
	is.Equal(s.graph("GET", "/"+number, "", "Authorization", "Bearer "+reader).status, 200)
	check(s.graph("POST", messages, graphText, "Idempotency-Key", "é"), 400, 100, "invalid_field_value")

	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(number)
		if err != nil {
			return err
		}
		return tx.SetRestricted(a.ID, true)
	})
	check(s.graph("POST", messages, graphText), 403, 131031, "account_restricted")
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(number)
		if err != nil {
			return err
		}
		return tx.MarkAccountStatus(a.ID, storage.AccountDisconnected, "test")
	})
	check(s.graph("GET", "/"+number, ""), 400, 133010, "upstream_error")
}

func TestTheGatewayPassesMediaNumbersAndTemplates(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, withGateway(5*time.Second))
	number := s.connect()
	var waba string
	storagetest.View(t, s.app.DB, func(rx *storage.Rx) error {
		a, err := rx.AccountByNumber(number)
		waba = storage.OrEmpty(a.WABAID)
		return err
	})
	other := s.connectTo(waba)

	is.Equal(s.graph("GET", "/"+number+"?fields=id,display_phone_number", "").view().ID, number)
	list := s.graph("GET", "/"+waba+"/phone_numbers", "").view().Data
	is.Equal(len(list), 2)
	var account storage.Account
	storagetest.View(t, s.app.DB, func(rx *storage.Rx) (err error) {
		account, err = rx.AccountByNumber(other)
		return err
	})
	bound := s.keyWith(storage.Key{Accounts: storage.Accounts{account.ID}})
	list = s.graph("GET", "/"+waba+"/phone_numbers", "", "Authorization", "Bearer "+bound).view().Data
	is.Equal(len(list), 1)
	is.Equal(list[0]["id"], other)
	is.Equal(s.graph("GET", "/"+number, "", "Authorization", "Bearer "+bound).view().Error.Subcode, 33)

	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	w.WriteField("messaging_product", "whatsapp")
	w.WriteField("type", "image/png")
	part, _ := w.CreateFormFile("file", "a.png")
	part.Write([]byte("\x89PNG\r\n\x1a\n0000"))
	w.Close()
	up := s.graph("POST", "/"+number+"/media", form.String(), "Content-Type", w.FormDataContentType())
	is.Equal(up.status, 200)
	id := up.view().ID
	info := s.graph("GET", "/"+id, "")
	is.Equal(info.status, 200)
	is.True(strings.HasPrefix(info.view().URL, s.app.URL()+"/graph/media/"))
	path := strings.TrimPrefix(info.view().URL, s.app.URL()+"/graph")
	at, err := url.Parse(path)
	is.NoErr(err)
	ends, err := strconv.ParseInt(at.Query().Get("expires"), 10, 64)
	is.NoErr(err)
	left := time.Until(time.Unix(ends, 0))
	is.True(left > 4*time.Minute && left <= 5*time.Minute)
	file := s.graph("GET", path, "")
	is.Equal(string(file.raw), "\x89PNG\r\n\x1a\n0000")
	is.Equal(file.header.Get("Content-Type"), "image/png")
	is.Equal(s.graph("GET", path, "", "Authorization", "").status, 401)
	is.Equal(s.graph("GET", strings.Replace(path, "expires=", "expires=9", 1), "").view().Error.Subcode, 33)
	is.Equal(s.graph("GET", "/"+id, "", "Authorization", "Bearer "+bound).view().Error.Subcode, 33)
	is.True(s.graph("DELETE", "/"+id, "").view().Success)
	is.Equal(s.graph("GET", "/"+id, "").view().Error.Subcode, 33)

	made := s.graph("POST", "/"+waba+"/message_templates", `{"name":"hello","language":"en_US","category":"UTILITY","components":[{"type":"BODY","text":"Hello there"}]}`)
	is.Equal(made.status, 200)
	tmpl := made.view().ID
	is.Equal(len(s.graph("GET", "/"+waba+"/message_templates?name=hello", "").view().Data), 1)
	is.Equal(s.graph("GET", "/"+tmpl, "").view().ID, tmpl)
	is.Equal(s.graph("GET", "/"+waba+"/message_templates/"+tmpl+"?fields=name", "").view().ID, tmpl)
	is.Equal(s.graph("GET", "/"+waba+"/message_templates/1", "").view().Error.Subcode, 33)
	is.Equal(s.graph("GET", "/"+number+"/message_templates/"+tmpl, "").status, 501)
	var templates struct{ Data []struct{ Name string } }
	s.read("/"+number+"/templates?status=all", &templates)
	is.Equal(templates.Data[0].Name, "hello")
	s.play("POST", "/_sim/templates/"+tmpl+"/review", `{"status":"APPROVED"}`)
	is.True(s.graph("POST", "/"+tmpl, `{"components":[{"type":"BODY","text":"Hello again"}]}`).view().Success)
	is.True(s.graph("DELETE", "/"+waba+"/message_templates?name=hello", "").view().Success)

	is.True(s.graph("POST", "/"+waba+"/subscribed_apps", "").view().Success)
	is.Equal(s.graph("POST", "/"+waba+"/subscribed_apps", `{"override_callback_uri":"https://x.y"}`).status, 501)
	is.Equal(len(s.graph("GET", "/"+waba+"/subscribed_apps", "").view().Data), 1)

	// The logs say what was made and deleted.
	dir := s.app.Config.DataDir
	is.True(until(func() bool {
		made := storagetest.Select[string](t, dir, `SELECT made_id FROM api_log WHERE path LIKE '/graph/%' AND made_id IS NOT NULL ORDER BY rowid`)
		return slices.Equal(made, []string{id, tmpl})
	}))
	is.Equal(storagetest.Select[string](t, dir, `SELECT concat_ws(' ', action, target_id) FROM audit ORDER BY rowid`),
		[]string{"media.deleted " + id, "template.created " + tmpl, "template.updated " + tmpl, "template.deleted hello"})
}

func TestTheGatewayWaitsCancelsAndRepeats(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, withGateway(800*time.Millisecond), func(c *config.Config) { c.Provider.Timeout = 300 * time.Millisecond })
	number := s.connect()
	messages := "/" + number + "/messages"

	// The same answer under one key.
	first := s.graph("POST", messages, graphText, "Idempotency-Key", "a")
	again := s.graph("POST", messages, graphText, "Idempotency-Key", "a")
	is.Equal(first.status, 200)
	is.Equal(string(again.raw), string(first.raw))
	is.Equal(again.header.Get("Idempotent-Replayed"), "true")
	is.Equal(len(s.simSent()), 1)
	is.Equal(s.graph("POST", messages, strings.Replace(graphText, "hi", "ho", 1), "Idempotency-Key", "a").view().Error.Code, 100)

	// A refusal is repeated too.
	refused := strings.Replace(graphText, "15550001111", "1999000131030", 1)
	is.Equal(s.graph("POST", messages, refused, "Idempotency-Key", "b").view().Error.Code, 131030)
	is.Equal(s.graph("POST", messages, refused, "Idempotency-Key", "b").view().Error.Code, 131030)

	// The provider takes it and hangs up: the callback tells the id.
	s.fault(`{"kind":"drop_connection","times":1}`)
	lost := s.graph("POST", messages, graphText, "Idempotency-Key", "c")
	is.Equal(lost.status, 200)
	is.Equal(lost.view().Messages[0].ID, s.simSent()[1].ID)

	// It never answers, and has nothing: 504, and never again.
	s.fault(`{"kind":"timeout","times":1}`)
	unknown := s.graph("POST", messages, graphText, "Idempotency-Key", "d")
	is.Equal(unknown.status, 504)
	is.Equal(unknown.view().Error.Code, 131000)
	is.True(strings.Contains(string(unknown.raw), `"is_transient":false`))
	is.Equal(s.graph("POST", messages, graphText, "Idempotency-Key", "d").status, 504)

	// Nobody waits for a clock that was ahead when the message was taken.
	storagetest.Exec(t, s.app.Config.DataDir, `UPDATE messages SET created_at = created_at + 3600000 WHERE status = 'pending'`)
	is.Equal(s.graph("POST", messages, graphText, "Idempotency-Key", "d").status, 504)

	// No turn in time: cancelled.
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(number)
		if err != nil {
			return err
		}
		return tx.SetCooldown(a.ID, tx.Now.Add(time.Minute))
	})
	late := s.graph("POST", messages, graphText, "Idempotency-Key", "e")
	is.Equal(late.status, 400)
	is.Equal(late.view().Error.Code, 130429)
	is.Equal(s.graph("POST", messages, graphText, "Idempotency-Key", "e").view().Error.Code, 130429)
	var list struct {
		Data []struct {
			Error struct{ Code string }
		}
	}
	s.read("/"+number+"/messages?limit=1", &list)
	is.Equal(list.Data[0].Error.Code, "message_cancelled")
}

// What a proxy in front of the provider answers is passed on. The message waits for a callback: the
// provider may have it.
func TestTheGatewayPassesOnWhatIsNoAnswerOfTheProvider(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		io.WriteString(w, "<html>bad gateway</html>")
	}))
	t.Cleanup(proxy.Close)
	s := newStage(t, withGateway(time.Minute), func(c *config.Config) { c.Provider.BaseURL = proxy.URL })
	number := s.connect()
	messages := "/" + number + "/messages"

	got := s.graph("POST", messages, graphText, "Idempotency-Key", "a")
	is.Equal([]any{got.status, string(got.raw)}, []any{502, "<html>bad gateway</html>"})
	var list struct{ Data []struct{ Status string } }
	s.read(messages, &list)
	is.Equal(list.Data[0].Status, "pending")
}
