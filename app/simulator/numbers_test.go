package simulator

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

func TestANumberShowsOnlyWhatStrictClientsKnow(t *testing.T) {
	b := newBench(t)
	want := `{"code_verification_status":"VERIFIED","display_phone_number":"+1 555-000-9999","id":"` + b.number.PhoneNumberID + `","quality_rating":"GREEN","verified_name":"Acme"}`
	b.Equal(string(b.graph("GET", "/"+b.number.PhoneNumberID, nil).raw), want)
	list := b.graph("GET", "/"+b.number.WABAID+"/phone_numbers", nil)
	b.Equal(len(asObject(list.list("data")[0])), 5)
	r := b.graph("GET", "/"+b.number.PhoneNumberID+"?fields=status,throughput{level},is_pin_enabled,whatsapp_business_manager_messaging_limit,nonsense", nil)
	b.Equal(string(r.raw), `{"id":"`+b.number.PhoneNumberID+`","is_pin_enabled":false,"status":"CONNECTED","throughput":{"level":"STANDARD"},"whatsapp_business_manager_messaging_limit":"TIER_250"}`)
}

func TestThePINIsRemembered(t *testing.T) {
	b := newBench(t)
	path := "/" + b.number.PhoneNumberID
	register := func(pin any) reply {
		return b.graph("POST", path+"/register", object{"messaging_product": "whatsapp", "pin": pin})
	}
	b.Equal(register("12345").err().text("code"), "100")
	b.Equal(b.graph("POST", path+"/register", object{"messaging_product": "whatsapp"}).err().text("code"), "100")
	b.Equal(string(register("123456").raw), `{"success":true}`) // the first becomes the PIN
	b.Equal(register("654321").err().text("code"), "133005")
	b.Equal(register("123456").status, 200)
	b.Equal(b.graph("POST", path+"/deregister", nil).status, 200)
	b.Equal(b.graph("GET", path+"?fields=status", nil).text("status"), "DISCONNECTED")
	b.Equal(b.text("16505551234").err().text("code"), "133010")
	b.Equal(register("000000").err().text("code"), "133005") // it outlives deregistration
	b.Equal(b.graph("POST", path, object{"pin": "000000"}).status, 200)
	b.Equal(register("000000").status, 200)
	b.sentID(b.text("16505551234"))
}

func TestRegistrationIsLimitedToTenIn72Hours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		s, err := New(Options{})
		is.NoErr(err)
		defer s.Close()
		n := &number{}
		for range 10 {
			is.NoErr(n.attempt(time.Now().UnixMilli()))
		}
		is.Equal(n.attempt(time.Now().UnixMilli()).(*graphError).Code, 133016)
		time.Sleep(72*time.Hour - time.Millisecond)
		is.Equal(n.attempt(time.Now().UnixMilli()).(*graphError).Code, 133016)
		time.Sleep(time.Millisecond)
		is.NoErr(n.attempt(time.Now().UnixMilli()))
	})
}

func TestTooManyWrongPINsLockTheNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		n := &number{PIN: "123456"}
		for range 5 {
			is.Equal(n.checkPIN("000000", time.Now().UnixMilli()).(*graphError).Code, 133005)
		}
		is.Equal(n.checkPIN("123456", time.Now().UnixMilli()).(*graphError).Code, 133008)
		time.Sleep(time.Hour)
		is.NoErr(n.checkPIN("123456", time.Now().UnixMilli()))
	})
}

func TestANewNumberIsVerifiedThenRegistered(t *testing.T) {
	b := newBench(t)
	r := b.graph("POST", "/"+b.number.WABAID+"/phone_numbers", object{"cc": "49", "phone_number": "15112345678", "verified_name": "Shop"})
	b.Equal(r.status, 200)
	path := "/" + r.text("id")
	register := object{"messaging_product": "whatsapp", "pin": "123456"}
	b.Equal(b.graph("POST", path+"/register", register).err().text("code"), "133006")
	b.Equal(b.graph("POST", path+"/request_code?code_method=PIGEON&language=en_US", nil).err().text("code"), "100")
	b.Equal(b.graph("POST", path+"/request_code?code_method=SMS&language=en_US", nil).status, 200)
	var code string
	for _, n := range b.s.Numbers() {
		if n.PhoneNumberID == r.text("id") {
			code = n.VerificationCode
		}
	}
	b.Equal(b.graph("POST", path+"/verify_code?code=1", nil).err().text("code"), "136025")
	b.Equal(b.graph("POST", path+"/verify_code?code="+code, nil).status, 200)
	b.Equal(b.graph("POST", path+"/request_code?code_method=SMS&language=en_US", nil).err().text("code"), "136024")
	b.Equal(b.graph("POST", path+"/register", register).status, 200)
	b.Equal(b.graph("GET", path+"?fields=status,display_phone_number", nil).text("display_phone_number"), "+4915112345678")
}

func TestCoexistenceNumbersAreNotRegistered(t *testing.T) {
	b := newBench(t)
	n, err := b.s.AddNumber(Number{IsOnBizApp: true})
	b.NoErr(err)
	path := "/" + n.PhoneNumberID
	b.Equal(b.graph("POST", path+"/register", object{"messaging_product": "whatsapp", "pin": "123456"}).status, 400)
	sync := object{"messaging_product": "whatsapp", "sync_type": "history"}
	r := b.graph("POST", path+"/smb_app_data", sync)
	b.Equal(r.text("messaging_product"), "whatsapp")
	b.True(r.text("request_id") != "")
	b.Equal(b.graph("POST", path+"/smb_app_data", sync).err().text("error_subcode"), "2593107") // once
	other := b.graph("POST", "/"+b.number.PhoneNumberID+"/smb_app_data", sync).err()
	b.Equal(other.text("code")+other.text("error_subcode"), "100") // it is not used with the app
}

func TestTheBusinessProfileHasNoID(t *testing.T) {
	b := newBench(t)
	path := "/" + b.number.PhoneNumberID + "/whatsapp_business_profile"
	r := b.graph("POST", path, object{"messaging_product": "whatsapp", "about": "We sell", "websites": []string{"https://x.y"}, "vertical": "RETAIL", "profile_picture_handle": "4::x"})
	b.Equal(string(r.raw), `{"success":true}`)
	b.Equal(string(b.graph("GET", path+"?fields=about,websites", nil).raw), `{"data":[{"about":"We sell","messaging_product":"whatsapp","websites":["https://x.y"]}]}`)
	b.Equal(b.graph("POST", path, object{"messaging_product": "whatsapp", "vertical": "MAGIC"}).err().text("code"), "100")
	b.Equal(b.graph("POST", path, object{"messaging_product": "whatsapp", "about": strings.Repeat("x", 140)}).err().text("code"), "100")
	b.Equal(b.graph("POST", path, object{"about": "x"}).err().text("code"), "100")
}

func TestAccountsBusinessesAndAppsCanBeRead(t *testing.T) {
	b := newBench(t)
	a := b.graph("GET", "/"+b.number.WABAID, nil)
	b.Equal(len(a.object), 4)
	business := b.graph("GET", "/"+b.number.WABAID+"?fields=owner_business_info", nil).child("owner_business_info").text("id")
	b.Equal(b.graph("GET", "/"+business, nil).text("name"), "Acme")
	token := b.graph("POST", "/"+business+"/system_user_access_tokens", nil).text("access_token")
	b.Equal(b.do("GET", "/"+b.number.WABAID, nil, "Authorization", "Bearer "+token).status, 200)
	b.Equal(b.graph("GET", "/"+b.s.Credentials().AppID, nil).text("id"), b.s.Credentials().AppID)
}
