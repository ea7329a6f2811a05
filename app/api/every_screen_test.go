package api

import (
	"os"
	"strings"
	"testing"
)

// screenOf is where in the console people do what a route does: the screen, the module that
// calls the route, and the words of the call.
type screenOf struct{ screen, module, call string }

// screensOfRoutes has all routes but those of unseenRoutes.
var screensOfRoutes = map[string]screenOf{
	"GET /me": {"settings/people", "screens/settings.js", `get("v1/me"`},

	"GET /labels":        {"settings/labels", "screens/settings_labels.js", `resource(readLabels, `},
	"POST /labels":       {"settings/labels", "screens/settings_labels.js", `post("v1/labels"`},
	"PATCH /labels/:id":  {"settings/labels", "screens/settings_labels.js", `patch("v1/labels/"`},
	"DELETE /labels/:id": {"settings/labels", "screens/settings_labels.js", `remove("v1/labels/"`},

	"POST /:phone_number_id/conversations/:id/hand_over": {"inbox/{id}", "screens/inbox/head.js", "/hand_over`"},
	"GET /views":        {"inbox", "screens/inbox/views.js", `everyRow("v1/views"`},
	"POST /views":       {"inbox", "screens/inbox/views.js", `post("v1/views"`},
	"PATCH /views/:id":  {"inbox", "screens/inbox/views.js", `patch("v1/views/"`},
	"DELETE /views/:id": {"inbox", "screens/inbox/views.js", `remove("v1/views/"`},

	"GET /:phone_number_id/conversations/:id/notes":             {"inbox/{id}", "screens/inbox/notes.js", "/notes`"},
	"POST /:phone_number_id/conversations/:id/notes":            {"inbox/{id}", "screens/inbox/notes.js", `post(path`},
	"PATCH /:phone_number_id/conversations/:id/notes/:note_id":  {"inbox/{id}", "screens/inbox/notes.js", `patch(`},
	"DELETE /:phone_number_id/conversations/:id/notes/:note_id": {"inbox/{id}", "screens/inbox/notes.js", `remove(`},

	"GET /quick_replies":        {"settings/quick-replies", "screens/settings_quick_replies.js", `paged(path`},
	"POST /quick_replies":       {"settings/quick-replies", "screens/settings_quick_replies.js", `post(path`},
	"PATCH /quick_replies/:id":  {"settings/quick-replies", "screens/settings_quick_replies.js", `patch(path`},
	"DELETE /quick_replies/:id": {"settings/quick-replies", "screens/settings_quick_replies.js", `remove(path`},

	"GET /rules":             {"rules", "screens/rules.js", `everyRow("v1/rules"`},
	"POST /rules":            {"rules", "screens/rules.js", `post("v1/rules"`},
	"PATCH /rules/:id":       {"rules", "screens/rules.js", `patch("v1/rules/"`},
	"POST /rules/reorder":    {"rules", "screens/rules.js", `post("v1/rules/reorder"`},
	"GET /rules/:id":         {"rules/{id}", "screens/rules/editor.js", `get("v1/rules/"`},
	"DELETE /rules/:id":      {"rules/{id}", "screens/rules/editor.js", `remove("v1/rules/"`},
	"POST /rules/dry_run":    {"rules/{id}", "screens/rules/editor.js", `post("v1/rules/dry_run"`},
	"GET /rules/:id/firings": {"rules/{id}", "screens/rules/editor.js", "/firings`"},

	"GET /accounts":                   {"numbers", "screens/numbers.js", `get("v1/accounts"`},
	"GET /:phone_number_id/hours":     {"numbers/{id}", "screens/numbers/hours.js", "resource(`v1/${id}/hours`"},
	"PUT /:phone_number_id/hours":     {"numbers/{id}", "screens/numbers/hours.js", "put(path"},
	"GET /:phone_number_id/opt_out":   {"numbers/{id}", "screens/numbers/opt_out.js", "resource(path"},
	"PUT /:phone_number_id/opt_out":   {"numbers/{id}", "screens/numbers/opt_out.js", "put(path"},
	"POST /:phone_number_id/register": {"numbers/{id}", "screens/numbers/forms.js", "/register`"},

	"GET /webhook_subscriptions":                           {"webhooks", "screens/webhooks.js", `paged("v1/webhook_subscriptions"`},
	"POST /webhook_subscriptions":                          {"webhooks", "screens/webhooks/forms.js", `post("v1/webhook_subscriptions"`},
	"GET /webhook_subscriptions/:id":                       {"webhooks/{id}", "screens/webhooks/page.js", `resource(path,`},
	"PATCH /webhook_subscriptions/:id":                     {"webhooks/{id}", "screens/webhooks/forms.js", `patch("v1/webhook_subscriptions/"`},
	"DELETE /webhook_subscriptions/:id":                    {"webhooks/{id}", "screens/webhooks/page.js", `remove("v1/webhook_subscriptions/"`},
	"POST /webhook_subscriptions/:id/secrets":              {"webhooks/{id}", "screens/webhooks/forms.js", "/secrets`"},
	"DELETE /webhook_subscriptions/:id/secrets/:secret_id": {"webhooks/{id}", "screens/webhooks/page.js", `remove(path + "/secrets/"`},
	"POST /webhook_subscriptions/:id/test":                 {"webhooks/{id}", "screens/webhooks/forms.js", "post(`v1/webhook_subscriptions/${one.id}/test`"},
	"GET /webhook_subscriptions/:id/stats":                 {"webhooks/{id}", "screens/webhooks/replay.js", "/stats`"},

	"GET /webhook_deliveries":              {"webhooks/{id}", "screens/webhooks/page.js", `paged("v1/webhook_deliveries"`},
	"POST /webhook_deliveries/bulk_replay": {"webhooks/{id}", "screens/webhooks/replay.js", `post("v1/webhook_deliveries/bulk_replay"`},
	"GET /webhook_deliveries/:id":          {"deliveries/{id}", "screens/deliveries.js", `resource(path,`},
	"GET /webhook_deliveries/:id/attempts": {"deliveries/{id}", "screens/deliveries.js", `resource(path + "/attempts"`},
	"POST /webhook_deliveries/:id/replay":  {"deliveries/{id}", "screens/deliveries.js", `post(path + "/replay"`},
	"GET /events":                          {"webhooks/{id}", "screens/webhooks/page.js", `get("v1/events"`},
	"GET /events/:id":                      {"trace/{event id}", "screens/trace.js", `get("v1/events/`},

	"GET /reports/conversations":     {"reports", "screens/reports.js", `get("v1/reports/conversations"`},
	"GET /reports/conversations.csv": {"reports", "screens/reports.js", "reports/conversations.csv"},

	"GET /reports/costs":     {"costs", "screens/costs.js", `get("v1/reports/costs"`},
	"GET /reports/costs.csv": {"costs", "screens/costs.js", "reports/costs.csv"},

	"GET /customers":                                           {"customers", "screens/customers.js", `paged("v1/customers"`},
	"POST /customers":                                          {"customers", "screens/customers.js", `post("v1/customers"`},
	"GET /customers/:id":                                       {"customers/{id}", "screens/customers.js", `resource("v1/customers/" + id`},
	"PATCH /customers/:id":                                     {"customers/{id}", "screens/customers.js", `patch(path, { status`},
	"DELETE /customers/:id":                                    {"customers/{id}", "screens/customers.js", `remove(path)`},
	"GET /customers/:id/setup_links":                           {"customers/{id}", "screens/customers.js", `paged(path + "/setup_links"`},
	"POST /customers/:id/setup_links":                          {"customers/{id}", "screens/customers.js", `post(path, { ...values, expires`},
	"PATCH /customers/:id/setup_links/:setup_link_id":          {"customers/{id}", "screens/customers.js", `patch(path + "/" + one.id, leads`},
	"DELETE /customers/:id/setup_links/:setup_link_id":         {"customers/{id}", "screens/customers.js", "remove(`${path}/setup_links/"},
	"DELETE /customers/:id/whatsapp_accounts/:phone_number_id": {"customers/{id}", "screens/customers.js", "/whatsapp_accounts/${"},

	"GET /:phone_number_id/messages":        {"inbox/{id}", "screens/inbox/messages.js", `page(path`},
	"POST /:phone_number_id/messages":       {"inbox/{id}", "screens/inbox/outbox.js", "/messages`, entry.body"},
	"GET /:phone_number_id/messages/:id":    {"inbox/{id}", "screens/inbox/messages.js", "get(`${path}/${at}`"},
	"DELETE /:phone_number_id/messages/:id": {"inbox/{id}", "screens/inbox/message.js", "remove(`v1/${at.number}/messages/"},

	"GET /:phone_number_id/conversations":                         {"inbox", "screens/inbox/conversations.js", `page(path()`},
	"GET /:phone_number_id/conversations/:id":                     {"inbox/{id}", "screens/inbox/conversations.js", "get(`${path()}/${id}`"},
	"PATCH /:phone_number_id/conversations/:id":                   {"inbox/{id}", "screens/inbox.js", "/conversations/${id}`, changes"},
	"POST /:phone_number_id/conversations/:id/labels":             {"inbox/{id}", "screens/inbox.js", `post(of + "/labels"`},
	"DELETE /:phone_number_id/conversations/:id/labels/:label_id": {"inbox/{id}", "screens/inbox.js", "remove(`${of}/labels/"},

	"GET /:phone_number_id/contacts":                         {"contacts", "screens/contacts.js", "paged(`v1/${id}/contacts`"},
	"POST /:phone_number_id/contacts":                        {"contacts", "screens/contacts.js", "/contacts`, { phone_number:"},
	"GET /:phone_number_id/contacts/:id":                     {"inbox/{id}", "screens/inbox/details.js", "resource(`v1/${number}/contacts/"},
	"PATCH /:phone_number_id/contacts/:id":                   {"contacts/{id}", "screens/contacts/contact.js", `patch(path`},
	"DELETE /:phone_number_id/contacts/:id":                  {"contacts/{id}", "screens/contacts/contact.js", `remove(path)`},
	"POST /:phone_number_id/contacts/bulk_label":             {"contacts", "screens/contacts.js", "/contacts/bulk_label`"},
	"POST /:phone_number_id/contacts/:id/labels":             {"contacts/{id}", "screens/contacts/contact.js", `post(path + "/labels"`},
	"DELETE /:phone_number_id/contacts/:id/labels/:label_id": {"contacts/{id}", "screens/contacts/contact.js", "remove(`${path}/labels/"},
	"GET /:phone_number_id/contacts.csv":                     {"contacts", "screens/contacts.js", "/contacts.csv`"},
	"POST /:phone_number_id/contact_imports":                 {"contacts", "screens/contacts/import.js", "post(`v1/${of}/contact_imports`"},
	"GET /:phone_number_id/contact_imports/:id":              {"contacts", "screens/contacts/import.js", "get(`v1/${of}/contact_imports/"},

	"GET /:phone_number_id/broadcasts":                    {"broadcasts", "screens/broadcasts.js", "paged(`v1/${of}/broadcasts`"},
	"POST /:phone_number_id/broadcasts":                   {"broadcasts/new", "screens/broadcasts/new.js", "post(`v1/${of}/broadcasts`"},
	"GET /:phone_number_id/broadcasts/:id":                {"broadcasts/{id}", "screens/broadcasts.js", "/broadcasts/${id}`, { signal"},
	"POST /:phone_number_id/broadcasts/:id/pause":         {"broadcasts/{id}", "screens/broadcasts.js", `"pause"`},
	"POST /:phone_number_id/broadcasts/:id/resume":        {"broadcasts/{id}", "screens/broadcasts.js", `"resume"`},
	"POST /:phone_number_id/broadcasts/:id/cancel":        {"broadcasts/{id}", "screens/broadcasts.js", `"cancel"`},
	"GET /:phone_number_id/broadcasts/:id/recipients":     {"broadcasts/{id}", "screens/broadcasts.js", `paged(path + "/recipients"`},
	"GET /:phone_number_id/broadcasts/:id/recipients.csv": {"broadcasts/{id}", "screens/broadcasts.js", `"/recipients.csv"`},

	"GET /:phone_number_id/templates":         {"templates", "screens/templates.js", "everyRow(`v1/${id}/templates`"},
	"POST /:phone_number_id/templates":        {"templates/new", "screens/templates/builder.js", "post(`v1/${of}/templates`"},
	"POST /:phone_number_id/templates/sync":   {"templates", "screens/templates.js", "/templates/sync`"},
	"GET /:phone_number_id/templates/:name":   {"broadcasts/{id}", "screens/broadcasts.js", "get(`v1/${of}/templates/"},
	"PATCH /:phone_number_id/templates/:name": {"templates/{id}", "screens/templates/builder.js", "patch(`v1/${of}/templates/"},

	"POST /:phone_number_id/media": {"inbox/{id}", "screens/inbox/attachments.js", "/media`"},
}

// unseenRoutes are what no screen does, and why.
var unseenRoutes = map[string]string{
	"GET /health":            "for what watches the server; settings/health says how the organization is",
	"GET /openapi.json":      "for programs; people read /docs",
	"GET /labels/:id":        "the list of settings/labels shows each whole",
	"GET /quick_replies/:id": "the list of settings/quick-replies shows each whole",
	"GET /views/:id":         "the tabs of the inbox show each whole",
	"GET /:phone_number_id/conversations/:id/notes/:note_id": "the thread shows each whole",
	"POST /rules/:id/dry_run":                                "the screen rules/{id} tries what it shows, stored or not",
	"GET /events/stream":                                     "for programs; the console has the same events by a stream of its own",
	"GET /customers/:id/setup_links/:setup_link_id":          "the list of customers/{id} shows each whole",
	"GET /:phone_number_id/messages/:id/media":               "the message itself says where its file is",
	"GET /:phone_number_id/media/:id":                        "what is uploaded in the inbox is sent with its message, which shows it",
	"DELETE /:phone_number_id/media/:id":                     "only programs keep a library; files of the inbox go with their contact",
}

// What can be asked of the API can be seen and done by people.
func TestEveryRouteHasAScreen(t *testing.T) {
	routes := serve(t).api.Routes()
	for _, rt := range routes {
		name := rt.Method + " " + rt.Path
		one, seen := screensOfRoutes[name]
		if _, unseen := unseenRoutes[name]; seen == unseen {
			t.Errorf("%s: name the screen that does it, or why none does", name)
		}
		if !seen {
			continue
		}
		source, err := os.ReadFile("../console/assets/" + one.module)
		if err != nil || !strings.Contains(string(source), one.call) {
			t.Errorf("%s: %s does not call it by %s (%v)", name, one.module, one.call, err)
		}
	}
	if got := len(screensOfRoutes) + len(unseenRoutes); got != len(routes) {
		t.Errorf("%d routes have a screen or a reason, and there are %d", got, len(routes))
	}
}
