package api

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/jobs"
	"confab/storage"
	"confab/storage/storagetest"
)

const imports = "/" + number + "/contact_imports"

// serveImports starts an API whose imports are done when runImports says so.
func serveImports(t testing.TB) (f *fixture, account storage.Account, run func(testing.TB)) {
	t.Helper()
	dir := t.TempDir()
	files, err := storage.OpenImportFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, account = serveNumber(t, func(o *testOptions) { o.Files, o.Imports = storagetest.Files(t, t.TempDir()), files })
	work := jobs.New(jobs.Options{DB: f.db, Imports: files})
	return f, account, func(t testing.TB) {
		t.Helper()
		for _, id := range storagetest.Select[string](t, f.dir, `SELECT id FROM contact_imports WHERE status = 'running'`) {
			if err := work.ImportContacts(context.Background(), account.ID, id, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// uploadSheet posts a file, with fields as name=value.
func (f *fixture) uploadSheet(path, file string, fields ...string) answer {
	f.t.Helper()
	parts, key := []part{{"file", "contacts.csv", "text/csv", file}}, ""
	for _, field := range fields {
		name, value, _ := strings.Cut(field, "=")
		if name == "Idempotency-Key" {
			key = value
		} else {
			parts = append(parts, part{name: name, content: value})
		}
	}
	body, contentType := formOf(parts...)
	req, err := http.NewRequest("POST", f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Authorization", "Bearer "+f.tenant.Secret)
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return f.do(req)
}

// imported takes a file in, and returns what became of it.
func (f *fixture) imported(run func(testing.TB), file string, fields ...string) answer {
	f.t.Helper()
	done := make(chan answer, 1)
	go func() { done <- f.uploadSheet(imports, file, fields...) }()
	for len(storagetest.Select[string](f.t, f.dir, `SELECT id FROM contact_imports WHERE status = 'running'`)) == 0 {
		select {
		case got := <-done:
			return got // refused
		default:
		}
	}
	run(f.t)
	got := <-done
	if got.status != 202 {
		f.t.Fatal(got.body)
	}
	return f.call("GET", imports+"/"+got.text("data.id"), "")
}

func importCounts(got answer) string {
	return fmt.Sprint(got.get("data.status"), " ", got.get("data.lines"), ": ", got.get("data.created"), " ", got.get("data.updated"), " ", got.get("data.unchanged"), " ", got.get("data.failed"))
}

func (f *fixture) export(query string) (header []string, rows [][]string) {
	f.t.Helper()
	got := f.call("GET", "/"+number+"/contacts.csv"+query, "")
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "text/csv; charset=utf-8" {
		f.t.Fatal(got.status, got.body)
	}
	all, err := csv.NewReader(strings.NewReader(got.body)).ReadAll()
	if err != nil {
		f.t.Fatal(err)
	}
	return all[0], all[1:]
}

func TestContactsAreExported(t *testing.T) {
	is := is.New(t)
	f, account, _ := serveImports(t)
	f.call("POST", contacts, `{"phone_number":"+15550000001","name":"=cmd()","email":"a@example.com","metadata":{"b":"-1","a":5,"@x":{"y":[1]}},"opted_in":true}`)
	second := f.call("POST", contacts, `{"bsuid":"US.1","username":"bo","name":"Bo, \"the\" one\nand only"}`).text("data.id")
	label := f.labelOf(f.tenant, account.TeamID, "+VIP")
	f.call("POST", contacts+"/"+second+"/labels", attach(label))
	f.call("POST", contacts+"/"+second+"/labels", attach(f.labelOf(f.tenant, account.TeamID, "other")))

	header, rows := f.export("")
	is.Equal(header, []string{"phone_number", "bsuid", "username", "name", "email", "labels", "opted_in", "marketing_opted_out", "created_at", "metadata.@x", "metadata.a", "metadata.b"})
	is.Equal(len(rows), 2)
	is.Equal(rows[0][:8], []string{"", "US.1", "bo", "Bo, \"the\" one\nand only", "", "'+VIP;other", "false", "false"})
	is.Equal(rows[0][9:], []string{"", "", ""})
	is.Equal(rows[1][:8], []string{"+15550000001", "", "", "'=cmd()", "a@example.com", "", "true", "false"})
	is.Equal(rows[1][9:], []string{`{"y":[1]}`, "5", "'-1"})
	_, rows = f.export("?label_id=" + label)
	is.Equal(len(rows), 1)
	is.Equal(f.call("GET", "/"+number+"/contacts.csv?bsuid=x", "").code(), "400 invalid_field_value bsuid")
	is.Equal(len(storagetest.Select[string](t, f.dir, `SELECT id FROM audit WHERE action = 'contacts.exported'`)), 2)
}

// TestAnExportLeavesNobodyOut has more contacts than a short look goes through.
func TestAnExportLeavesNobodyOut(t *testing.T) {
	is := is.New(t)
	f, account, _ := serveImports(t)
	storagetest.Update(t, f.db, func(tx *storage.Tx) error {
		for i := range 2500 {
			phone, name := fmt.Sprintf("+1555%07d", i), fmt.Sprintf("Person %d", i)
			if err := tx.InsertContact(&storage.Contact{AccountID: account.ID, PhoneNumber: &phone, Name: &name}); err != nil {
				return err
			}
		}
		return nil
	})
	for _, query := range []string{"", "?search=person", "?updated_since=2020-01-01T00:00:00Z"} {
		_, rows := f.export(query)
		is.Equal(len(rows), 2500)
	}
}

func TestAnImportWhoseLabelIsDeletedGoesOnWithoutIt(t *testing.T) {
	is := is.New(t)
	f, account, run := serveImports(t)
	label := f.labelOf(f.tenant, account.TeamID, "VIP")
	got := f.imported(func(t testing.TB) {
		is.Equal(f.call("DELETE", "/labels/"+label, "").status, 200)
		f.exec(`DELETE FROM labels WHERE id = ?`, label) // as a job does, when no one has it any more
		run(t)
	}, "phone_number\n+15550001111\n+15550002222\n", "label_id="+label)
	is.Equal(importCounts(got), "completed 2: 2 0 0 0")
}

func TestAnExportWithManyKeysHasOneColumnForThem(t *testing.T) {
	is := is.New(t)
	f, _, _ := serveImports(t)
	for i := range 5 {
		var fields []string
		for k := range 60 {
			fields = append(fields, fmt.Sprintf(`"k%d":"v"`, 60*i+k))
		}
		f.call("POST", contacts, fmt.Sprintf(`{"phone_number":"+1555000000%d","metadata":{%s}}`, i, strings.Join(fields, ",")))
	}
	header, rows := f.export("")
	is.Equal(header[9:], []string{"metadata"})
	is.True(strings.HasPrefix(rows[0][9], `{"k240":"v"`))
}

func TestAnExportComesBackWithoutAChange(t *testing.T) {
	is := is.New(t)
	f, account, run := serveImports(t)
	f.labelOf(f.tenant, account.TeamID, "a;b")
	f.call("POST", contacts, `{"phone_number":"+15550000001","name":"=cmd()","email":"a@example.com","metadata":{"b":"-1","a":5,"x":{"y":[1]},"n":null},"opted_in":true}`)
	id := f.call("POST", contacts, `{"bsuid":"US.1","username":"@bo","name":"Bo\nand"}`).text("data.id")
	f.call("POST", contacts+"/"+id+"/labels", attach(f.labelOf(f.tenant, account.TeamID, "VIP")))
	f.call("POST", contacts+"/"+id+"/labels", attach(storagetest.Select[string](t, f.dir, `SELECT id FROM labels WHERE name = 'a;b'`)[0]))
	file := f.call("GET", "/"+number+"/contacts.csv", "").body
	before := f.call("GET", contacts, "").get("data")
	is.Equal(importCounts(f.imported(run, file)), "completed 2: 0 0 2 0")
	is.Equal(f.call("GET", contacts, "").get("data"), before)
	is.Equal(importCounts(f.imported(run, "\xef\xbb\xbf"+strings.ReplaceAll(file, "\n+", "\r\n+"))), "completed 2: 0 0 2 0")
}

func TestEveryRuleOfAnImport(t *testing.T) {
	is := is.New(t)
	f, account, run := serveImports(t)
	f.labelOf(f.tenant, account.TeamID, "VIP")
	f.call("POST", contacts, `{"phone_number":"+15550000001","bsuid":"US.1","name":"Ana","email":"a@example.com","metadata":{"kept":1,"order":"A"},"opted_in":true}`)
	f.call("POST", contacts, `{"bsuid":"US.2"}`)
	got := f.imported(run, strings.Join([]string{
		"Phone_Number;bsuid;name;email;labels;opted_in;marketing_opted_out;metadata.order;metadata.new;ignored",
		"15550000001;;Ana Ruiz;;vip;;true;B;;x", // 2: updated
		";US.2;Bo;;;true;;;;",                   // 3: updated
		"+15550000003;;Cy;;;;;;'=1;",            // 4: created
		"+15550000003;;Cy;;;;;;=1;",             // 5: unchanged
		"",                                      // 6: blank
		";;;;;;;;;",                             // 7: blank
		"nonsense;;;;;;;;;",                     // 8
		";;x;;;;;;;",                            // 9
		"+15550000004;x;;;;;;;;",                // 10
		"+15550000004;;;nobody;;;;;;",           // 11
		"+15550000004;;;;VIP;yes;;;;",           // 12
		"+15550000004;;;;VIP,Gold;;;;;",         // 13
		"+15550000001;US.2;;;;;;;;",             // 14
		"+15550000001;US.9;;;;;;;;",             // 15
		"+15550000009;US.1;;;;;;;;",             // 16
		"+15550000004;;\xff;;;;;;;",             // 17
		"+15550000004;;" + strings.Repeat("é", 201) + ";;;;;;;",
		"+15550000004;;;;;;;;;;;too many",
		"+15550000001;;;;;;false;;;",
	}, "\n"))
	is.Equal(importCounts(got), "completed 17: 1 2 2 12")
	var problems []string
	for _, e := range got.get("data.errors").([]any) {
		e := e.(map[string]any)
		problems = append(problems, fmt.Sprint(e["line"], " ", e["param"]))
	}
	is.Equal(problems, []string{"8 phone_number", "9 phone_number", "10 bsuid", "11 email", "12 opted_in", "13 labels", "14 bsuid", "15 bsuid",
		"16 phone_number", "17 name", "18 name", "19 "})

	ana := f.call("GET", contacts+"?phone=15550000001", "").get("data").([]any)[0].(map[string]any)
	is.Equal(ana["name"], "Ana Ruiz")
	is.Equal(ana["email"], "a@example.com")
	is.Equal(ana["metadata"], map[string]any{"kept": 1.0, "order": "B"})
	is.Equal(ana["opted_in"], true)
	is.Equal(ana["marketing_opted_out"], true) // and line 20 has not cleared it
	is.Equal(len(ana["labels"].([]any)), 1)
	cy := f.call("GET", contacts+"?phone=15550000003", "").get("data").([]any)[0].(map[string]any)
	is.Equal(cy["metadata"], map[string]any{"new": "=1"})
	is.Equal(storagetest.Select[string](t, f.dir, `SELECT type || count(*) FROM events WHERE type <> 'contact.created' OR CAST(payload AS TEXT) LIKE '%"Cy"%' GROUP BY type`),
		[]string{"contact.consent_changed2", "contact.created1", "contact.updated2"}) // of Ana, who opted out, and of Bo, who opted in
}

func TestADryRunOnlyCounts(t *testing.T) {
	is := is.New(t)
	f, account, run := serveImports(t)
	label := f.labelOf(f.tenant, account.TeamID, "VIP")
	f.call("POST", contacts, `{"phone_number":"+15550000001","name":"Ana"}`)
	file := "phone_number,name\n+15550000001,Ana\n+1 555 000-0001,Bo\n+15550000002,Cy\n+15550000002,Cy\n+15550000002,Di\nx,\n"
	before := f.call("GET", contacts, "").get("data")
	got := f.imported(run, file, "dry_run=true")
	is.Equal(importCounts(got), "completed 6: 1 2 2 1")
	is.Equal(got.get("data.dry_run"), true)
	is.Equal(f.call("GET", contacts, "").get("data"), before)
	is.Equal(storagetest.Select[string](t, f.dir, `SELECT action FROM audit`), nil) // nothing was imported

	got = f.imported(run, file, "dry_run=false", "label_id="+label)
	is.Equal(importCounts(got), "completed 6: 1 3 1 1") // the label is new to all
	is.Equal(len(f.call("GET", contacts+"?label_id="+label, "").get("data").([]any)), 2)
}

func TestWhatIsNoFileOfContactsIsRefused(t *testing.T) {
	is := is.New(t)
	f, account, _ := serveImports(t)
	label := f.labelOf(f.tenant, account.TeamID, "VIP")
	const good = "phone_number\n+15550000001\n"
	is.Equal(f.call("POST", imports, `{}`).code(), "400 missing_required_field file")
	for file, want := range map[string]string{
		"":                                "400 invalid_field_value file",
		"name\nAna\n":                     "400 invalid_field_value file",
		"phone_number,phone_number\n":     "400 invalid_field_value file",
		"phone_number,\xff\xfe\n":         "400 invalid_field_value file",
		"\xff\xfep\x00h\x00o\x00":         "400 invalid_field_value file",
		`"phone_number` + "\n+1555000001": "400 invalid_field_value file",
	} {
		is.Equal(f.uploadSheet(imports, file).code(), want)
	}
	is.Equal(f.uploadSheet(imports, good, "dry_run=yes").code(), "400 invalid_field_value dry_run")
	is.Equal(f.uploadSheet(imports, good, "label_id=x").code(), "400 invalid_field_value label_id")
	is.Equal(f.uploadSheet(imports, good, "label_id="+unknownID(f, label)).code(), "404 resource_not_found")
	is.Equal(len(storagetest.Select[string](t, f.dir, `SELECT id FROM contact_imports`)), 0)
}

func TestARepeatedImportAnswersAsItDid(t *testing.T) {
	is := is.New(t)
	f, _, run := serveImports(t)
	const file = "phone_number\n+15550000001\n"
	f.imported(run, file, "Idempotency-Key=k")
	first := f.uploadSheet(imports, file, "Idempotency-Key=k")
	is.Equal(first.header.Get("Idempotent-Replayed"), "true")
	is.Equal(importCounts(first), "completed 1: 1 0 0 0")
	is.Equal(len(storagetest.Select[string](t, f.dir, `SELECT id FROM contact_imports`)), 1)
	is.Equal(storagetest.Select[string](t, f.dir, `SELECT action FROM audit`), []string{"contacts.imported"})
}

// An import that is broken off at any line goes on after it.
func TestAnImportGoesOnWhereItWas(t *testing.T) {
	is := is.New(t)
	f, account, run := serveImports(t)
	file := "phone_number,name\n"
	for i := range 500 {
		file += fmt.Sprintf("+1555%07d,\"Number\n%d\"\n", i, i)
	}
	id := f.uploadSheet(imports, file).text("data.id") // no worker does it within two seconds
	is.Equal(f.call("GET", imports+"/"+id, "").get("data.status"), "running")
	for range 5 {
		ctx, stop := context.WithCancel(context.Background())
		work := jobs.New(jobs.Options{DB: f.db, Imports: f.api.Imports})
		err := work.ImportContacts(ctx, account.ID, id, func(i storage.ContactImport) {
			if i.Lines%3 != 0 || i.Lines > 300 {
				stop()
			}
		})
		stop()
		is.True(err != nil || f.call("GET", imports+"/"+id, "").get("data.status") == "completed")
	}
	run(t)
	is.Equal(importCounts(f.call("GET", imports+"/"+id, "")), "completed 500: 500 0 0 0")
	is.Equal(storagetest.Select[int](t, f.dir, `SELECT count(*) FROM contacts`), []int{500})
	is.Equal(storagetest.Select[int](t, f.dir, `SELECT count(*) FROM events WHERE type = 'contact.created'`), []int{500})
}

func TestOnlyAdminsImportAndExport(t *testing.T) {
	is := is.New(t)
	f, _, _ := serveImports(t)
	agent := f.signedIn(f.tenant, storage.RoleAgent)
	for method, path := range map[string]string{"GET": "/v1/" + number + "/contacts.csv", "POST": "/v1" + imports} {
		is.Equal(f.visit(agent, method, path, "{").code(), "403 permission_denied")
	}
}

// Each line of a file is imported or reported, whatever comes before it.
func TestALineThatCannotBeReadHidesNoOther(t *testing.T) {
	is := is.New(t)
	f, _, run := serveImports(t)
	var file strings.Builder
	file.WriteString("phone_number,name\n")
	for i := range 2000 {
		name := "Ann"
		switch i {
		case 2:
			name = strings.Repeat("x", 1<<20)
		case 4:
			name = `"Ben`
		}
		fmt.Fprintf(&file, "+1555%07d,%s\n", i, name)
	}
	got := f.imported(run, file.String())
	is.Equal(got.get("data.lines"), 2000.0)
	is.Equal(got.get("data.created"), 1998.0)
	is.Equal(got.get("data.failed"), 2.0)
	reported := fmt.Sprint(got.get("data.errors"))
	is.True(strings.Contains(reported, "line:4 message:The line has more than 256 KiB"))
	is.True(strings.Contains(reported, "line:6 message:The line has a quote that is not closed."))
}
