package simulator

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestTheTokenIsCheckedFirst(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{"/" + b.number.PhoneNumberID, "/123", "/v23.0/123/foo", "/"} {
		r := b.do("GET", path, nil)
		b.Equal(r.status, 400)
		b.Equal(r.err().text("code"), "104")
		r = b.do("GET", path, nil, "Authorization", "Bearer nonsense")
		b.Equal(r.status, 401)
		b.Equal(r.err().text("code"), "190")
		b.Equal(r.err().text("message"), "Invalid OAuth access token - Cannot parse access token")
		b.True(!r.err().has("error_subcode"))
	}
}

func TestTokensComeInHeaderQueryOrBodyAndWithOrWithoutAVersion(t *testing.T) {
	b := newBench(t)
	path := "/" + b.number.PhoneNumberID
	message := object{"messaging_product": "whatsapp", "to": "16505551234", "text": object{"body": "x"}}
	withToken := object{"access_token": testToken}
	for k, v := range message {
		withToken[k] = v
	}
	form := url.Values{"access_token": {testToken}, "messaging_product": {"whatsapp"}, "to": {"16505551234"}, "text": {`{"body":"x"}`}}
	for _, r := range []reply{
		b.do("GET", path, nil, "Authorization", "Bearer "+testToken),
		b.do("GET", path, nil, "Authorization", "OAuth "+testToken),
		b.do("GET", "/v26.0"+path+"?access_token="+testToken, nil),
		b.do("POST", path+"/messages", withToken),
		b.do("POST", path+"/messages", form.Encode(), "Content-Type", "application/x-www-form-urlencoded"),
		b.do("POST", path+"/messages?messaging_product=whatsapp&access_token="+testToken, object{"to": "16505551234", "text": object{"body": "x"}}),
	} {
		b.Equal(r.status, 200) // string(r.raw)
	}
	b.Equal(b.do("GET", path+"?appsecret_proof="+appSecretProof("shh", testToken), nil, "Authorization", "Bearer "+testToken).status, 200)
	b.Equal(b.do("GET", path+"?appsecret_proof=bad", nil, "Authorization", "Bearer "+testToken).err().text("code"), "100")
}

func TestMultipartFieldsAreParameters(t *testing.T) {
	b := newBench(t)
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for k, v := range map[string]string{"messaging_product": "whatsapp", "to": "16505551234", "type": "text", "text": `{"body":"x"}`, "access_token": testToken} {
		b.NoErr(w.WriteField(k, v))
	}
	b.NoErr(w.Close())
	b.sentID(b.do("POST", "/"+b.number.PhoneNumberID+"/messages", body.Bytes(), "Content-Type", w.FormDataContentType()))
	request := asObject(asObject(b.sim("GET", "/messages", nil).list("data")[0])["request"])
	b.Equal(request.text("to"), "16505551234")
}

func TestUnknownObjectsAreRefusedAsTheProviderDoes(t *testing.T) {
	b := newBench(t)
	r := b.graph("POST", "/999/messages", object{})
	b.Equal(r.status, 400)
	b.Equal(r.err().text("code"), "100")
	b.Equal(r.err().text("error_subcode"), "33")
	b.Equal(r.err().text("type"), "GraphMethodException")
	b.True(strings.HasPrefix(r.err().text("message"), "Unsupported post request. Object with ID '999' does not exist"))
	b.True(strings.HasPrefix(b.graph("GET", "/999", nil).err().text("message"), "Unsupported get request."))
}

func TestEdgesThatAreNotPlayedSaySo(t *testing.T) {
	b := newBench(t)
	path := "/" + b.number.PhoneNumberID + "/block_users"
	r := b.graph("GET", path, nil)
	b.Equal(r.status, http.StatusNotImplemented)
	b.Equal(r.err().text("message"), "The simulator does not play GET "+path+".")
	b.True(r.err().text("fbtrace_id") != "")
}

func TestBodiesThatCannotBeReadAreRefused(t *testing.T) {
	b := newBench(t)
	for _, body := range []string{`{`, `[]`, `null`, `{"a":1} x`, `{"a":1}]`, `{"a":1}{}`} {
		r := b.graph("POST", "/"+b.number.PhoneNumberID+"/messages", body)
		b.Equal(r.status, 400)
		b.Equal(r.err().text("code"), "100")
	}
	r := b.graph("POST", "/"+b.number.PhoneNumberID+"/messages", `{"x":"`+strings.Repeat("x", maxBody)+`"}`)
	b.Equal(r.status, 413)
}

func TestTokenStates(t *testing.T) {
	b := newBench(t)
	path := "/" + b.number.PhoneNumberID
	for _, tt := range []struct {
		state         string
		status        int
		code, subcode string
	}{
		{"valid", 200, "", ""}, {"expired", 401, "190", "463"}, {"revoked", 401, "190", "467"}, {"no_permission", 403, "200", ""},
	} {
		token := b.sim("POST", "/tokens", object{"access_token": "EAA" + tt.state, "state": tt.state}).text("access_token")
		r := b.do("GET", path, nil, "Authorization", "Bearer "+token)
		b.Equal(r.status, tt.status)
		b.Equal(r.err().text("code"), tt.code)
		b.Equal(r.err().text("error_subcode"), tt.subcode)
	}
	r := b.do("POST", path+"/messages", object{}, "Authorization", "Bearer EAAno_permission")
	b.Equal(r.err().text("code"), "10")
}

func TestATokenReachesOnlyItsAccounts(t *testing.T) {
	b := newBench(t)
	other, err := b.s.AddNumber(Number{})
	b.NoErr(err)
	token := b.sim("POST", "/tokens", object{"waba_id": other.WABAID}).text("access_token")
	b.Equal(b.do("GET", "/"+other.PhoneNumberID, nil, "Authorization", "Bearer "+token).status, 200)
	b.Equal(b.do("GET", "/"+b.number.PhoneNumberID, nil, "Authorization", "Bearer "+token).err().text("error_subcode"), "33")
}

func TestAHostedSignupIsExchangedOnce(t *testing.T) {
	b := newBench(t)
	signup := b.sim("POST", "/signup", object{"name": "Shop", "phone_number": "+4915112345678"})
	h := b.app.next()
	b.Equal(h.field, "account_update")
	b.Equal(h.value.text("event"), "PARTNER_ADDED")
	b.Equal(h.value.child("waba_info").text("waba_id"), signup.text("waba_id"))

	creds := b.s.Credentials()
	query := "/v23.0/oauth/access_token?client_id=" + creds.AppID + "&client_secret=" + creds.AppSecret + "&code=" + signup.text("code")
	b.Equal(b.do("GET", strings.Replace(query, creds.AppSecret, "wrong", 1), nil).status, 400)
	r := b.do("GET", query, nil)
	b.Equal(r.status, 200)
	b.Equal(r.text("token_type"), "bearer")
	again := b.do("GET", query, nil)
	b.Equal(again.err().text("error_subcode"), "36009")

	auth := []string{"Authorization", "Bearer " + r.text("access_token")}
	number := "/" + signup.text("phone_number_id")
	b.Equal(b.do("GET", number+"?fields=status", nil, auth...).text("status"), "PENDING")
	b.Equal(b.do("POST", number+"/register", object{"messaging_product": "whatsapp", "pin": "123456"}, auth...).status, 200)
	b.Equal(b.do("GET", number+"?fields=status,display_phone_number", nil, auth...).text("status"), "CONNECTED")
	b.Equal(b.do("POST", "/"+signup.text("waba_id")+"/subscribed_apps", nil, auth...).status, 200)

	debug := b.do("GET", "/debug_token?input_token="+r.text("access_token"), nil, "Authorization", "Bearer "+creds.AppID+"|"+creds.AppSecret)
	scope := asObject(debug.child("data").list("granular_scopes")[0])
	b.Equal(scope.list("target_ids"), []any{signup.text("waba_id")})
	b.Equal(debug.child("data").boolean("is_valid"), true)
}

func TestListsArePagedBothWays(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		_, err := b.s.AddTemplate(b.number.WABAID, bodyTemplate(name, "utility"))
		b.NoErr(err)
	}
	var names []string
	path := "/" + b.number.WABAID + "/message_templates?limit=2&fields=name"
	r := b.graph("GET", path, nil)
	b.True(!r.child("paging").has("previous"))
	last := r
	for {
		for _, item := range r.list("data") {
			names = append(names, asObject(item).text("name"))
		}
		last = r
		next := r.child("paging").text("next")
		if next == "" {
			break
		}
		r = b.do("GET", strings.TrimPrefix(next, b.url), nil, "Authorization", "Bearer "+testToken)
	}
	b.Equal(names, []string{"a", "b", "c", "d", "e"})
	back := b.do("GET", strings.TrimPrefix(last.child("paging").text("previous"), b.url), nil, "Authorization", "Bearer "+testToken)
	b.Equal(asObject(back.list("data")[0]).text("name"), "c")
	b.Equal(len(back.list("data")), 2)
	b.Equal(b.graph("GET", path+"&after=zzz", nil).err().text("code"), "100")
	b.Equal(b.graph("GET", "/"+b.number.WABAID+"/message_templates?limit=x", nil).err().text("code"), "100")
}

func TestFieldNamesSurviveNesting(t *testing.T) {
	b := newBench(t)
	b.Equal(fieldNames("a,b{c,d},e.limit(2),f;g, ,"), []string{"a", "b", "e", "f", "g"})
	b.Equal(len(fieldNames("")), 0)
}

func TestABadTokenIsRefusedBeforeTheBodyIsRead(t *testing.T) {
	b := newBench(t)
	for _, body := range []string{`{`, `{"x":"` + strings.Repeat("x", maxBody) + `"}`} {
		r := b.do("POST", "/"+b.number.PhoneNumberID+"/messages", body, "Authorization", "Bearer nonsense")
		b.Equal(r.status, 401)
		r = b.do("POST", "/"+b.number.PhoneNumberID+"/messages?access_token=nonsense", body)
		b.Equal(r.status, 401)
	}
}
