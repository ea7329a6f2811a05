package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/jobs/mergefield"
	"confab/storage"
	"confab/storage/storagetest"
)

const (
	broadcasts = "/106540352242922/broadcasts"
	saleOf     = `{"name":"sale","language":"en","components":[{"type":"body","parameters":[{"type":"text","text":"{{name}}"}]}]}`
)

// serveBroadcasts is a number with a template and a person.
func serveBroadcasts(t testing.TB) (f *fixture, person storage.Contact, label string) {
	t.Helper()
	dir := t.TempDir()
	f = serve(t, func(o *testOptions) { o.Files = storagetest.Files(t, dir) })
	a := f.connect(f.tenant, "106540352242922")
	f.template(a, storage.Template{Name: "sale", Category: "MARKETING", Components: storage.JSON(`[{"type":"BODY","text":"Hi {{1}}, come in."}]`)})
	return f, f.contact(a, "+15551234567"), f.labelOf(f.tenant, a.TeamID, "VIP")
}

func saleTo(audience string) string {
	return `{"name":"Sale","template":` + saleOf + `,"audience":` + audience + `}`
}

// uploadPeople posts a form with a CSV file.
func (f *fixture) uploadPeople(part, file string, headers ...string) answer {
	f.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if part != "" {
		_ = form.WriteField("broadcast", part)
	}
	w, _ := form.CreateFormFile("recipients", "people.csv")
	_, _ = io.WriteString(w, file)
	_ = form.Close()
	r, _ := http.NewRequest("POST", f.url+broadcasts, &body)
	r.Header.Set("Authorization", "Bearer "+f.tenant.Secret)
	r.Header.Set("Content-Type", form.FormDataContentType())
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: string(text)}
}

// shown are the recipients of a broadcast, as "number status reason".
func (f *fixture) shown(id string) (all []string) {
	f.t.Helper()
	for _, item := range f.call("GET", broadcasts+"/"+id+"/recipients?limit=100", "").get("data").([]any) {
		r := item.(map[string]any)
		all = append(all, strings.TrimSuffix(fmt.Sprint(r["to"], " ", r["status"], " ", r["skipped_reason"]), " <nil>"))
	}
	return all
}

func TestABroadcastIsRefusedWithTheFieldThatIsWrong(t *testing.T) {
	f, person, label := serveBroadcasts(t)
	before := f.effects()
	for body, want := range map[string]string{
		`{}`:          "400 missing_required_field name",
		`{"name":""}`: "400 invalid_field_value name",
		`{"name":"` + strings.Repeat("n", 201) + `"}`: "400 invalid_field_value name",
		`{"name":"n"}`:                           "400 missing_required_field template",
		`{"name":"n","template":` + saleOf + `}`: "400 missing_required_field audience",
		saleTo(`{}`):                             "400 missing_required_field audience.recipients",
		saleTo(`{"label_id":"` + label + `","contact_ids":["` + person.ID + `"]}`): "400 invalid_field_value audience",
		saleTo(`{"label_id":"x"}`):                                                                                       "400 invalid_field_value audience.label_id",
		saleTo(`{"label_id":"lbl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"}`):                                                          "404 resource_not_found",
		saleTo(`{"contact_ids":[]}`):                                                                                     "400 invalid_field_value audience.contact_ids",
		saleTo(`{"contact_ids":["` + person.ID + `","ctc_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"]}`):                                 "400 invalid_field_value audience.contact_ids[1]",
		saleTo(`{"recipients":[{"to":"+15551234567"},{"to":"12"}]}`):                                                     "400 invalid_phone_number audience.recipients[1].to",
		saleTo(`{"recipients":[{}]}`):                                                                                    "400 missing_required_field audience.recipients[0].to",
		saleTo(`{"recipients":[{"to":"+15551234567","fields":{"name":[1]}}]}`):                                           "400 invalid_field_value audience.recipients[0].fields",
		`{"name":"n","template":{"name":"sale","language":"en"},"audience":{"recipients":[{"to":"+15551234567"}]}}`:      "400 invalid_field_value template.components",
		`{"name":"n","scheduled_at":"soon","template":` + saleOf + `,"audience":{"recipients":[{"to":"+15551234567"}]}}`: "400 invalid_field_value scheduled_at",
	} {
		got := f.call("POST", broadcasts, body)
		if got.code() != want {
			t.Errorf("%s: %s, want %s", body, got.code(), want)
		}
	}
	is := is.New(t)
	is.Equal(f.effects(), before)
	const unknown = `{"name":"n","template":{"name":"none","language":"en"},"audience":{"recipients":[{"to":"+15551234567"}]}}`
	is.Equal(f.call("POST", broadcasts, unknown).code(), "400 invalid_template_name template.name")
}

func TestABroadcastIsMadeOfEachAudience(t *testing.T) {
	is := is.New(t)
	f, person, label := serveBroadcasts(t)
	made := f.call("POST", broadcasts, saleTo(`{"recipients":[{"to":"15551234567","fields":{"name":"Ann","other":1}},{"to":"+15551234567"},{"to":"+15551234568"}]}`))
	is.Equal(made.status, 201)
	is.Equal(made.get("data.status"), "running")
	is.Equal(made.get("data.counts.total"), 2.0) // without the duplicate
	is.Equal(made.get("data.audience.type"), "recipients")
	is.Equal(made.get("data.created_by"), f.tenant.Key.ID)
	is.Equal(f.shown(made.text("data.id")), []string{"+15551234567 waiting", "+15551234568 waiting"})

	made = f.call("POST", broadcasts, saleTo(`{"contact_ids":["`+person.ID+`","`+person.ID+`"]}`))
	is.Equal(made.get("data.counts.total"), 1.0)
	is.Equal(f.shown(made.text("data.id")), []string{"+15551234567 waiting"})

	made = f.call("POST", broadcasts, saleTo(`{"label_id":"`+label+`"}`))
	is.Equal(made.get("data.status"), "preparing")
	is.Equal(made.get("data.audience.label_id"), label)
	is.Equal(len(f.call("GET", broadcasts+"?status=preparing", "").get("data").([]any)), 1)
	is.Equal(len(f.call("GET", broadcasts, "").get("data").([]any)), 3)
}

func TestABroadcastIsRefusedInOrder(t *testing.T) {
	is := is.New(t)
	f, person, _ := serveBroadcasts(t)
	f.template(storage.Account{ID: person.AccountID}, storage.Template{Name: "shown", Category: "MARKETING", Components: storage.JSON(`[{"type":"HEADER","format":"IMAGE"},{"type":"BODY","text":"Hi"}]`)})
	shown := func(contact string) string {
		return `{"name":"n","template":{"name":"shown","language":"en","components":[{"type":"header","parameters":[{"type":"image","image":{"id":"med_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"}}]}]},
			"audience":{"contact_ids":["` + contact + `"]}}`
	}
	is.Equal(f.call("POST", broadcasts, shown("ctc_01JQ0Z8M4T9V2X3W5Y6A7B8C9D")).code(), "400 invalid_field_value audience.contact_ids[0]")
	is.Equal(f.call("POST", broadcasts, shown(person.ID)).code(), "422 media_not_found template.components[0].parameters[0].image.id")

	// A request that is repeated with another body is told so before what is wrong with that body.
	const people = "to,name\n+15551234567,Ann\n"
	const sale = `{"name":"Sale","template":` + saleOf + `}`
	is.Equal(f.uploadPeople(sale, people, "Idempotency-Key", "k").status, 201)
	is.Equal(f.uploadPeople("", people, "Idempotency-Key", "k").code(), "422 idempotency_key_reuse")
	is.Equal(f.uploadPeople("", people).code(), "400 missing_required_field broadcast")

	f.exec(`UPDATE organizations SET subscription = 'inactive'`)
	is.Equal(f.call("POST", broadcasts, shown(person.ID)).code(), "402 subscription_inactive")
}

func TestABroadcastMovesOnlyFromTheRightStates(t *testing.T) {
	is := is.New(t)
	f, _, _ := serveBroadcasts(t)
	made := f.call("POST", broadcasts, saleTo(`{"recipients":[{"to":"+15551234567"}]}`))
	move := func(verb string) string {
		got := f.call("POST", broadcasts+"/"+made.text("data.id")+"/"+verb, "")
		if got.status != 200 {
			return got.code()
		}
		return got.text("data.status")
	}
	is.Equal(move("resume"), "409 broadcast_not_active")
	is.Equal(move("pause"), "paused")
	is.Equal(move("pause"), "409 broadcast_not_active")
	is.Equal(move("resume"), "running")
	is.Equal(move("cancel"), "cancelled")
	for _, verb := range []string{"pause", "resume", "cancel"} {
		is.Equal(move(verb), "409 broadcast_not_active")
	}
	is.Equal(f.shown(made.text("data.id")), []string{"+15551234567 skipped broadcast_cancelled"})
	is.Equal(len(f.call("GET", broadcasts+"/"+made.text("data.id")+"/recipients?status=waiting", "").get("data").([]any)), 0)
	is.Equal(len(f.call("GET", broadcasts+"/"+made.text("data.id")+"/recipients?status=skipped", "").get("data").([]any)), 1)
}

func TestRecipientsComeInAFile(t *testing.T) {
	is := is.New(t)
	f, _, _ := serveBroadcasts(t)
	const part = `{"name":"Sale","template":` + saleOf + `}`
	made := f.uploadPeople(part, "\ufeffname;to\r\n\"Ann; \"\"A\"\"\";+15551234567\r\n\r\nBen;'+1 (555) 123-4568\r\nx;=cmd()\r\ny;+1 555 123 4567\r\n", "Idempotency-Key", "k1")
	is.Equal(made.status, 201)
	is.Equal(made.get("data.counts.total"), 3.0)
	is.Equal(made.get("data.counts.skipped"), 1.0)
	is.Equal(f.shown(made.text("data.id")), []string{"+15551234567 waiting", "+15551234568 waiting", "=cmd() skipped invalid_phone_number"})
	again := f.uploadPeople(part, "\ufeffname;to\r\n\"Ann; \"\"A\"\"\";+15551234567\r\n\r\nBen;'+1 (555) 123-4568\r\nx;=cmd()\r\ny;+1 555 123 4567\r\n", "Idempotency-Key", "k1")
	is.Equal(again.text("data.id"), made.text("data.id"))
	is.Equal(again.header.Get("Idempotent-Replayed"), "true")

	file := f.call("GET", broadcasts+"/"+made.text("data.id")+"/recipients.csv", "")
	is.Equal(file.header.Get("Content-Type"), "text/csv; charset=utf-8")
	is.Equal(file.body, "to,contact_id,status,message_id,error,skipped_reason\n+15551234567,,waiting,,,\n+15551234568,,waiting,,,\n'=cmd(),,skipped,,,invalid_phone_number\n")

	for file, want := range map[string]string{
		"":                  "400 invalid_field_value recipients",
		"name\nAnn\n":       "400 invalid_field_value recipients",
		"to,name\n":         "400 invalid_field_value recipients",
		"to\n\xff\n":        "400 invalid_field_value recipients",
		"to\na\x00b\n":      "400 invalid_field_value recipients",
		"to\n\"+1555123456": "201",
		"to,name\n" + strings.Repeat(",", 300) + "\n":           "400 invalid_field_value recipients",
		"to,name\n+15551234567,\"" + strings.Repeat("x", 2<<20): "400 invalid_field_value recipients",
	} {
		got := f.uploadPeople(part, file)
		if got.code() != want && fmt.Sprint(got.status) != want {
			t.Errorf("%.40q: %s, want %s", file, got.body, want)
		}
	}
	is.Equal(f.uploadPeople(part, "5\" pipe;to\nx;+15551234567\n").status, 201)
	is.Equal(f.uploadPeople(part, "to;\"note, long, text\"\n+15551234567;x\n").status, 201) // a comma in quotes separates nothing
	is.Equal(f.uploadPeople(`{"name":"Sale","template":`+saleOf+`,"audience":{"recipients":[{"to":"+15551234567"}]}}`, "to\n+15551234567\n").code(), "400 invalid_field_value audience")
	is.Equal(len(storagetest.Select[int](t, f.dir, `SELECT number FROM broadcasts WHERE status = 'making'`)), 0) // nothing is left of what was refused
}

// Any file is read or refused, in little memory, and the counts add up.
func FuzzRecipientFiles(f *testing.F) {
	for _, seed := range []string{"to,name\n+15551234567,Ann\n", "\ufeffphone_number;x\n1;2", "to\n\"a\"\"b\",\"c", "to,\"\n", ";;;\n", "to\r\n\r\n=1\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		next, err := NewRecipientFile(bytes.NewReader(file), []byte(saleOf))
		for n := 0; err == nil; n++ {
			var some []storage.BroadcastRecipient
			if some, err = next(10); err == nil && len(some) < 10 {
				return
			}
			for _, r := range some {
				if r.Status == storage.RecipientWaiting && (r.PhoneNumber == nil || !rest.IsPhone(*r.PhoneNumber)) {
					t.Fatalf("%v waits", r)
				}
				if r.Fields != nil && !json.Valid(r.Fields) {
					t.Fatalf("the fields are %s", r.Fields)
				}
			}
			if n > len(file) {
				t.Fatal("it has no end")
			}
		}
		if e, ok := err.(*rest.Error); !ok || e.Param != RecipientsPart || rest.AsError(err).Status() != 400 {
			t.Fatal(err)
		}
	})
}

// Any value of a field is filled in once, and the content stays JSON.
func FuzzFields(f *testing.F) {
	f.Add("{{name}}", "Ann")
	f.Add("Hi {{ name }}, {{name}} {{x}}", "{{x}}\"\\")
	f.Fuzz(func(t *testing.T, text, value string) {
		content, err := json.Marshal(map[string]any{"components": []any{map[string]any{"parameters": []any{map[string]any{"type": "text", "text": text}}}}})
		if err != nil {
			return
		}
		template, err := mergefield.Parse(content, &text)
		if err != nil {
			t.Fatal(err)
		}
		var r storage.BroadcastRecipient
		r.SetFields(map[string]string{"name": value, "x": "y"}, template.Names())
		values, err := mergefield.Of(r, storage.Contact{})
		if err != nil {
			t.Fatal(err)
		}
		filled, _, err := template.Fill(values)
		if err == nil && !json.Valid(filled) {
			t.Fatalf("%s", filled)
		}
	})
}

// A quote that somebody forgot to close would make one cell of all lines after it.
func TestAFileWithAQuoteThatIsNotClosedIsRefused(t *testing.T) {
	is := is.New(t)
	f, _, _ := serveBroadcasts(t)
	var file strings.Builder
	file.WriteString("to,name\n")
	for i := range 2000 {
		name := "Ann"
		if i == 2 {
			name = `"Ben`
		}
		fmt.Fprintf(&file, "+1555%07d,%s\n", i, name)
	}
	for _, rest := range []string{"", "+15559999999,\"Eve\"\n"} {
		got := f.uploadPeople(`{"name":"Sale","template":`+saleOf+`}`, file.String()+rest)
		is.Equal(got.code(), "400 invalid_field_value recipients")
		is.True(strings.Contains(got.text("error.message"), "line 4 has a quote that is not closed"))
	}

	got := f.uploadPeople(`{"name":"Sale","template":`+saleOf+`}`, "to,name\n\"+15551234567\",\"A\nB\"\n+15551234568,"+strings.Repeat("x", 1<<20)+"\n")
	is.True(strings.Contains(got.text("error.message"), "line 4 has more than 256 KiB"))
	is.Equal(len(storagetest.Select[int](t, f.dir, `SELECT number FROM broadcasts`)), 0)
}

// A comma in a name that is not in quotes would fill the fields after it with wrong values, and
// of two columns with one name only one could be a field.
func TestAFileWhoseLinesDoNotFitItsHeaderIsRefused(t *testing.T) {
	is := is.New(t)
	f, _, _ := serveBroadcasts(t)
	for file, want := range map[string]string{
		"to,name,x\n+15551234567,Ann,1\n+15551234568,Smith, John,2\n": "line 3 has more cells than the header",
		"to,name,name\n+15551234567,Ann,Anna\n":                       "has the column name twice",
		"to, to \n+15551234567,+15551234568\n":                        "has the column to twice",
	} {
		got := f.uploadPeople(`{"name":"Sale","template":`+saleOf+`}`, file)
		is.Equal(got.code(), "400 invalid_field_value recipients")
		is.True(strings.Contains(got.text("error.message"), want))
	}
	is.Equal(len(storagetest.Select[int](t, f.dir, `SELECT number FROM broadcasts`)), 0)

	made := f.uploadPeople(`{"name":"Sale","template":`+saleOf+`}`, "to,name,,\n+15551234567,Ann,,, \n") // as spreadsheets write
	is.Equal(made.get("data.counts.waiting"), 1.0)
}
