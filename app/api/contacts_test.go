package api

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
	"confab/storage/storagetest"
)

const ana = `{"phone_number":"+15551234567","bsuid":"US.13491208655302741918","username":"Ana.Ruiz","name":"Ana Ruiz","email":"ana@example.com","metadata":{"order": "A-1042"}}`

func TestAContactLivesFromCreateToDelete(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	made := f.call("POST", contacts, ana)
	is.Equal(made.status, 201)
	golden(t, "contact", made.body)
	is.Equal(f.told(f.tenant), "contact.created")
	is.Equal(f.lastEvent().get("data.contact.id"), made.get("data.id"))
	path := contacts + "/" + made.text("data.id")

	golden(t, "contact", f.call("GET", path, "").body)
	golden(t, "contact_list", f.call("GET", contacts, "").body)
	changed := f.call("PATCH", path, `{"name":"Ana","email":null,"opted_in":true}`)
	is.Equal(changed.status, 200)
	golden(t, "contact_changed", changed.body)
	is.Equal(f.told(f.tenant), "contact.consent_changed; contact.updated name,email")
	is.Equal(f.call("GET", path, "").get("data"), changed.get("data"))

	golden(t, "contact_deleted", f.call("DELETE", path, "").body)
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		is.Equal(f.call(method, path, "").code(), "404 resource_not_found")
	}
	is.Equal(f.call("GET", contacts, "").get("data"), []any{})
	is.Equal(f.told(f.tenant), "") // no event about the end
	is.Equal(f.call("POST", contacts, ana).status, 201)
}

func TestAnAliasIsTakenLikeANumber(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	c := f.contact(account, "+553187654321")
	storagetest.Update(t, f.db, func(tx *storage.Tx) error { return tx.AddAlias(c, "+5531987654321") })
	for _, phone := range []string{"+5531987654321", "5531987654321", "+553187654321"} {
		is.Equal(f.call("POST", contacts, `{"phone_number":"`+phone+`"}`).code(), "409 contact_already_exists phone_number")
		found := f.call("GET", contacts+"?phone_number="+strings.TrimPrefix(phone, "+"), "")
		list := found.get("data").([]any)
		is.Equal(len(list), 1)
		is.Equal(list[0].(map[string]any)["id"], c.ID)
		is.Equal(list[0].(map[string]any)["phone_number"], "+553187654321")
	}

	sent := f.call("POST", messages, storagetest.Swap(t, message("text", `{"body":"hi"}`), "+15551234567", "+5531987654321"))
	is.Equal(sent.text("data.contact_id"), c.ID)
	is.Equal(sent.text("data.to"), "+5531987654321") // as it was asked
	is.Equal(f.call("DELETE", contacts+"/"+c.ID, "").status, 200)
	is.Equal(f.call("POST", contacts, `{"phone_number":"+5531987654321"}`).status, 201)
}

func TestAContactShowsTheCustomerOfItsNumber(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	id := f.db.NewID("cus_")
	f.exec(`INSERT INTO customers (id, organization_id, team_id, name, created_at, updated_at) VALUES (?, ?, ?, 'Bakery', 1, 1)`, id, account.OrganizationID, account.TeamID)
	f.exec(`UPDATE accounts SET customer_id = ? WHERE id = ?`, id, account.ID)
	made := f.call("POST", contacts, `{"bsuid":"US.1"}`)
	is.Equal(made.get("data.chat_account.customer"), map[string]any{"id": id, "name": "Bakery"})
	is.Equal(made.get("data.chat_account.phone_number_id"), number)
	is.Equal(made.get("data.phone_number"), nil)
	is.Equal(made.get("data.labels"), []any{})
}

// contactRule is a value for a field, and what becomes of it.
type contactRule struct {
	field string
	value string // JSON
	post  string
	patch string
}

const (
	good        = "201"
	kept        = "200"
	badName     = "400 invalid_field_value name"
	badUsername = "400 invalid_field_value username"
	badEmail    = "400 invalid_field_value email"
	badMetadata = "400 invalid_field_value metadata"
	badOptIn    = "400 invalid_field_value opted_in"
	badBSUID    = "400 invalid_field_value bsuid"
	badPhone    = "400 invalid_phone_number phone_number"
	fixedPhone  = "400 invalid_field_value phone_number"
)

func quoted(c string, n int) string { return `"` + strings.Repeat(c, n) + `"` }

// fields is an object with n keys.
func fields(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"k%d": %d`, i, i))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

var contactRules = []contactRule{
	{"name", `"Ana"`, good, kept}, {"name", quoted("ä", 200), good, kept}, {"name", quoted("x", 201), badName, badName},
	{"name", `""`, badName, badName}, {"name", `null`, good, kept}, {"name", `7`, badName, badName}, {"name", `["x"]`, badName, badName},
	{"username", `"Ana.Ruiz_1"`, good, kept}, {"username", quoted("x", 100), good, kept}, {"username", quoted("x", 101), badUsername, badUsername},
	{"username", `""`, badUsername, badUsername}, {"username", `null`, good, kept}, {"username", `{}`, badUsername, badUsername},
	{"email", `"ana@example.com"`, good, kept}, {"email", `"a@` + strings.Repeat("b", 249) + `.com"`, good, kept},
	{"email", `"a@` + strings.Repeat("b", 250) + `.com"`, badEmail, badEmail}, {"email", `""`, badEmail, kept}, {"email", `null`, good, kept},
	{"email", `"ana"`, badEmail, badEmail}, {"email", `"Ana <ana@example.com>"`, badEmail, badEmail}, {"email", `"ana@"`, badEmail, badEmail},
	{"email", `true`, badEmail, badEmail},
	{"metadata", `{}`, good, kept}, {"metadata", `null`, good, kept}, {"metadata", `{"a":[1,{"b":null}],"c":1.50}`, good, kept},
	{"metadata", `[]`, badMetadata, badMetadata}, {"metadata", `"x"`, badMetadata, badMetadata}, {"metadata", `7`, badMetadata, badMetadata},
	{"metadata", fields(64), good, kept}, {"metadata", fields(65), badMetadata, badMetadata},
	{"metadata", `{"a":` + quoted("x", 16376) + `}`, good, kept}, {"metadata", `{"a":` + quoted("x", 16377) + `}`, badMetadata, badMetadata},
	{"metadata", `{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`, badMetadata, badMetadata}, // deeper than the database reads
	{"opted_in", `true`, good, kept}, {"opted_in", `false`, good, kept}, {"opted_in", `null`, good, badOptIn}, {"opted_in", `"true"`, badOptIn, badOptIn},
	{"opted_in", `1`, badOptIn, badOptIn},
	{"bsuid", `"DE.abc123"`, good, kept}, {"bsuid", `"US.` + strings.Repeat("9", 128) + `"`, good, kept}, {"bsuid", `"US.` + strings.Repeat("9", 129) + `"`, badBSUID, kept},
	{"bsuid", `"us.1"`, badBSUID, kept}, {"bsuid", `"USA.1"`, badBSUID, kept}, {"bsuid", `"US.ENT.1"`, badBSUID, kept}, {"bsuid", `"US."`, badBSUID, kept},
	{"bsuid", `""`, badBSUID, kept}, {"bsuid", `5`, badBSUID, kept}, {"bsuid", `null`, good, kept},
	{"phone_number", `"+4917012345678"`, good, fixedPhone}, {"phone_number", `"4917012345678"`, good, fixedPhone}, {"phone_number", `"+1234567"`, good, fixedPhone},
	{"phone_number", `"+123456789012345"`, good, fixedPhone}, {"phone_number", `"+1234567890123456"`, badPhone, fixedPhone}, {"phone_number", `"+123456"`, badPhone, fixedPhone},
	{"phone_number", `"+0170123456"`, badPhone, fixedPhone}, {"phone_number", `"+49 170 1234567"`, badPhone, fixedPhone}, {"phone_number", `""`, badPhone, fixedPhone},
	{"phone_number", `null`, good, fixedPhone}, {"phone_number", `4917012345678`, "400 invalid_field_value phone_number", fixedPhone},
	{"marketing_opted_out", `true`, good, kept}, {"id", `"ctc_1"`, good, kept}, {"NAME", `7`, good, kept}, // none of the fields that count
}

func TestEveryRuleOfAContact(t *testing.T) {
	f, _ := serveNumber(t)
	for i, rule := range contactRules {
		t.Run(fmt.Sprintf("%s %.40s", rule.field, rule.value), func(t *testing.T) {
			is := is.New(t)
			f := f.in(t)
			number := fmt.Sprintf("3%014d", i)
			f.connect(f.tenant, number)
			path := "/" + number + "/contacts"
			start := `{"phone_number":"+15551234567","bsuid":"US.1"}`
			body := start[:len(start)-1] + `,"` + rule.field + `":` + rule.value + `}` // of a repeated name the last counts
			effects := f.effects()
			got := f.call("POST", path, body)
			is.Equal(got.code(), rule.post)
			if got.status != 201 {
				is.Equal(f.effects(), effects) // nothing is left of it
				got = f.call("POST", path, start)
			}
			path += "/" + got.text("data.id")
			before := f.call("GET", path, "").get("data")
			got = f.call("PATCH", path, `{"opted_in":false,"`+rule.field+`":`+rule.value+`}`)
			is.Equal(got.code(), rule.patch)
			if got.status != 200 {
				is.Equal(f.call("GET", path, "").get("data"), before) // not half of it either
			}
		})
	}
}

func TestAContactNeedsANumberOrABSUID(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	for _, body := range []string{``, `{}`, `{"name":""}`, `{"phone_number":null}`, `{"bsuid":null,"email":"x"}`, `{"PHONE_NUMBER":"+15551234567"}`} {
		is.Equal(f.call("POST", contacts, body).code(), "400 missing_required_field phone_number")
		is.True(described().refuses("POST", contacts, body))
	}
	is.Equal(f.call("POST", contacts, `{"bsuid":"US.1","phone_number":null}`).status, 201)
	is.Equal(f.call("POST", contacts, `{"phone_number":"15551234567","bsuid":null}`).get("data.phone_number"), "+15551234567")
}

func TestAContactIsMadeOnce(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	f.connect(f.tenant, "206540352242922")
	is.Equal(f.call("POST", contacts, ana).status, 201)
	for body, param := range map[string]string{
		`{"phone_number":"+15551234567"}`:                                      "phone_number",
		`{"phone_number":"15551234567","bsuid":"US.2"}`:                        "phone_number",
		`{"bsuid":"US.13491208655302741918"}`:                                  "bsuid",
		`{"bsuid":"US.13491208655302741918","phone_number":"+15551234568"}`:    "bsuid",
		`{"bsuid":"US.13491208655302741918","phone_number":"+1555123456 7"}`:   "",
		`{"bsuid":"US.13491208655302741918","phone_number":"+15551234567"}`:    "phone_number",
		`{"bsuid":"US.13491208655302741918","username":"Ana.Ruiz","name":"A"}`: "bsuid",
	} {
		got := f.call("POST", contacts, body)
		if param == "" {
			is.Equal(got.code(), "400 invalid_phone_number phone_number") // a value wrong in itself comes first
			continue
		}
		is.Equal(got.code(), "409 contact_already_exists "+param)
		is.Equal(got.get("error.type"), "conflict")
	}
	is.Equal(f.told(f.tenant), "contact.created")
	is.Equal(f.call("POST", "/206540352242922/contacts", ana).status, 201) // another number knows her for itself

	first := f.call("POST", contacts, `{"bsuid":"US.7"}`, "Idempotency-Key: seven")
	again := f.call("POST", contacts, `{"bsuid":"US.7"}`, "Idempotency-Key: seven")
	is.Equal(again.status, 201)
	is.Equal(again.body, first.body)
	is.Equal(again.header.Get("Idempotent-Replayed"), "true")
	is.Equal(f.call("POST", contacts, `{"bsuid":"US.8"}`, "Idempotency-Key: seven").code(), "422 idempotency_key_reuse")
}

func TestAContactChangeNeedsSomethingToDo(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	path := contacts + "/" + f.contact(account, "+15551234567").ID
	for _, body := range []string{``, `{}`, `{"unknown":1}`, `{"bsuid":"US.1"}`, `{"marketing_opted_out":true}`} {
		is.Equal(f.call("PATCH", path, body).code(), "400 missing_required_field name")
		is.True(described().refuses("PATCH", path, body))
	}
	is.True(described().refuses("PATCH", path, `{"name":"x","phone_number":"+15551234567"}`))
}

// Each step changes the contact as it was left by the one before.
func TestOnlyWhatChangedIsToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t)
		account := f.connect(f.tenant, number)
		c := f.contact(account, "+15551234567")
		f.say(c, received("wamid.1"))
		path, thread := contacts+"/"+c.ID, conversations+"?contact_id="+c.ID
		for _, step := range []struct {
			body    string
			told    string
			updated bool // the contact
			shown   bool // the conversation shows it
		}{
			{`{"name":"Ana"}`, "contact.updated name", true, true},
			{`{"name":"Ana"}`, "", false, false},
			{`{"name":"Ana","email":null,"metadata":null,"opted_in":false,"username":null}`, "", false, false},
			{`{"email":"ana@example.com","name":"Ana"}`, "contact.updated email", true, false},
			{`{"metadata":{"b":1,"a":[1,2]}}`, "contact.updated metadata", true, false},
			{`{"metadata":{ "a": [1, 2], "b": 1 }}`, "", false, false}, // the same in other words
			{`{"metadata":{"b":1}}`, "contact.updated metadata", true, false},
			{`{"metadata":{"b":1.0}}`, "contact.updated metadata", true, false},
			{`{"username":"ana"}`, "", true, false},
			{`{"username":"Ana"}`, "", true, false},
			{`{"opted_in":true}`, "contact.consent_changed", true, false},
			{`{"opted_in":true}`, "", false, false},
			{`{"name":null,"email":"","metadata":null,"username":null}`, "contact.updated name,email,metadata", true, true},
			{`{"name":null,"email":"","metadata":null,"username":null}`, "", false, false},
			{`{"name":"Bea","email":"b@example.com","metadata":{}}`, "contact.updated name,email,metadata", true, true},
			{`{"name":"Bea","phone_number":"+15551234567"}`, "", false, false}, // refused
		} {
			time.Sleep(time.Second)
			got := f.call("PATCH", path, step.body)
			is.Equal(got.status == 200, !strings.Contains(step.body, "phone_number"))
			is.Equal(f.told(f.tenant), step.told)
			now := storage.Now().String()
			is.Equal(f.call("GET", path, "").text("data.updated_at") == now, step.updated)
			list, _ := f.call("GET", thread, "").get("data").([]any)
			is.Equal(list[0].(map[string]any)["updated_at"] == now, step.shown)
		}
		is.Equal(f.call("GET", path, "").get("data.email"), "b@example.com")
		is.Equal(f.call("GET", path, "").get("data.metadata"), map[string]any{})
	})
}

func TestANameFromTheAPIIsOurs(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	ours := func(id string) (ours bool) {
		t.Helper()
		storagetest.View(t, f.db, func(rx *storage.Rx) error {
			c, err := rx.Contact(account.ID, id)
			ours = c.NameSetByClient
			return err
		})
		return ours
	}
	is.True(ours(f.call("POST", contacts, `{"bsuid":"US.1","name":"Ana"}`).text("data.id")))
	id := f.call("POST", contacts, `{"bsuid":"US.2"}`).text("data.id")
	is.True(!ours(id))
	f.exec(`UPDATE contacts SET name = 'Bea' WHERE id = ?`, id) // as the person calls itself
	is.Equal(f.call("PATCH", contacts+"/"+id, `{"username":"bea"}`).status, 200)
	is.True(!ours(id))
	f.told(f.tenant)
	is.Equal(f.call("PATCH", contacts+"/"+id, `{"name":"Bea"}`).status, 200)
	is.True(ours(id)) // the same name, but now it is meant to stay
	is.Equal(f.told(f.tenant), "")
	is.Equal(f.call("PATCH", contacts+"/"+id, `{"name":null}`).status, 200)
	is.True(!ours(id))
}

// With a contact its words are gone from the bodies in the API log, also from those of calls
// that are about no number, and those that are not written yet.
func TestADeletedContactsWordsAreInNoLoggedBody(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	f.api.LogBodies = rest.BodiesAll
	const word = "w7x5421z"
	made := f.call("POST", contacts, `{"phone_number":"+15550001111","name":"`+word+`"}`)
	is.Equal(made.status, 201)
	f.call("POST", contacts, `{"phone_number":"+1 555 000 1111","name":"`+word+`"}`) // refused: it is there
	f.call("GET", "/events", "")
	is.NoErr(f.api.APILog.Flush(t.Context()))
	f.call("GET", contacts, "")

	is.Equal(f.call("DELETE", contacts+"/"+made.text("data.id"), "").status, 200)
	is.NoErr(f.api.APILog.Flush(t.Context()))
	kept := storagetest.Select[string](t, f.dir, `SELECT request || response FROM api_log_bodies`)
	is.Equal(len(kept), 1) // of the deletion
	is.True(!strings.Contains(kept[0], word))
}
