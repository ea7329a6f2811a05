package simulator

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestDataIsRequestedWithin24HoursOfOnboarding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStill(t, "")
		defer b.s.Close()
		time.Sleep(48 * time.Hour) // before it was used with the app
		_, err := b.s.AddNumber(Number{PhoneNumberID: b.n.PhoneNumberID, IsOnBizApp: true})
		b.NoErr(err)
		request := func(kind string) (int, string) {
			status, err := b.post("smb_app_data", `{"messaging_product":"whatsapp","sync_type":"`+kind+`"}`)
			return status, err.text("error_subcode")
		}
		time.Sleep(24 * time.Hour)
		status, _ := request("smb_app_state_sync")
		b.Equal(status, 200)
		time.Sleep(time.Millisecond)
		_, subcode := request("history")
		b.Equal(subcode, "2593108")
		_, subcode = request("smb_app_state_sync")
		b.Equal(subcode, "2593107")
	})
}

func TestContactsAndHistoryOfThePhoneAppAreTold(t *testing.T) {
	b := newBench(t)
	_, err := b.s.AddNumber(Number{PhoneNumberID: b.number.PhoneNumberID, IsOnBizApp: true})
	b.NoErr(err)
	b.sim("POST", "/inbound", object{"from": "16505551234", "name": "Ann Bee", "text": "hi"})
	b.app.next()
	b.sentID(b.send(object{"to": "16505551234", "type": "image", "image": object{"link": "https://x.y/a"}}))
	b.app.next()
	b.sentID(b.text("16505550000"))
	b.app.next()
	b.sim("POST", "/inbound", object{"bsuid": "US.12", "username": "cleo.b", "text": "hi"})
	b.app.next()
	b.sentID(b.text("US.12"))
	b.app.next()
	path := "/" + b.number.PhoneNumberID + "/smb_app_data"
	b.Equal(b.graph("POST", path, object{"messaging_product": "whatsapp", "sync_type": "smb_app_state_sync"}).status, 200)
	h := b.app.next()
	b.Equal(h.field, "smb_app_state_sync")
	list := h.value.list("state_sync")
	b.Equal(len(list), 2)
	who := asObject(list[0]).child("contact")
	b.Equal(who.text("full_name"), "Ann Bee")
	b.Equal(who.text("first_name"), "Ann")
	b.Equal(who.text("phone_number"), "16505551234")

	b.Equal(b.graph("POST", path, object{"messaging_product": "whatsapp", "sync_type": "history"}).status, 200)
	h = b.app.next()
	b.Equal(h.field, "history")
	chunk := asObject(h.value.list("history")[0])
	b.Equal(chunk.child("metadata").text("progress"), "100")
	threads := chunk.list("threads")
	b.Equal(len(threads), 3)
	first := asObject(threads[0])
	b.Equal(first.text("id"), "16505551234")
	past := first.list("messages")
	b.Equal(first.child("context").text("user_id"), bsuidFor("16505551234"))
	hidden := asObject(threads[2]) // a person with a username, and what was written by id
	b.True(!hidden.has("id") && !hidden.child("context").has("wa_id"))
	b.Equal(hidden.child("context").text("user_id"), "US.12")
	b.Equal(hidden.child("context").text("username"), "cleo.b")
	own := asObject(hidden.list("messages")[0])
	b.True(!own.has("from"))
	b.Equal(own.text("from_user_id"), "US.12")
	b.Equal(asObject(hidden.list("messages")[1]).text("to_user_id"), "US.12")
	b.Equal(len(past), 2)
	b.Equal(asObject(past[0]).text("from"), "16505551234")
	b.Equal(asObject(past[0]).child("text").text("body"), "hi")
	b.Equal(asObject(past[1]).text("type"), "media_placeholder")
	b.Equal(asObject(past[1]).text("to"), "16505551234")
	b.Equal(asObject(past[1]).child("history_context").text("status"), "SENT")
	b.Equal(b.graph("POST", path, object{"messaging_product": "whatsapp", "sync_type": "gossip"}).err().text("code"), "100")
	b.Equal(b.graph("POST", path, object{"sync_type": "history"}).err().text("code"), "100")
}
