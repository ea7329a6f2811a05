package simulator

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestManyClientsAtOnce(t *testing.T) {
	b := newBench(t, saved(t), func(o *Options) { o.MaxMessages = 50 })
	b.settings(func(set *Settings) { set.DeliveredMS, set.TemplateReviewMS = ptr(int64(1)), 1 })
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 20 {
				id := b.sentID(b.text("1650555123" + string(rune('0'+i))))
				b.sim("POST", "/inbound", object{"from": "1650555000" + string(rune('0'+i)), "text": "x"})
				b.do("POST", "/_sim/messages/"+id+"/status", object{"status": "read"})
				b.do("POST", "/_sim/messages/"+id+"/revoke", nil)
				b.sim("GET", "/messages", nil)
				b.createTemplate(object{"name": "t_" + randomDigits(6)})
				b.graph("GET", "/"+b.number.WABAID+"/message_templates?limit=3", nil)
				b.sim("POST", "/faults", object{"kind": "timeout", "to": "1"})
				b.NoErr(b.s.save())
			}
		})
	}
	group.Wait()
	b.reopen()
	b.Equal(len(b.sim("GET", "/numbers", nil).list("data")), 1)
}

func TestLargePayloadsAreSplit(t *testing.T) {
	b := newBench(t)
	gate := make(chan struct{})
	var once sync.Once
	sizes := make(chan int, 100)
	b.s.opt.CallbackClient = &http.Client{Transport: memory(func(r *http.Request) *http.Response {
		sizes <- int(r.ContentLength)
		once.Do(func() { <-gate }) // so that the others gather
		return answer(http.StatusOK)
	})}
	for range 9 {
		_, err := b.s.Inbound(map[string]any{"from": "16505551234", "text": strings.Repeat("x", 1<<20)})
		b.NoErr(err)
	}
	close(gate)
	total := 0
	for total < 9<<20 {
		select {
		case n := <-sizes:
			b.True(n <= maxPayload+1<<20)
			total += n
		case <-time.After(patience):
			t.Fatal("not all of it came")
		}
	}
}

func TestExpiredFilesAreDroppedAtTheStart(t *testing.T) {
	b := newBench(t, saved(t))
	path := "/" + b.number.PhoneNumberID + "/media"
	old := b.upload(path, "image/png", png, "messaging_product", "whatsapp").text("id")
	young := b.upload(path, "image/png", png, "messaging_product", "whatsapp").text("id")
	b.s.mu.Lock()
	b.s.world.Media[old].Expires = 1
	b.s.mu.Unlock()
	dir := b.s.opt.StateFile + ".media"
	b.NoErr(os.WriteFile(filepath.Join(dir, ".upload-123"), png, 0o600)) // left by a crash
	b.reopen()
	files, err := os.ReadDir(dir)
	b.NoErr(err)
	b.Equal(len(files), 1)
	b.Equal(files[0].Name(), young)
	b.Equal(b.graph("GET", "/"+old, nil).err().text("error_subcode"), "33")
}

func TestARefusedUploadLeavesNothingBehind(t *testing.T) {
	b := newBench(t, saved(t))
	b.Equal(b.upload("/"+b.number.PhoneNumberID+"/media", "text/csv", []byte("a,b"), "messaging_product", "whatsapp").status, 400)
	files, err := os.ReadDir(b.s.opt.StateFile + ".media")
	b.NoErr(err)
	b.Equal(len(files), 0)
}

func TestTokensAreExplainedToTheApp(t *testing.T) {
	b := newBench(t)
	creds := b.s.Credentials()
	auth := []string{"Authorization", "Bearer " + creds.AppID + "|" + creds.AppSecret}
	data := b.do("GET", "/debug_token?input_token="+testToken, nil, auth...).child("data")
	b.True(data.boolean("is_valid"))
	b.Equal(asObject(data.list("granular_scopes")[0]).list("target_ids"), []any{b.number.WABAID}) // all there are
	data = b.do("GET", "/debug_token?input_token=rubbish", nil, auth...).child("data")
	b.True(!data.boolean("is_valid"))
	b.Equal(b.do("GET", "/debug_token", nil, auth...).err().text("code"), "100")
	b.Equal(b.do("GET", "/debug_token?input_token=x", nil).err().text("code"), "104")
	token := b.do("GET", "/oauth/access_token?grant_type=client_credentials&client_id="+creds.AppID+"&client_secret="+creds.AppSecret, nil)
	b.Equal(token.text("access_token"), creds.AppID+"|"+creds.AppSecret)
	for _, query := range []string{"", "?client_id=1", "?client_id=" + creds.AppID, "?client_id=" + creds.AppID + "&client_secret=shh", "?client_id=" + creds.AppID + "&client_secret=shh&code=x"} {
		b.Equal(b.do("GET", "/oauth/access_token"+query, nil).status, 400)
	}
	b.s.mu.Lock()
	b.s.world.Codes["late"] = &signupCode{Code: "late", Expires: 1}
	b.s.mu.Unlock()
	late := b.do("GET", "/oauth/access_token?client_id="+creds.AppID+"&client_secret=shh&code=late", nil)
	b.Equal(late.err().text("error_subcode"), "36007")
}

func TestSubscriptionsNameWhatTheyWant(t *testing.T) {
	b := newBench(t)
	creds := b.s.Credentials()
	auth := []string{"Authorization", "Bearer " + creds.AppID + "|" + creds.AppSecret}
	path := "/" + creds.AppID + "/subscriptions"
	all := asObject(b.do("GET", path, nil, auth...).list("data")[0])
	b.Equal(len(all.list("fields")), len(callbackFields)) // all, to begin with
	whole := object{"object": "whatsapp_business_account", "callback_url": b.app.url, "verify_token": "x", "fields": "messages,account_update"}
	for key, bad := range map[string]any{"object": "page", "callback_url": nil, "verify_token": nil, "fields": "weather"} {
		body := object{}
		for k, v := range whole {
			body[k] = v
		}
		body[key] = bad
		b.Equal(b.do("POST", path, body, auth...).err().text("code"), "100") // key
	}
	for _, target := range []string{"ftp://x", "http://127.0.0.1:1/"} {
		whole["callback_url"] = target
		b.Equal(b.do("POST", path, whole, auth...).err().text("code"), "2200")
	}
	b.s.SetWebhook("")
	b.Equal(len(b.do("GET", path, nil, auth...).list("data")), 0)
}

func TestNumbersAreCreatedWithAllTheirParts(t *testing.T) {
	b := newBench(t)
	whole := object{"cc": "49", "phone_number": "15112345678", "verified_name": "Shop"}
	for key, bad := range map[string]any{"cc": nil, "phone_number": nil, "verified_name": nil} {
		body := object{}
		for k, v := range whole {
			body[k] = v
		}
		body[key] = bad
		b.Equal(b.graph("POST", "/"+b.number.WABAID+"/phone_numbers", body).err().text("code"), "100") // key
	}
	r := b.graph("POST", "/"+b.number.WABAID+"/phone_numbers", object{"cc": "1", "phone_number": "2", "verified_name": "Shop"})
	b.Equal(r.err().text("code"), "192")
	r = b.graph("POST", "/"+b.number.WABAID+"/phone_numbers", object{"cc": "1", "phone_number": "5550009999", "verified_name": "Shop"})
	b.Equal(r.status, 400) // there already
	b.Equal(b.number.Digits(), "15550009999")
}

func TestTheSandboxCanBeSeeded(t *testing.T) {
	is := is.New(t)
	s, err := New(Options{})
	is.NoErr(err)
	defer s.Close()
	creds := s.Credentials()
	is.True(creds.AppID != "" && creds.AppSecret != "" && creds.VerifyToken != "" && creds.AccessToken != "")
	n, err := s.AddNumber(Number{})
	is.NoErr(err)
	first, err := s.AddTemplate(n.WABAID, bodyTemplate("hello", "utility"))
	is.NoErr(err)
	again, err := s.AddTemplate(n.WABAID, bodyTemplate("hello", "utility"))
	is.NoErr(err)
	is.Equal(again, first) // left alone
	_, err = s.AddTemplate("1", bodyTemplate("hello", "utility"))
	is.True(err != nil)
	_, err = s.AddTemplate(n.WABAID, bodyTemplate("Hello!", "utility"))
	is.True(err != nil)
	_, err = s.Inbound(map[string]any{"from": "+15550001111", "name": "Ann", "text": "hi"})
	is.NoErr(err)
	is.True(s.ServiceWindowOpen(n.PhoneNumberID, "+15550001111"))
	_, err = s.Inbound(map[string]any{"from": "+15550001111", "type": "reaction", "reaction": map[string]string{"message_id": "wamid.x"}})
	is.NoErr(err)
	_, err = s.Inbound(map[string]any{"text": "hi"})
	is.True(err != nil)
	set := s.Settings()
	set.TemplateVerdict = "MAYBE"
	is.True(s.SetSettings(set) != nil)
}
