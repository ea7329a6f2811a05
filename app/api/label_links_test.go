package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func attach(label string) string { return `{"label_id":"` + label + `"}` }

func TestALabelIsAttachedAndDetached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serveDirectly(t)
		account := f.connect(f.tenant, number)
		vip, other := f.label("VIP"), f.label("Other")
		c := f.contact(account, "+15551234567")
		thread := f.say(c, received("wamid.1"))[0].ConversationID
		for _, of := range []struct{ kind, path, id, event string }{
			{"contact", contacts, c.ID, "contact.updated labels"},
			{"conversation", conversations, thread, ""},
		} {
			is := is.New(t)
			path := of.path + "/" + of.id
			for _, step := range []struct {
				method, label string
				changes       bool
				left          []string
			}{
				{"POST", vip, true, []string{vip}},
				{"POST", vip, false, []string{vip}},
				{"POST", other, true, []string{other, vip}}, // in the order of their names
				{"DELETE", vip, true, []string{other}},
				{"DELETE", vip, false, []string{other}},
				{"DELETE", other, true, nil},
			} {
				time.Sleep(time.Second)
				var got answer
				if step.method == "POST" {
					got = f.call("POST", path+"/labels", attach(step.label))
				} else {
					got = f.call("DELETE", path+"/labels/"+step.label, "")
				}
				is.Equal(got.status, 200)
				is.Equal(got.get("data"), map[string]any{of.kind + "_id": of.id, "label_id": step.label, "attached": step.method == "POST"})
				if step.changes {
					is.Equal(f.told(f.tenant), of.event)
				} else {
					is.Equal(f.told(f.tenant), "")
				}
				shown := f.call("GET", path, "")
				is.Equal(shown.text("data.updated_at") == storage.Now().String(), step.changes)
				is.Equal(labelsOf(shown), step.left)
			}
		}
		is := is.New(t)
		f.call("POST", contacts+"/"+c.ID+"/labels", attach(vip))
		is.Equal(f.lastEvent().get("data.contact.updated_at"), f.call("GET", contacts+"/"+c.ID, "").get("data.updated_at"))
		is.Equal(labelsOf(f.call("GET", conversations+"/"+thread, "")), nil) // a contact's labels are its own
	})
}

// labelsOf are the ids of the labels that a resource shows.
func labelsOf(a answer) (ids []string) {
	list, _ := a.get("data.labels").([]any)
	for _, l := range list {
		ids = append(ids, l.(map[string]any)["id"].(string))
	}
	return ids
}

func TestWhatIsAttachedMustFit(t *testing.T) {
	f, account := serveNumber(t)
	c := f.contact(account, "+15551234567")
	thread := f.say(c, received("wamid.1"))[0].ConversationID
	mine := f.label("Mine")
	elsewhere := f.labelOf(f.tenant, f.team(f.tenant, "Support").ID, "Elsewhere")
	stranger := storagetest.Seed(t, f.db, "Other")
	foreign := f.labelOf(stranger, stranger.Team.ID, "Foreign")
	gone := f.db.NewID(storage.PrefixLabel)
	for _, path := range []string{contacts + "/" + c.ID + "/labels", conversations + "/" + thread + "/labels"} {
		is := is.New(t)
		for body, want := range map[string]string{
			``:                        "400 missing_required_field label_id",
			`{}`:                      "400 missing_required_field label_id",
			`{"label_id":null}`:       "400 missing_required_field label_id",
			`{"label_id":""}`:         "400 invalid_field_value label_id",
			`{"label_id":"x"}`:        "400 invalid_field_value label_id",
			`{"label_id":7}`:          "400 invalid_field_value label_id",
			`{"label_id":["x"]}`:      "400 invalid_field_value label_id",
			attach("ctc_" + gone[4:]): "400 invalid_field_value label_id",
			attach(elsewhere):         "400 invalid_field_value label_id",
			attach(gone):              "404 resource_not_found",
			attach(foreign):           "404 resource_not_found",
			`{`:                       "400 invalid_json",
		} {
			is.Equal(f.call("POST", path, body).code(), want)
		}
		is.Equal(f.call("POST", path, attach(mine)).status, 200)
		for label, want := range map[string]string{
			gone: "404 resource_not_found", foreign: "404 resource_not_found", "x": "404 resource_not_found", strings.ToLower(mine): "404 resource_not_found",
			elsewhere: "200", // of another team, so it is not attached
		} {
			is.Equal(f.call("DELETE", path+"/"+label, "").code(), want)
		}
		is.Equal(labelsOf(f.call("GET", strings.TrimSuffix(path, "/labels"), "")), []string{mine}) // untouched
		first := f.call("POST", path, attach(mine), "Idempotency-Key: "+path)
		is.Equal(f.call("POST", path, attach(mine), "Idempotency-Key: "+path).body, first.body)
	}
}

func TestADeletedLabelIsOffEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t)
		account := f.connect(f.tenant, number)
		vip, other := f.label("VIP"), f.label("Other")
		ids := f.insertContacts(account, 0, 300, true)
		for _, l := range []string{vip, other} {
			f.call("POST", contacts+"/bulk_label", bulk("attach", l, ids...))
			f.exec(`INSERT INTO conversation_labels SELECT id, ? FROM conversations`, l)
		}
		f.told(f.tenant)
		time.Sleep(time.Second)
		tag := f.call("GET", conversations, "").header.Get("ETag")
		is.Equal(f.call("DELETE", "/labels/"+vip, "").status, 200)
		is.Equal(f.told(f.tenant), "") // without contact events
		is.Equal(len(f.call("GET", contacts+"?label_id="+vip, "").ids()), 0)
		for _, path := range []string{contacts + "/" + ids[0], conversations + "/" + f.call("GET", conversations, "").ids()[7]} {
			shown := f.call("GET", path, "")
			is.Equal(labelsOf(shown), []string{other})
			is.True(shown.text("data.updated_at") > storage.Now().Add(-time.Second).String())
		}
		is.Equal(f.call("GET", conversations, "", "If-None-Match: "+tag).status, 200)
	})
}

func bulk(operation, label string, ids ...string) string {
	body, err := json.Marshal(map[string]any{"contact_ids": ids, "label_id": label, "operation": operation})
	if err != nil {
		panic(err)
	}
	return string(body)
}

// counts are a bulk answer in short: applied, unchanged, not ours, of another team.
func counts(a answer) string {
	return fmt.Sprint(a.get("data.applied"), a.get("data.unchanged"), a.get("data.skipped_cross_org"), a.get("data.skipped_team_mismatch"))
}

func TestLabelsAreChangedInBulk(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	path := contacts + "/bulk_label"
	label := f.label("VIP")
	elsewhere := f.labelOf(f.tenant, f.team(f.tenant, "Support").ID, "VIP")
	ids := f.insertContacts(account, 0, 4, false)
	other := f.insertContacts(f.connect(f.tenant, "206540352242922"), 0, 1, false)[0]
	stranger := storagetest.Seed(t, f.db, "Other")
	foreign := f.insertContacts(f.connect(stranger, "306540352242922"), 0, 1, false)[0]
	gone := f.db.NewID(storage.PrefixContact)

	for _, step := range []struct {
		body   string
		counts string
		told   int
	}{
		{bulk("attach", label, ids[0]), "1 0 0 0", 1},
		{bulk("attach", label, ids[0], ids[1], ids[2]), "3 1 0 0", 2},
		{bulk("attach", label, ids[0], ids[1], ids[2]), "3 3 0 0", 0},
		{bulk("attach", label, ids[3], ids[3], ids[0], ids[3]), "2 1 0 0", 1}, // each counts once
		{bulk("attach", label, ids[0], other, foreign, gone), "1 1 3 0", 0},
		{bulk("attach", label, other, foreign), "0 0 2 0", 0},
		{bulk("attach", elsewhere, ids[0], ids[1], gone), "0 0 1 2", 0},
		{bulk("detach", elsewhere, ids...), "0 0 0 4", 0},
		{bulk("detach", label, ids[0], ids[1], foreign), "2 0 1 0", 2},
		{bulk("detach", label, ids...), "4 2 0 0", 2},
		{bulk("detach", label, ids...), "4 4 0 0", 0},
	} {
		got := f.call("POST", path, step.body)
		is.Equal(got.status, 200)
		is.Equal(counts(got), step.counts)
		told := strings.Count(f.told(f.tenant), "contact.updated labels")
		is.Equal(told, step.told)
	}
	golden(t, "bulk_label", f.call("POST", path, bulk("attach", label, ids...)).body)
	event := f.lastEvent()
	is.Equal(event.get("data.contact.updated_at"), f.call("GET", contacts+"/"+event.text("data.contact.id"), "").get("data.updated_at"))
	for _, id := range ids {
		is.Equal(labelsOf(f.call("GET", contacts+"/"+id, "")), []string{label})
	}
	is.Equal(labelsOf(f.callAs(stranger.Secret, "GET", "/306540352242922/contacts/"+foreign, "")), nil)
	is.Equal(f.told(stranger), "")
	again := f.call("POST", path, bulk("detach", label, ids[0]), "Idempotency-Key: once")
	is.Equal(counts(again), "1 0 0 0")
	is.Equal(counts(f.call("POST", path, bulk("detach", label, ids[0]), "Idempotency-Key: once")), "1 0 0 0") // as it was
}

func TestAThousandContactsAreLabelledAtOnce(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	label := f.label("VIP")
	ids := f.insertContacts(account, 0, 1000, false)
	f.call("POST", contacts+"/"+ids[500]+"/labels", attach(label))
	f.told(f.tenant)
	got := f.call("POST", contacts+"/bulk_label", bulk("attach", label, ids...))
	is.Equal(counts(got), "1000 1 0 0")
	is.Equal(strings.Count(f.told(f.tenant), "contact.updated labels"), 999)
	is.Equal(len(f.walk(contacts+"?limit=100&label_id="+label, nil)), 1000)
}

func TestEveryRuleOfABulkLabel(t *testing.T) {
	f, account := serveNumber(t)
	label, id := f.label("VIP"), f.contact(account, "+15551234567").ID
	foreign := storagetest.Seed(t, f.db, "Other")
	many := slices.Repeat([]string{id}, 1001)
	fields := func(contacts, label, operation string) string {
		var all []string
		for name, value := range map[string]string{"contact_ids": contacts, "label_id": label, "operation": operation} {
			if value != "" {
				all = append(all, `"`+name+`":`+value)
			}
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	one, its, op := `["`+id+`"]`, `"`+label+`"`, `"attach"`
	for _, tt := range []struct{ body, want string }{
		{fields(one, its, op), "200"},
		{bulk("attach", label, many[:1000]...), "200"},
		{bulk("attach", label, many...), "400 invalid_field_value contact_ids"}, // as many ids as it has
		{``, "400 missing_required_field contact_ids"},
		{fields("", its, op), "400 missing_required_field contact_ids"},
		{fields(`null`, its, op), "400 missing_required_field contact_ids"},
		{fields(`[]`, its, op), "400 invalid_field_value contact_ids"},
		{fields(`"`+id+`"`, its, op), "400 invalid_field_value contact_ids"},
		{fields(`{}`, its, op), "400 invalid_field_value contact_ids"},
		{fields(`["`+id+`","x"]`, its, op), "400 invalid_field_value contact_ids[1]"},
		{fields(`["`+id+`",null]`, its, op), "400 invalid_field_value contact_ids[1]"},
		{fields(`["`+id+`","`+id+`",7]`, its, op), "400 invalid_field_value contact_ids[2]"},
		{fields(`["`+strings.ToLower(id)+`"]`, its, op), "400 invalid_field_value contact_ids[0]"},
		{fields(one, "", op), "400 missing_required_field label_id"},
		{fields(one, `null`, op), "400 missing_required_field label_id"},
		{fields(one, `"x"`, op), "400 invalid_field_value label_id"},
		{fields(one, `1`, op), "400 invalid_field_value label_id"},
		{fields(one, `"`+f.db.NewID(storage.PrefixLabel)+`"`, op), "404 resource_not_found"},
		{fields(one, `"`+f.labelOf(foreign, foreign.Team.ID, "x")+`"`, op), "404 resource_not_found"},
		{fields(one, its, ""), "400 missing_required_field operation"},
		{fields(one, its, `null`), "400 missing_required_field operation"},
		{fields(one, its, `""`), "400 invalid_field_value operation"},
		{fields(one, its, `"ATTACH"`), "400 invalid_field_value operation"},
		{fields(one, its, `true`), "400 invalid_field_value operation"},
		{fields("", "", ""), "400 missing_required_field contact_ids"}, // the first of them
		{fields(one, "", ""), "400 missing_required_field label_id"},
	} {
		t.Run(fmt.Sprintf("%.80s", tt.body), func(t *testing.T) {
			is := is.New(t)
			effects := f.effects()
			got := f.in(t).call("POST", contacts+"/bulk_label", tt.body)
			is.Equal(got.code(), tt.want)
			if got.status != 200 {
				is.Equal(f.effects(), effects)
			}
		})
	}
	is := is.New(t)
	is.Equal(f.call("GET", contacts+"/bulk_label", "").code(), "404 resource_not_found")
	refused := f.call("POST", contacts+"/"+id, bulk("attach", label, id))
	is.Equal(refused.code(), "405 method_not_allowed")
	is.Equal(refused.header.Get("Allow"), "GET, HEAD, PATCH, DELETE")
	is.Equal(f.call("POST", "/999999999/contacts/bulk_label", bulk("attach", label, id)).code(), "404 resource_not_found")
}
