package simulator

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestATemplateIsReviewedAfterADelay(t *testing.T) {
	b := newBench(t)
	b.settings(func(set *Settings) { set.TemplateReviewMS = 1 })
	r := b.createTemplate(object{})
	b.Equal(r.status, 200)
	b.Equal(len(r.object), 3)
	b.Equal(r.text("status"), "PENDING")
	b.Equal(r.text("category"), "UTILITY")
	h := b.app.next()
	b.Equal(h.field, "message_template_status_update")
	b.True(h.time != nil) // entries about accounts carry a time
	b.Equal(h.value.text("event"), "APPROVED")
	b.Equal(h.value.text("message_template_id"), r.text("id"))
	b.Equal(h.value.text("message_template_name"), "order_shipped")
	b.Equal(h.value.text("reason"), "NONE")
	b.True(!h.value.has("messaging_product"))
	node := b.graph("GET", "/"+r.text("id"), nil)
	b.Equal(node.text("status"), "APPROVED")
	b.Equal(len(node.object), 7) // the default fields
	b.Equal(asObject(node.list("components")[0]).text("type"), "BODY")

	b.settings(func(set *Settings) { set.TemplateVerdict = "REJECTED" })
	r = b.createTemplate(object{"name": "other"})
	h = b.app.next()
	b.Equal(h.value.text("event"), "REJECTED")
	b.Equal(h.value.text("reason"), "INVALID_FORMAT")
	b.Equal(b.graph("GET", "/"+r.text("id")+"?fields=rejected_reason", nil).text("rejected_reason"), "INVALID_FORMAT")
}

// createTemplate submits a good template, changed as said.
func (b *bench) createTemplate(change object) reply {
	b.t.Helper()
	body := object{
		"name": "order_shipped", "language": "en_US", "category": "utility",
		"components": []object{{"type": "body", "text": "Order {{1}} is on its way.", "example": object{"body_text": [][]string{{"42"}}}}},
	}
	for k, v := range change {
		body[k] = v
	}
	return b.graph("POST", "/"+b.number.WABAID+"/message_templates", body)
}

func TestATemplateIsReadThroughItsAccountToo(t *testing.T) {
	b := newBench(t)
	id := b.createTemplate(object{}).text("id")
	path := "/" + b.number.WABAID + "/message_templates/"
	b.Equal(string(b.graph("GET", path+id, nil).raw), string(b.graph("GET", "/"+id, nil).raw))
	b.Equal(string(b.graph("GET", path+id+"?fields=name", nil).raw), `{"id":"`+id+`","name":"order_shipped"}`)

	other, err := b.s.AddNumber(Number{WABAID: "102030405060708"})
	b.NoErr(err)
	for _, elsewhere := range []string{path + "1", path + b.number.PhoneNumberID, "/" + other.WABAID + "/message_templates/" + id} {
		r := b.graph("GET", elsewhere, nil)
		b.Equal(r.status, 400)
		b.Equal(r.err().text("code")+"/"+r.err().text("error_subcode"), "100/33")
	}
	b.Equal(b.graph("POST", path+id, object{"category": "MARKETING"}).status, 501) // only reading is played
	b.Equal(b.graph("GET", "/"+b.number.PhoneNumberID+"/media/1", nil).status, 501)
}

func TestUploadedHeadersAreShownAsURLs(t *testing.T) {
	b := newBench(t)
	header := mediaHeader("IMAGE", "4::x")
	card := object{"components": []object{header, buttons(quickReply("Yes"))}}
	body := object{"type": "BODY", "text": "Look."}
	urls := func(components ...object) (int, string) {
		r := b.createTemplate(object{"name": "n" + randomDigits(9), "category": "MARKETING", "components": components})
		raw := string(b.graph("GET", "/"+r.text("id"), nil).raw)
		b.True(!strings.Contains(raw, "4::"))
		return strings.Count(raw, `"https://scontent.whatsapp.net/`), raw
	}
	n, _ := urls(header, body)
	b.Equal(n, 1)
	n, raw := urls(body, object{"type": "CAROUSEL", "cards": []object{card, card}})
	b.Equal(n, 2)
	b.Equal(strings.Count(raw, "QUICK_REPLY"), 2)
}

func TestABadNameBlamesTheName(t *testing.T) {
	b := newBench(t)
	r := b.createTemplate(object{"name": "No!"})
	b.Equal(r.err().child("error_data").list("blame_field_specs"), []any{[]any{"name"}})
}

func TestAnAuthenticationTemplateIsWrittenByTheProvider(t *testing.T) {
	b := newBench(t)
	r := b.createTemplate(object{"category": "authentication", "components": []object{
		{"type": "BODY", "add_security_recommendation": true}, {"type": "FOOTER", "code_expiration_minutes": 5},
		{"type": "BUTTONS", "buttons": []object{{"type": "otp", "otp_type": "copy_code", "text": "Copy"}}},
	}})
	comps := b.graph("GET", "/"+r.text("id"), nil).list("components")
	b.Equal(asObject(comps[0]).text("text"), "*{{1}}* is your verification code. For your security, do not share this code.")
	b.Equal(asObject(comps[1]).text("text"), "This code expires in 5 minutes.")
	b.Equal(asObject(asObject(comps[2]).list("buttons")[0]).text("type"), "URL")
	b.sim("POST", "/templates/"+r.text("id")+"/review", object{"status": "APPROVED"})
	code := []object{{"type": "text", "text": "123456"}}
	send := func(to string) reply {
		return b.send(object{"to": to, "type": "template", "template": object{
			"name": "order_shipped", "language": object{"code": "en_US"}, "components": []object{
				{"type": "body", "parameters": code}, {"type": "button", "sub_type": "url", "index": 0, "parameters": code},
			},
		}})
	}
	b.sentID(send("16505551234"))
	b.Equal(send("US.123456").err().text("code"), "131062") // not by BSUID
}

func TestTemplatesAreUniqueByNameAndLanguage(t *testing.T) {
	b := newBench(t)
	first := b.createTemplate(object{})
	b.Equal(b.createTemplate(object{}).err().text("error_subcode"), "2388024")
	b.Equal(b.createTemplate(object{"language": "de"}).status, 200)
	r := b.createTemplate(object{"language": "fr", "category": "MARKETING"})
	b.Equal(r.err().text("error_user_msg"), "The category MARKETING doesn't match the one already associated with this template, UTILITY")

	b.sim("POST", "/templates/"+first.text("id")+"/review", object{"status": "APPROVED"})
	b.app.next()
	path := "/" + b.number.WABAID + "/message_templates"
	b.Equal(b.graph("DELETE", path+"?name=order_shipped&hsm_id="+first.text("id"), nil).status, 200)
	h := b.app.next()
	b.Equal(h.value.text("event"), "DELETED")
	b.Equal(h.value["reason"], nil)
	b.Equal(b.createTemplate(object{}).err().text("error_subcode"), "2388023") // the name is blocked for a while
	b.Equal(len(b.graph("GET", path, nil).list("data")), 1)                    // the other language is still there
	b.Equal(b.graph("DELETE", path+"?name=nothing", nil).status, 400)
	b.Equal(b.graph("DELETE", path, nil).status, 400)
}

func TestTemplatesAreDeletedByListsOfIDs(t *testing.T) {
	b := newBench(t)
	a, c := b.createTemplate(object{}), b.createTemplate(object{"name": "other"})
	path := "/" + b.number.WABAID + "/message_templates"
	b.Equal(b.graph("DELETE", path+"?name=other&hsm_ids=[1]", nil).err().text("code"), "100")
	b.Equal(b.graph("DELETE", path+"?hsm_ids=["+a.text("id")+","+c.text("id")+"]", nil).status, 200)
	b.Equal(string(b.graph("GET", path, nil).raw), `{"data":[]}`)
	b.Equal(b.graph("GET", "/"+a.text("id"), nil).err().text("error_subcode"), "33")
}

func TestTemplatesAreFiltered(t *testing.T) {
	b := newBench(t)
	b.createTemplate(object{})
	b.createTemplate(object{"name": "sale", "category": "MARKETING", "language": "de"})
	b.sim("POST", "/templates/sale/review", object{"status": "APPROVED"})
	for query, want := range map[string]int{
		"": 2, "name=sale": 1, "status=APPROVED": 1, "status=PENDING,APPROVED": 2, `status=["PENDING"]`: 1,
		"category=MARKETING": 1, "language=de": 1, "name_or_content=way": 2, "quality_score=RED": 0, "name=zzz": 0,
	} {
		r := b.graph("GET", "/"+b.number.WABAID+"/message_templates?"+query, nil)
		b.Equal(len(r.list("data")), want) // query
	}
}

func TestEditsFollowTheProvidersRules(t *testing.T) {
	b := newBench(t)
	b.settings(func(set *Settings) { set.TemplateVerdict = "PENDING" })
	path := "/" + b.createTemplate(object{}).text("id")
	body := object{"components": []object{{"type": "BODY", "text": "New text."}, {"type": "FOOTER", "text": "Bye"}}}
	b.Equal(b.graph("POST", path, body).err().text("error_subcode"), "2388039") // pending
	b.sim("POST", "/templates/order_shipped/review", object{"status": "APPROVED"})
	b.Equal(b.graph("POST", path, object{}).err().text("code"), "100")
	b.Equal(b.graph("POST", path, object{"category": "MARKETING"}).status, 400)
	b.Equal(string(b.graph("POST", path, body).raw), `{"success":true}`)
	node := b.graph("GET", path, nil)
	b.Equal(node.text("status"), "PENDING")
	b.Equal(len(node.list("components")), 2) // replaced as a whole
	b.sim("POST", "/templates/order_shipped/review", object{"status": "APPROVED"})
	b.Equal(b.graph("POST", path, body).status, 400) // once a day
	b.sim("POST", "/templates/order_shipped/review", object{"status": "REJECTED", "reason": "PROMOTIONAL"})
	b.Equal(b.graph("POST", path, object{"category": "MARKETING"}).status, 200)
	b.Equal(b.graph("GET", path+"?fields=category,previous_category", nil).text("previous_category"), "UTILITY")
}

func TestAPausedTemplateCanBeUnpaused(t *testing.T) {
	b := newBench(t)
	id, err := b.s.AddTemplate(b.number.WABAID, bodyTemplate("hello", "utility"))
	b.NoErr(err)
	send := func() reply {
		return b.send(object{"to": "16505551234", "type": "template", "template": object{"name": "hello", "language": "en_US",
			"components": []object{{"type": "body", "parameters": []object{{"type": "text", "text": "x"}}}}}})
	}
	b.sentID(send())
	b.app.next()
	for _, tt := range []struct{ status, code string }{
		{"PAUSED", "132015"}, {"DISABLED", "132016"}, {"REJECTED", "132001"}, {"PENDING", "132001"},
	} {
		b.sim("POST", "/templates/"+id+"/review", object{"status": tt.status})
		b.Equal(send().err().text("code"), tt.code)
		b.Equal(b.app.next().value.text("event"), tt.status)
	}
	b.Equal(b.graph("POST", "/"+id+"/unpause", nil).status, 400)
	b.sim("POST", "/templates/"+id+"/review", object{"status": "PAUSED"})
	b.Equal(b.app.next().value.child("other_info").text("title"), "SECOND_PAUSE")
	b.Equal(b.graph("POST", "/"+id+"/unpause", nil).status, 200)
	b.Equal(b.app.next().value.text("event"), "APPROVED")
	b.sentID(send())
}

func TestAPauseEndsAndTheThirdDisables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStill(t, "")
		defer b.s.Close()
		id, err := b.s.AddTemplate(b.n.WABAID, bodyTemplate("hello", "utility"))
		b.NoErr(err)
		set := func(status string) {
			b.s.mu.Lock()
			b.s.review(b.s.world.Templates[id], status, "")
			b.s.mu.Unlock()
		}
		hears := func() string {
			synctest.Wait()
			if len(b.hooks) == 0 {
				return ""
			}
			h := <-b.hooks
			return h.value.text("event") + " " + h.value.child("other_info").text("title")
		}
		set("PAUSED")
		b.Equal(hears(), "PAUSED FIRST_PAUSE")
		set("APPROVED") // before its time, and paused again
		b.Equal(hears(), "APPROVED UNPAUSE")
		time.Sleep(time.Hour)
		set("PAUSED")
		b.Equal(hears(), "PAUSED SECOND_PAUSE")
		time.Sleep(6*time.Hour - time.Second) // over the end of the first
		b.Equal(hears(), "")
		time.Sleep(time.Second)
		b.Equal(hears(), "APPROVED UNPAUSE")
		set("APPROVED")
		b.Equal(hears(), "APPROVED ")
		set("PAUSED")
		b.Equal(hears(), "DISABLED ")
		time.Sleep(day)
		b.Equal(hears(), "")
	})
}

func TestAtMostAHundredTemplatesAreCreatedInAnHour(t *testing.T) {
	b := newBench(t)
	b.s.mu.Lock()
	a := b.s.world.Accounts[b.number.WABAID]
	for range createsPerHour {
		a.Created = append(a.Created, time.Now().Add(-59*time.Minute).UnixMilli())
	}
	b.s.mu.Unlock()
	b.Equal(b.createTemplate(object{}).err().text("code"), "80008")
}

func TestAnotherCategoryIsAnnouncedAndComes(t *testing.T) {
	b := newBench(t)
	_, err := b.s.AddTemplate(b.number.WABAID, bodyTemplate("order", "utility"))
	b.NoErr(err)
	b.sim("POST", "/templates/order/category", object{"category": "marketing", "at": "2026-12-01T00:00:00Z"})
	h := b.app.next()
	b.Equal(h.field, "template_category_update")
	b.Equal(h.value.text("new_category"), "UTILITY")
	b.Equal(h.value.text("correct_category"), "MARKETING")
	b.Equal(h.value.text("category_update_timestamp"), "1796083200")

	b.sim("POST", "/templates/order/category", object{"category": "marketing"})
	h = b.app.next()
	b.Equal(h.value.text("previous_category"), "UTILITY")
	b.Equal(h.value.text("new_category"), "MARKETING")
	b.Equal(b.do("POST", "/_sim/templates/order/category", object{"category": "x"}).err().text("param"), "category")
	b.Equal(b.do("POST", "/_sim/templates/none/category", object{"category": "UTILITY"}).status, 404)
}
