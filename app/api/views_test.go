package api

import (
	"fmt"
	"testing"

	"github.com/matryer/is"
)

func TestAViewIsSavedChangedAndDeleted(t *testing.T) {
	is := is.New(t)
	f, a := serveNumber(t)
	label := f.labelOf(f.tenant, a.TeamID, "VIP")
	user := f.user(f.tenant, "Ada").ID

	made := f.call("POST", "/views", `{"name":"  Late VIPs ","phone_number_id":"106540352242922","sort":"waiting",
		"filter":{"status":"open,pending","assigned_to":"`+user+`","label_id":"`+label+`","unread":true,"snoozed":false,"mentioned":"me"}}`)
	is.Equal(made.status, 201)
	is.Equal(made.text("data.name"), "Late VIPs")
	is.Equal(made.get("data.shared"), true) // nobody else could see what a key makes
	is.Equal(made.get("data.owner_id"), nil)
	is.Equal(made.text("data.phone_number_id"), "106540352242922")
	is.Equal(made.get("data.filter"), map[string]any{"status": "open,pending", "assigned_to": user, "label_id": label, "unread": true, "snoozed": false, "mentioned": "me"})
	view := "/views/" + made.text("data.id")
	is.Equal(f.call("GET", "/views", "").get("data").([]any)[0], made.get("data"))

	changed := f.call("PATCH", view, `{"phone_number_id":null,"filter":{"waiting":true},"sort":null}`)
	is.Equal(changed.get("data.filter"), map[string]any{"waiting": true})
	is.Equal(changed.get("data.sort"), nil)
	is.Equal(changed.get("data.phone_number_id"), nil)
	is.Equal(f.call("DELETE", view, "").get("data.deleted"), true)
	is.Equal(f.call("GET", view, "").status, 404)

	for body, want := range map[string]string{
		`{}`:                           "400 missing_required_field name",
		`{"name":" "}`:                 "400 invalid_field_value name",
		`{"name":"x","shared":false}`:  "400 invalid_field_value shared",
		`{"name":"x","sort":"newest"}`: "400 invalid_field_value sort",
		`{"name":"x","phone_number_id":"206540352242922"}`:                    "400 invalid_field_value phone_number_id",
		`{"name":"x","filter":{"status":"open,gone"}}`:                        "400 invalid_field_value filter.status",
		`{"name":"x","filter":{"mentioned":"you"}}`:                           "400 invalid_field_value filter.mentioned",
		`{"name":"x","filter":{"label_id":"lbl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"}}`: "400 invalid_field_value filter.label_id",
		`{"name":"x","filter":{"assigned_to":"01JQ0Z8M4T9V2X3W5Y6A7B8C9D"}}`:  "400 invalid_field_value filter.assigned_to",
		`{"name":"x","filter":{"assigned_to":"nobody"}}`:                      "400 invalid_field_value filter.assigned_to",
	} {
		is.Equal(f.call("POST", "/views", body).code(), want) // body
	}

	for i := range 100 {
		is.Equal(f.call("POST", "/views", fmt.Sprintf(`{"name":"v%d"}`, i)).status, 201)
	}
	is.Equal(f.call("POST", "/views", `{"name":"one more"}`).code(), "402 quota_exceeded")
}
