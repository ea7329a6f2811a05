package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestALabelLivesFromCreateToDelete(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	made := f.call("POST", "/labels", `{"name":"VIP","color":"red"}`)
	is.Equal(made.status, 201)
	is.Equal(made.get("data.team_id"), f.tenant.Team.PublicID)
	is.Equal(made.get("data.created_at"), made.get("data.updated_at"))
	golden(t, "label", made.body)
	id := made.text("data.id")

	golden(t, "label", f.call("GET", "/labels/"+id, "").body)
	golden(t, "label_list", f.call("GET", "/labels", "").body)
	changed := f.call("PATCH", "/labels/"+id, `{"name":"vip"}`)
	is.Equal(changed.get("data.name"), "vip") // its own name in other letters
	is.Equal(changed.get("data.color"), "red")
	is.Equal(changed.get("data.created_at"), made.get("data.created_at"))
	is.Equal(f.call("PATCH", "/labels/"+id, `{"color":"sky"}`).get("data.name"), "vip")
	is.Equal(f.call("PATCH", "/labels/"+id, `{"name":"Gold","color":"amber","team_id":"team_x","id":"lbl_x"}`).status, 200)
	final := f.call("GET", "/labels/"+id, "")
	is.Equal(final.get("data.name"), "Gold")
	is.Equal(final.get("data.color"), "amber")
	is.Equal(final.get("data.team_id"), f.tenant.Team.PublicID) // a label never moves

	golden(t, "label_deleted", f.call("DELETE", "/labels/"+id, "").body)
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		is.Equal(f.call(method, "/labels/"+id, "").code(), "404 resource_not_found")
	}
	is.Equal(f.call("GET", "/labels", "").get("data"), []any{})
	is.Equal(f.call("POST", "/labels", `{"name":"Gold"}`).status, 201) // the name is free again
}

// labelRule is a value for a field, and what becomes of it.
type labelRule struct {
	name  string
	field string
	value string // JSON
	post  string
	patch string
}

var (
	name50     = strings.Repeat("ä", 50)
	labelRules = []labelRule{
		{"a name", "name", `"VIP"`, "201", "200"},
		{"one character", "name", `"x"`, "201", "200"},
		{"fifty characters", "name", `"` + name50 + `"`, "201", "200"}, // a hundred bytes
		{"fifty emoji", "name", `"` + strings.Repeat("👍", 50) + `"`, "201", "200"},
		{"spaces", "name", `" "`, "400 invalid_field_value name", "400 invalid_field_value name"},
		{"an escaped character", "name", `"\u00e4\n"`, "201", "200"},
		{"a quote", "name", `"'; DROP TABLE labels; --"`, "201", "200"},
		{"an empty name", "name", `""`, "400 invalid_field_value name", "400 invalid_field_value name"},
		{"51 characters", "name", `"` + name50 + `x"`, "400 invalid_field_value name", "400 invalid_field_value name"},
		{"51 escaped characters", "name", `"` + strings.Repeat(`\u0041`, 51) + `"`, "400 invalid_field_value name", "400 invalid_field_value name"},
		{"a null name", "name", `null`, "400 missing_required_field name", "400 invalid_field_value name"},
		{"a number as name", "name", `7`, "400 invalid_field_value name", "400 invalid_field_value name"},
		{"a bool as name", "name", `true`, "400 invalid_field_value name", "400 invalid_field_value name"},
		{"an array as name", "name", `["x"]`, "400 invalid_field_value name", "400 invalid_field_value name"},
		{"an object as name", "name", `{"x":1}`, "400 invalid_field_value name", "400 invalid_field_value name"},
		{"an unknown color", "color", `"mauve"`, "400 invalid_field_value color", "400 invalid_field_value color"},
		{"a color in capitals", "color", `"RED"`, "400 invalid_field_value color", "400 invalid_field_value color"},
		{"an empty color", "color", `""`, "400 invalid_field_value color", "400 invalid_field_value color"},
		{"a null color", "color", `null`, "201", "400 invalid_field_value color"},
		{"a number as color", "color", `1`, "400 invalid_field_value color", "400 invalid_field_value color"},
		{"an array as color", "color", `["red"]`, "400 invalid_field_value color", "400 invalid_field_value color"},
		{"a null team", "team_id", `null`, "201", "200"},
		{"a number as team", "team_id", `1`, "400 invalid_field_value team_id", "200"},
		{"an empty team", "team_id", `""`, "400 invalid_field_value team_id", "200"},
		{"an unknown field", "size", `{"deep":[1]}`, "201", "200"},
		{"a field of the resource", "id", `"lbl_1"`, "201", "200"},
		{"a field in capitals", "COLOR", `5`, "201", "200"},
	}
)

func TestEveryRuleOfALabel(t *testing.T) {
	f := serve(t)
	all := slices.Clone(labelRules)
	for _, color := range labelColors {
		all = append(all, labelRule{"the color " + color, "color", `"` + color + `"`, "201", "200"})
	}
	for _, rule := range all {
		t.Run(rule.name, func(t *testing.T) {
			is := is.New(t)
			tenant := storagetest.Seed(t, f.db, "Acme")
			body := `{"name":"Start","` + rule.field + `":` + rule.value + `}` // of a repeated name the last counts
			rows := f.labels()
			got := f.callAs(tenant.Secret, "POST", "/labels", body)
			is.Equal(got.code(), rule.post)
			if got.status != 201 {
				is.Equal(f.labels(), rows) // nothing is left of it
				is.True(described().refuses("POST", "/labels", body))
				got = f.callAs(tenant.Secret, "POST", "/labels", `{"name":"Start"}`)
			} else {
				is.True(!described().refuses("POST", "/labels", body))
			}
			path := "/labels/" + got.text("data.id")
			before := f.callAs(tenant.Secret, "GET", path, "").get("data")

			body = `{"color":"lime","` + rule.field + `":` + rule.value + `}`
			got = f.callAs(tenant.Secret, "PATCH", path, body)
			is.Equal(got.code(), rule.patch)
			is.Equal(described().refuses("PATCH", path, body), got.status != 200)
			if got.status != 200 {
				is.Equal(f.callAs(tenant.Secret, "GET", path, "").get("data"), before) // not half of it either
			}
		})
	}
}

func TestALabelIsGrayUnlessToldOtherwise(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	is.Equal(f.call("POST", "/labels", `{"name":"a"}`).get("data.color"), "gray")
	is.Equal(f.call("POST", "/labels", `{"name":"b","color":null}`).get("data.color"), "gray")
	is.Equal(f.call("POST", "/labels", `{"name":"c","color":"pink"}`).get("data.color"), "pink")
}

func TestAChangeNeedsSomethingToDo(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	path := "/labels/" + f.call("POST", "/labels", `{"name":"VIP"}`).text("data.id")
	for _, body := range []string{``, `{}`, `{"unknown":1}`, `{"NAME":"x"}`, `{"team_id":null}`} {
		got := f.call("PATCH", path, body)
		is.Equal(got.code(), "400 missing_required_field name")
		is.True(described().refuses("PATCH", path, body))
	}
}

func TestTheFirstBrokenRuleIsReported(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	is.Equal(f.call("POST", "/labels", `{"color":"mauve"}`).code(), "400 missing_required_field name")
	is.Equal(f.call("POST", "/labels", `{"color":"mauve","name":""}`).code(), "400 invalid_field_value name")
	is.Equal(f.call("POST", "/labels", `{"color":7,"name":""}`).code(), "400 invalid_field_value color") // types come first
}

func TestNamesAreUniquePerTeamWithoutRegardToCase(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	second := storage.Team{OrganizationID: f.tenant.Organization.ID, Name: "Second"}
	storagetest.Update(t, f.db, func(tx *storage.Tx) error { return tx.InsertTeam(&second) })
	create := func(name, team string) answer {
		t.Helper()
		body, err := json.Marshal(map[string]string{"name": name, "team_id": team})
		is.NoErr(err)
		return f.call("POST", "/labels", string(body))
	}
	first := f.tenant.Team.PublicID
	for original, twins := range map[string][]string{
		"Ärger": {"Ärger", "ärger", "ÄRGER"}, "vip": {"VIP", "Vip"}, "Ёлка": {"ёлка", "ЁЛКА"}, "x": {"X"},
	} {
		is.Equal(create(original, first).status, 201)
		for _, twin := range twins {
			got := create(twin, first)
			is.Equal(got.code(), "400 invalid_field_value name")
			is.Equal(got.get("error.type"), "invalid_request_error")
		}
		is.Equal(create(twins[0], second.PublicID).status, 201) // another team
	}
	is.Equal(f.labels(), 8)

	other := create("Other", first)
	is.Equal(f.call("PATCH", "/labels/"+other.text("data.id"), `{"name":"äRGER"}`).code(), "400 invalid_field_value name")
	is.Equal(f.call("PATCH", "/labels/"+other.text("data.id"), `{"name":"OTHER"}`).get("data.name"), "OTHER")
	is.Equal(create("vip ", first).code(), "400 invalid_field_value name") // spaces around it do not count
}

// FuzzLabelBody looks for a body that makes the server fail, or answer in
// another shape.
func FuzzLabelBody(f *testing.F) {
	for _, rule := range labelRules {
		f.Add([]byte(`{"name":"Start","` + rule.field + `":` + rule.value + `}`))
	}
	f.Add([]byte(`[`))
	f.Add([]byte(`{"name":"\ud800"}`))
	f.Add([]byte("{\"name\":\"\x00\"}"))
	api := serveDirectly(f)
	existing := api.call("POST", "/labels", `{"name":"here before"}`).text("data.id")
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, target := range []string{"POST /labels", "PATCH /labels/" + existing} {
			method, path, _ := strings.Cut(target, " ")
			got := api.in(t).call(method, path, string(body)) // whose transport checks the shape
			if got.status >= 500 {
				t.Errorf("%s %q -> %s", method, body, got.body)
			}
			if got.status < 300 && got.get("data.object") != "label" || got.status > 299 && got.text("error.code") == "" {
				t.Errorf("%s %q -> %d %s", method, body, got.status, got.body)
			}
		}
	})
}

// Each contact and conversation shows all of its labels, so a team has not too many.
func TestATeamHasAtMostFiveHundredLabels(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	other := f.team(f.tenant, "Support")
	f.exec(`WITH RECURSIVE seq(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM seq WHERE i < 499)
		INSERT INTO labels (id, organization_id, team_id, name, name_folded, color, created_at, updated_at)
		SELECT 'lbl_' || printf('%026d', i), ?, ?, i, i, 'red', 1, 1 FROM seq`, f.tenant.Organization.ID, f.tenant.Team.ID)
	label := func(name string, team storage.Team) answer {
		return f.call("POST", "/labels", `{"name":"`+name+`","team_id":"`+team.PublicID+`"}`)
	}
	last := label("last", f.tenant.Team)
	is.Equal(last.status, 201)
	is.Equal(label("more", f.tenant.Team).code(), "400 invalid_field_value labels")
	is.Equal(f.labels(), 500)
	is.Equal(label("more", other).status, 201) // of another team
	f.call("DELETE", "/labels/"+last.text("data.id"), "")
	is.Equal(label("more", f.tenant.Team).status, 201)
}
