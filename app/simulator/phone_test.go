package simulator

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

const ana = "15550001111"

// phone reads what a phone shows.
func (b *bench) phone(number string) (shown []object) {
	b.t.Helper()
	return b.sim("GET", "/people/"+number+"/messages", nil).objects("data")
}

// says lets a person write, and returns the id.
func (b *bench) says(in object) string {
	b.t.Helper()
	in["from"] = ana
	return b.sim("POST", "/inbound", in).text("id")
}

// arrives sends a message that is delivered at once, and waits until it is on the phone.
func (b *bench) arrives(message object) string {
	b.t.Helper()
	message["to"] = ana
	id := b.sentID(b.send(message))
	b.sim("POST", "/messages/"+id+"/status", object{"status": "delivered"})
	return id
}

func TestAPhoneShowsWhatArrivedAndWhatWasWritten(t *testing.T) {
	b := newBench(t)
	asked := b.says(object{"name": "Ana Ruiz", "text": "are you open?"})
	answer := b.arrives(object{"type": "text", "text": object{"body": "Yes"}, "context": object{"message_id": asked}})
	b.sentID(b.text(ana)) // sent, but not delivered: the phone is off
	b.says(object{"type": "reaction", "reaction": object{"message_id": answer, "emoji": "👍"}})

	shown := b.phone("+" + ana)
	b.Equal(len(shown), 2)
	b.Equal(shown[0].text("direction"), "inbound")
	b.Equal(shown[0].child("text").text("body"), "are you open?")
	b.Equal(shown[0].text("ticks"), "delivered")
	b.Equal(shown[1].text("id"), answer)
	b.Equal(shown[1].child("context").text("id"), asked)
	b.Equal(shown[1]["ticks"], nil) // there are no ticks on what others wrote
	b.Equal(fmt.Sprint(shown[1]["reactions"]), "[map[emoji:👍 from:person]]")

	// The business reads, the person changes their mind.
	b.Equal(b.graph("POST", "/"+b.number.PhoneNumberID+"/messages", object{"messaging_product": "whatsapp", "status": "read", "message_id": asked}).status, 200)
	b.says(object{"type": "reaction", "reaction": object{"message_id": answer, "emoji": ""}})
	b.sim("POST", "/messages/"+asked+"/edit", object{"text": "are you open today?"})
	shown = b.phone(ana)
	b.Equal(shown[0].text("ticks"), "read")
	b.Equal(shown[0].child("text").text("body"), "are you open today?")
	b.Equal(shown[0]["edited"], true)
	b.Equal(len(shown[1].list("reactions")), 0)
	b.sim("POST", "/messages/"+asked+"/revoke", nil)
	shown = b.phone(ana)
	b.Equal(shown[0]["deleted"], true)
	b.True(!shown[0].has("text")) // what it said is gone
	b.Equal(len(b.sim("GET", "/people/"+ana+"/messages?phone_number_id=1", nil).list("data")), 0)
	b.Equal(len(b.sim("GET", "/people/"+ana+"/messages?limit=1", nil).list("data")), 1)
	b.Equal(b.do("GET", "/_sim/people/"+ana+"/messages?limit=0", nil).err().text("param"), "limit")
	b.Equal(b.do("GET", "/_sim/people/nobody/messages", nil).status, 404)
}

func TestTicksOfEarlierMessagesFollow(t *testing.T) {
	b := newBench(t)
	b.says(object{"text": "one"})
	second := b.says(object{"text": "two"})
	b.says(object{"text": "three"})
	b.graph("POST", "/"+b.number.PhoneNumberID+"/messages", object{"messaging_product": "whatsapp", "status": "read", "message_id": second})
	ticks := func() (all []string) {
		for _, m := range b.phone(ana) {
			all = append(all, m.text("ticks"))
		}
		return all
	}
	b.Equal(ticks(), []string{"read", "read", "delivered"})
	b.sim("PATCH", "/people/"+ana, object{"read_receipts": false})
	b.Equal(ticks(), []string{"delivered", "delivered", "delivered"}) // who sends none sees none
}

func TestCardsAreShownAsThePersonSeesThem(t *testing.T) {
	b := newBench(t)
	_, err := b.s.AddTemplate(b.number.WABAID, Template{Name: "offer", Language: "en_US", Category: "MARKETING", Components: []map[string]any{
		{"type": "HEADER", "format": "TEXT", "text": "Spring"},
		{"type": "BODY", "text": "Hi {{1}}, take {{2}}.", "example": map[string]any{"body_text": [][]string{{"Ana", "20"}}}},
		{"type": "FOOTER", "text": "Tap Stop"},
		{"type": "BUTTONS", "buttons": []map[string]any{{"type": "URL", "text": "See", "url": "https://example.com/{{1}}", "example": []string{"https://example.com/a"}}, {"type": "QUICK_REPLY", "text": "Stop"}}},
	}})
	b.NoErr(err)
	b.arrives(object{"type": "template", "template": object{"name": "offer", "language": object{"code": "en_US"}, "components": []object{
		{"type": "body", "parameters": []object{{"type": "text", "text": "{{2}}"}, {"type": "text", "text": "20 %"}}},
		{"type": "button", "sub_type": "url", "index": "0", "parameters": []object{{"type": "text", "text": "spring"}}},
		{"type": "button", "sub_type": "quick_reply", "index": "1", "parameters": []object{{"type": "payload", "payload": "STOP"}}},
	}}})
	card := b.phone(ana)[0].child("card")
	b.Equal(card.child("header").text("text"), "Spring")
	b.Equal(card.text("body"), "Hi {{2}}, take 20 %.") // a parameter is not filled in again
	b.Equal(card.text("footer"), "Tap Stop")
	b.Equal(fmt.Sprint(card.list("buttons")), "[map[text:See type:url url:https://example.com/spring] map[id:STOP text:Stop type:quick_reply]]")

	b.arrives(object{"type": "interactive", "interactive": object{"type": "button", "body": object{"text": "Which?"}, "action": object{"buttons": []object{
		{"type": "reply", "reply": object{"id": "blue", "title": "The blue one"}}, {"type": "reply", "reply": object{"id": "sand", "title": "The sand one"}}}}}})
	b.arrives(object{"type": "interactive", "interactive": object{"type": "list", "body": object{"text": "Choose"}, "action": object{"button": "Open", "sections": []object{
		{"title": "Tea", "rows": []object{{"id": "green", "title": "Green", "description": "fresh"}}}}}}})
	shown := b.phone(ana)
	b.Equal(fmt.Sprint(shown[1].child("card").list("buttons")), "[map[id:blue text:The blue one type:reply] map[id:sand text:The sand one type:reply]]")
	b.Equal(asObject(asObject(shown[2].child("card").child("list").list("sections")[0]).list("rows")[0]).text("id"), "green")
}

func TestPeopleAreMadeAndChanged(t *testing.T) {
	b := newBench(t)
	made := b.sim("POST", "/people", object{"phone_number": "+1 555 000 1111", "name": "Ana", "username": "ana.ruiz"})
	b.Equal(made.text("phone_number"), "+"+ana)
	b.Equal(made.text("name"), "Ana")
	b.Equal(made.object["blocked"], false)
	b.Equal(made.object["read_receipts"], true)
	b.Equal(made.text("marketing"), "resume")
	somebody := b.sim("POST", "/people", object{})
	b.True(strings.HasPrefix(somebody.text("phone_number"), "+1555"))
	b.Equal(len(b.sim("GET", "/people", nil).list("data")), 2)

	changed := b.sim("PATCH", "/people/%2B"+ana, object{"name": "Ana Ruiz", "username": nil, "blocked": true})
	b.Equal(changed.text("name"), "Ana Ruiz")
	b.Equal(changed.object["username"], nil)
	b.Equal(changed.object["blocked"], true)
	b.Equal(b.do("POST", "/_sim/inbound", object{"from": ana, "text": "hi"}).err().text("param"), "from") // unblock first
	b.sim("PATCH", "/people/"+ana, object{"blocked": false})
	b.says(object{"text": "hi"})
	b.Equal(b.app.next().messageOf(t).child("text").text("body"), "hi")

	for param, body := range map[string]object{
		"name": {"name": 5}, "username": {"username": "a"}, "blocked": {"blocked": "yes"}, "read_receipts": {"read_receipts": 1}, "": {},
	} {
		r := b.do("PATCH", "/_sim/people/"+ana, body)
		b.Equal(r.status, 400)
		b.Equal(r.err().text("param"), param)
	}
	b.Equal(b.do("PATCH", "/_sim/people/19998887777", object{"name": "x"}).status, 404)
	b.Equal(b.do("POST", "/_sim/people", object{"phone_number": "x"}).err().text("param"), "phone_number")
	b.Equal(b.do("POST", "/_sim/people", object{"name": strings.Repeat("x", 201)}).err().text("param"), "name")
}

func TestWhoBlocksGetsNothingAndWhoIsDiscreetTellsNothing(t *testing.T) {
	b := newBench(t)
	b.settings(func(set *Settings) {
		zero := int64(0)
		set.DeliveredMS, set.AutoRead = &zero, true
	})
	b.sim("POST", "/people", object{"phone_number": ana, "blocked": true})
	b.sim("POST", "/people", object{"phone_number": "15550002222", "read_receipts": false})
	b.sentID(b.text(ana))
	discreet := b.sentID(b.text("15550002222"))
	read := b.sentID(b.text("15550003333"))
	var reported []string
	for !strings.HasSuffix(strings.Join(reported, " "), "read") {
		st := b.app.next().statusOf(t)
		reported = append(reported, st.text("recipient_id")+" "+st.text("status"))
		if st.text("status") == "read" {
			b.Equal(st.text("id"), read)
		}
	}
	b.True(!strings.Contains(strings.Join(reported, ","), ana+" delivered"))
	b.Equal(len(b.phone(ana)), 0)
	b.Equal(b.phone("15550002222")[0].text("id"), discreet)
	b.Equal(b.sim("POST", "/people/15550002222/read", object{}).text("read"), "0")
}

func TestAPersonReadsWhatArrived(t *testing.T) {
	b := newBench(t)
	id := b.arrives(object{"type": "text", "text": object{"body": "hello"}})
	b.app.next()
	b.app.next()
	b.Equal(b.sim("POST", "/people/"+ana+"/read", object{}).text("read"), "1")
	st := b.app.next().statusOf(t)
	b.Equal(st.text("id")+" "+st.text("status"), id+" read")
	b.Equal(b.sim("POST", "/people/"+ana+"/read", object{}).text("read"), "0")
}

// A late report takes nothing from the phone.
func TestAMessageThatIsOnThePhoneStaysThere(t *testing.T) {
	b := newBench(t)
	id := b.arrives(object{"type": "text", "text": object{"body": "hello"}})
	b.sim("POST", "/messages/"+id+"/status", object{"status": "sent"})
	b.Equal(len(b.phone(ana)), 1)
	b.Equal(b.sim("POST", "/people/"+ana+"/read", object{}).text("read"), "1")
}

func TestAPhoneKeepsItsMessagesOverANewNumber(t *testing.T) {
	b := newBench(t)
	b.says(object{"text": "from the old number"})
	b.sim("POST", "/contacts/"+ana+"/identity", object{"phone_number": "+15550009000"})
	b.sentID(b.send(object{"to": ana, "type": "text", "text": object{"body": "to nobody"}}))
	b.sim("POST", "/inbound", object{"from": "15550009000", "text": "from the new one"})
	shown := b.phone("15550009000")
	b.Equal(len(shown), 2)
	b.Equal(shown[1].child("text").text("body"), "from the new one")
	b.sim("POST", "/people", object{"phone_number": ana, "name": "Somebody else"})
	b.Equal(len(b.phone(ana)), 0) // does not see what another wrote from that number
}

func TestTheWindowIsOpenedAndClosed(t *testing.T) {
	var reported []Window
	b := newBench(t, func(o *Options) {
		o.SetWindow = func(_ context.Context, w Window) error {
			reported = append(reported, w)
			return nil
		}
	})
	b.settings(func(set *Settings) { set.ServiceWindow = true })
	b.says(object{"text": "hi"})
	closed := b.sim("POST", "/contacts/"+ana+"/window", object{"open": false})
	b.Equal(len(closed.child("windows")), 0)
	b.True(!b.s.ServiceWindowOpen(b.number.PhoneNumberID, ana))
	open := b.sim("POST", "/contacts/"+ana+"/window", object{"open": true})
	b.True(open.child("windows").has(b.number.PhoneNumberID))
	b.True(b.s.ServiceWindowOpen(b.number.PhoneNumberID, ana))
	b.Equal(len(reported), 2)
	b.True(time.Since(reported[0].At) >= serviceWindow && time.Since(reported[1].At) < serviceWindow)
	b.Equal(reported[0].PhoneNumberID+" "+reported[0].Phone, b.number.PhoneNumberID+" "+ana)
	b.Equal(b.do("POST", "/_sim/contacts/"+ana+"/window", object{}).err().text("param"), "open")
	b.Equal(b.do("POST", "/_sim/contacts/"+ana+"/window", object{"open": "yes"}).err().text("param"), "open")
	b.Equal(b.do("POST", "/_sim/contacts/nobody/window", object{"open": true}).status, 404)
	b.Equal(b.do("POST", "/_sim/contacts/"+ana+"/window", object{"open": true, "phone_number_id": "1"}).status, 404)
}

func TestMediaAreServedAsBytes(t *testing.T) {
	b := newBench(t)
	b.says(object{"type": "document", "document": object{"data": base64.StdEncoding.EncodeToString([]byte("<script>")), "mime_type": "text/html", "filename": "x.html"}})
	id := b.phone(ana)[0].child("document").text("id")
	r := b.do("GET", "/_sim/media/"+id, nil)
	b.Equal(string(r.raw), "<script>")
	b.Equal(r.header.Get("Content-Disposition"), "attachment") // no browser runs it
	b.Equal(r.header.Get("Content-Security-Policy"), "default-src 'none'; sandbox")
	b.Equal(b.do("GET", "/_sim/media/1", nil).status, 404)
}

func TestCallsAreKeptRawAndWithoutSecrets(t *testing.T) {
	b := newBench(t)
	b.sim("POST", "/faults", object{"kind": "drop_connection"})
	_, err := http.Post(b.url+"/v23.0/"+b.number.PhoneNumberID+"/messages?access_token="+testToken, "application/json", strings.NewReader(`{"messaging_product":"whatsapp","to":"`+ana+`","text":{"body":"lost"}}`))
	b.True(err != nil) // it hung up
	b.text("nobody")
	b.graph("POST", "/"+b.number.PhoneNumberID+"/register", object{"messaging_product": "whatsapp", "pin": "123456"})
	b.app.next()
	calls := b.sim("GET", "/calls", nil).objects("data")
	b.Equal(len(calls), 3)
	b.Equal(calls[0].text("path"), "/v23.0/"+b.number.PhoneNumberID+"/register")
	b.True(strings.Contains(calls[0].text("request"), `"pin":"***"`))
	b.Equal(calls[1].text("status"), "400")
	b.True(strings.Contains(calls[1].text("request"), `"body":"hello"`) && strings.Contains(calls[1].text("response"), `"code":131009`))
	b.Equal(calls[2].text("status")+" "+calls[2].text("error"), "0 hang up")
	b.True(strings.HasSuffix(calls[2].text("path"), "/messages?access_token=***"))
	b.do("GET", "/v23.0/EAAB2C3D4E5F6G7H2J3K4M5N6P7/messages", nil)
	b.Equal(b.sim("GET", "/calls", nil).objects("data")[0].text("path"), "/v23.0/EAA***/messages")
	b.True(!strings.Contains(string(b.sim("GET", "/calls?direction=all", nil).raw), testToken))

	var given []object
	for began := time.Now(); len(given) == 0; { // it is kept once the answer is there
		b.True(time.Since(began) < patience)
		given = b.sim("GET", "/calls?direction=given", nil).objects("data")
	}
	b.Equal(given[0].text("path")+" "+given[0].text("status"), b.app.url+" 200")
	b.True(strings.Contains(given[0].text("request"), `"statuses"`))
	b.Equal(b.do("GET", "/_sim/calls?direction=x", nil).err().text("param"), "direction")
	for range keptCalls + 10 {
		b.graph("GET", "/"+b.number.PhoneNumberID, nil)
	}
	b.Equal(len(b.sim("GET", "/calls", nil).list("data")), keptCalls)
	b.sim("POST", "/reset", nil)
	b.Equal(len(b.sim("GET", "/calls?direction=all", nil).list("data")), 0)
}

func TestCodesAndTemplatesAreListed(t *testing.T) {
	b := newBench(t)
	codes := b.sim("GET", "/codes", nil).objects("data")
	b.True(len(codes) > 50)
	for _, c := range codes {
		got, magic := magicCode(digits(c.text("phone_number")))
		b.True(magic)
		b.Equal(fmt.Sprint(got), c.text("code"))
	}
	id, err := b.s.AddTemplate(b.number.WABAID, bodyTemplate("welcome", "UTILITY"))
	b.NoErr(err)
	all := b.sim("GET", "/templates", nil).objects("data")
	b.Equal(all[len(all)-1].text("id")+" "+all[len(all)-1].text("status"), id+" APPROVED")
	b.Equal(len(b.sim("GET", "/faults", nil).list("kinds")), len(FaultKinds()))
}

// listen follows the stream, and returns its events as they come.
func (b *bench) listen() <-chan [2]string {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	b.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", b.url+"/_sim/stream", nil)
	b.NoErr(err)
	res, err := http.DefaultClient.Do(req)
	b.NoErr(err)
	b.Equal(res.Header.Get("Content-Type"), "text/event-stream")
	b.True(res.Close) // a browser would keep the connection of a page that it has left
	events := make(chan [2]string, 1000)
	go func() {
		defer close(events)
		defer res.Body.Close()
		kind := ""
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				kind = name
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				events <- [2]string{kind, data}
			}
		}
	}()
	return events
}

func TestTheStreamTellsOfEverything(t *testing.T) {
	b := newBench(t)
	events := b.listen()
	expect := func(kind string, parts ...string) {
		t.Helper()
		for {
			select {
			case e, open := <-events:
				if !open {
					t.Fatalf("the stream ended before %s", kind)
				}
				found := e[0] == kind
				for _, part := range parts {
					found = found && strings.Contains(e[1], part)
				}
				if found {
					return
				}
			case <-time.After(patience):
				t.Fatalf("nothing was told of %s %v", kind, parts)
			}
		}
	}
	id := b.says(object{"name": "Ana", "text": "hi"})
	expect("person", `"name":"Ana"`)
	expect("message", id, `"inbound"`, `"body":"hi"`)
	b.arrives(object{"type": "text", "text": object{"body": "hello"}})
	expect("message", `"accepted"`)
	expect("call", `"asked"`, `hello`)
	expect("message", `"delivered"`)
	expect("call", `"given"`)
	b.sim("POST", "/faults", object{"kind": "http_500"})
	expect("faults", `1`)
	b.sim("PATCH", "/settings", object{"auto_read": true})
	expect("settings", `"auto_read":true`)
	b.graph("POST", "/"+b.number.PhoneNumberID+"/messages", object{}) // the fault takes it
	b.graph("POST", "/"+b.number.PhoneNumberID+"/messages", object{"messaging_product": "whatsapp", "status": "read", "message_id": id, "typing_indicator": object{"type": "text"}})
	expect("typing", ana)
	b.sim("POST", "/reset", nil)
	expect("reset")
	b.s.StopStreams()
	for range events { // ends
	}
	b.Equal(b.do("GET", "/_sim/stream", nil).status, 503)
}

// TestASlowFollowerIsToldThatItMissedSomething: nothing waits for it.
func TestASlowFollowerIsToldThatItMissedSomething(t *testing.T) {
	b := newBench(t)
	f := b.s.streams.subscribe()
	for range streamBacklog + 1 {
		b.s.publish("x", func() any { return object{} })
	}
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "GET", "/", nil)
	b.NoErr(err)
	first := ""
	b.s.writeEvents(req, f, func(text []byte) bool {
		first = string(text)
		cancel()
		return false
	})
	b.True(strings.HasPrefix(first, "event: gap\n"))
	b.s.streams.unsubscribe(f)
	for range maxStreams {
		b.True(b.s.streams.subscribe() != nil)
	}
	b.True(b.s.streams.subscribe() == nil) // enough
}

// TestWhatIsShownStaysOverARestart: a thousand things that people and a business do at
// random, and a restart, leave the same on every phone.
func TestWhatIsShownStaysOverARestart(t *testing.T) {
	file := t.TempDir() + "/state"
	b := newBench(t, func(o *Options) { o.StateFile = file })
	people := []string{"15550001111", "15550002222", "15550003333"}
	ids := map[string][]string{}
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		who := people[random.IntN(len(people))]
		any := func() string {
			if len(ids[who]) == 0 {
				return "wamid.none"
			}
			return ids[who][random.IntN(len(ids[who]))]
		}
		var r reply
		switch random.IntN(8) {
		case 0, 1:
			r = b.do("POST", "/_sim/inbound", object{"from": who, "text": "hi"})
		case 2, 3:
			r = b.send(object{"to": who, "type": "text", "text": object{"body": "hello"}})
			id := b.sentID(r)
			ids[who] = append(ids[who], id)
			b.do("POST", "/_sim/messages/"+id+"/status", object{"status": []string{"delivered", "read", "failed"}[random.IntN(3)]})
		case 4:
			b.do("POST", "/_sim/inbound", object{"from": who, "type": "reaction", "reaction": object{"message_id": any(), "emoji": []string{"👍", "❤️", ""}[random.IntN(3)]}})
		case 5:
			b.do("POST", "/_sim/messages/"+any()+"/edit", object{"text": "changed"})
		case 6:
			b.do("POST", "/_sim/messages/"+any()+"/revoke", nil)
		case 7:
			b.do("POST", "/_sim/echo", object{"to": who, "text": "from the app"})
		}
		if id := r.text("id"); id != "" {
			ids[who] = append(ids[who], id)
		}
	}

	before := map[string]string{}
	for _, who := range people {
		before[who] = string(b.sim("GET", "/people/"+who+"/messages", nil).raw)
		b.True(strings.Contains(before[who], `"deleted":true`) && strings.Contains(before[who], `"edited":true`))
	}
	b.NoErr(b.s.Close())
	again, err := New(Options{StateFile: file})
	b.NoErr(err)
	defer again.Close()
	for _, who := range people {
		user, err := again.findOwner(who)
		b.NoErr(err)
		after := marshal(object{"data": again.showMessages(user, again.phoneMessages(user, "", shownByDefault))})
		b.Equal(string(after)+"\n", before[who])
	}
}

// FuzzCallsHideSecrets: for any token, no call shows it.
func FuzzCallsHideSecrets(f *testing.F) {
	f.Add("EAAtest", "body")
	f.Add(`with "quotes" and \`, "")
	f.Add("with\nbreaks and ümlauts", `{"access_token":1}`)
	f.Fuzz(func(t *testing.T, token, other string) {
		secret := "TOKEN" + token + "END"
		body := marshal(object{"access_token": secret, "other": other, "pin": secret})
		r := callRecord{Path: "/v23.0/1?access_token=" + url.QueryEscape(secret) + "&fields=id", Request: string(body), Response: string(body)}
		shown := marshal(r.withoutSecrets())
		if !strings.Contains(other, "TOKEN") && strings.Contains(string(shown), "TOKEN") {
			t.Errorf("%s", shown)
		}
	})
}

// Numbers have owners one after another. People without a number have nothing to do with each other.
func TestAPersonWithoutANumberOwnsWhatCameBefore(t *testing.T) {
	is := is.New(t)
	p := newPeople(func() int64 { return 100 })
	p.change(p.ensure("", "US.1"), "", "US.2")
	is.Equal(p.ensure("", "US.3").Since, int64(0))

	p.change(p.ensure("15550001111", "US.4"), "15550002222", "US.4")
	is.Equal(p.ensure("15550001111", "US.5").Since, int64(101))
}
