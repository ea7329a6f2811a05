package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// screensOfCommands are the commands about one organization: the screen of the console on
// which its admins do the same, the module of it and words in that module that do it.
var screensOfCommands = map[string]struct{ screen, module, words string }{
	"accounts check":      {"numbers/{id}", "screens/numbers.js", `post(id + "/check")`},
	"accounts connect":    {"numbers", "screens/numbers/forms.js", `post("numbers"`},
	"accounts disconnect": {"numbers/{id}", "screens/numbers.js", `post(id + "/disconnect")`},
	"accounts list":       {"numbers", "screens/numbers.js", `get("v1/accounts"`},
	"accounts register":   {"numbers/{id}", "screens/numbers/forms.js", "/register`"},

	"audit": {"log?tab=audit", "screens/log/audit.js", `path: "audit"`},

	"broadcasts cancel": {"broadcasts/{id}", "screens/broadcasts.js", `"cancel"`},
	"broadcasts create": {"broadcasts/new", "screens/broadcasts/new.js", "/broadcasts`, request()"},
	"broadcasts list":   {"broadcasts", "screens/broadcasts.js", "/broadcasts`, { filters"},
	"broadcasts pause":  {"broadcasts/{id}", "screens/broadcasts.js", `"pause"`},
	"broadcasts resume": {"broadcasts/{id}", "screens/broadcasts.js", `"resume"`},
	"broadcasts show":   {"broadcasts/{id}", "screens/broadcasts.js", "/broadcasts/${id}`"},

	"contacts export": {"contacts", "screens/contacts.js", "/contacts.csv`"},
	"contacts import": {"contacts", "screens/contacts/import.js", "/contact_imports`"},

	"customers list":    {"customers", "screens/customers.js", `paged("v1/customers"`},
	"customers restore": {"customers/{id}", "screens/customers.js", `"/restore"`},

	"deliveries list":   {"webhooks/{id}", "screens/webhooks/page.js", `paged("v1/webhook_deliveries"`},
	"deliveries replay": {"webhooks/{id}", "screens/webhooks/replay.js", "bulk_replay"},
	"deliveries show":   {"deliveries/{id}", "screens/deliveries.js", `"/attempts"`},

	"jobs cancel": {"log?tab=jobs", "screens/log/jobs.js", "/cancel`"},
	"jobs list":   {"log?tab=jobs", "screens/log/jobs.js", `path: "jobs"`},
	"jobs retry":  {"log?tab=jobs", "screens/log/jobs.js", "/retry`"},
	"jobs show":   {"log?tab=jobs", "screens/log/jobs.js", "last_error"},

	"keys create": {"settings/keys", "screens/settings_keys.js", `post(`},
	"keys list":   {"settings/keys", "screens/settings_keys.js", `paged("keys"`},
	"keys revoke": {"settings/keys", "screens/settings_keys.js", `remove("keys/"`},

	"listen": {"webhooks/{id}", "screens/webhooks/page.js", `get("v1/events"`},
	"logs":   {"log", "screens/log/calls.js", `path: "log"`},

	"quick-replies create": {"settings/quick-replies", "screens/settings_quick_replies.js", "post(path"},
	"quick-replies delete": {"settings/quick-replies", "screens/settings_quick_replies.js", "remove(path"},
	"quick-replies list":   {"settings/quick-replies", "screens/settings_quick_replies.js", "paged(path"},

	"hours set":  {"numbers/{id}", "screens/numbers/hours.js", "put(path"},
	"hours show": {"numbers/{id}", "screens/numbers/hours.js", "/hours`"},

	"rules disable": {"rules", "screens/rules.js", "enabled: control.checked"},
	"rules dry-run": {"rules/{id}", "screens/rules/editor.js", `post("v1/rules/dry_run"`},
	"rules enable":  {"rules", "screens/rules.js", "enabled: control.checked"},
	"rules list":    {"rules", "screens/rules.js", `everyRow("v1/rules"`},
	"rules show":    {"rules/{id}", "screens/rules/editor.js", `get("v1/rules/"`},

	"teams create":   {"settings/people", "screens/settings_people.js", `post("teams"`},
	"teams list":     {"settings/people", "screens/settings_people.js", `resource("teams")`},
	"teams set":      {"settings/people", "screens/settings_people.js", `patch("teams/"`},
	"templates sync": {"templates", "screens/templates.js", "/templates/sync`"},
	"trace":          {"trace/{id}", "screens/trace.js", `get("trace/"`},

	"users disable":  {"settings/people/{id}", "screens/settings_people.js", `"disable"`},
	"users enable":   {"settings/people/{id}", "screens/settings_people.js", `"enable"`},
	"users invite":   {"settings/people", "screens/settings_people.js", `post("people"`},
	"users list":     {"settings/people", "screens/settings_people.js", `resource("people"`},
	"users reset":    {"settings/people/{id}", "screens/settings_people.js", "/reset`"},
	"users sessions": {"settings/people/{id}", "screens/settings_people.js", "/sessions`"},
	"users set":      {"settings/people/{id}", "screens/settings_people.js", `patch("people/"`},
	"users signout":  {"settings/people/{id}", "screens/settings_people.js", `"signout"`},

	"webhooks enable": {"webhooks/{id}", "screens/webhooks/page.js", `setStatus("active")`},
	"webhooks list":   {"webhooks", "screens/webhooks.js", `paged("v1/webhook_subscriptions"`},
	"webhooks verify": {"deliveries/{id}", "screens/deliveries.js", "crypto.subtle.sign"},
}

// unseenCommands are commands and nouns that have no screen, and why.
var unseenCommands = map[string]string{
	"serve": operators, "standby": operators, "promote": operators, "ready": operators, "doctor": operators, "backup": operators, "restore": operators,
	"purge": operators, "media": operators, "init": operators, "config": operators, "version": operators, "orgs": operators,
	"replica": operators, "replicate": operators, "rates": operators,

	"sandbox": "it runs the console itself", "simulator": "for programs that talk to the provider",
	"mcp":                 "for agents, which are programs",
	"trigger":             "the screen phone plays people and provider",
	"users link":          "it lets somebody in past every setting, which only the operator may",
	"users reset-factors": "an admin who could remove the second factor of another could take over the account",
	"users unlink":        "the operator has the identity provider",

	"users create": "a person who never signs in is one who was invited, and whose link nobody sent",
	"completion":   "of the shell", "help": "of the shell",
}

const operators = "for who runs the server, with all its organizations"

// What admins do for their organization at the command line they can do without it.
func TestEveryCommandAboutAnOrganizationHasAScreen(t *testing.T) {
	found := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.IsAdditionalHelpTopicCommand() {
			return
		}
		name := strings.TrimPrefix(cmd.CommandPath(), "confab ")
		one, seen := screensOfCommands[name]
		if _, unseen := unseenCommands[name]; seen || unseen {
			found++
		} else if cmd.HasSubCommands() {
			for _, sub := range cmd.Commands() {
				walk(sub)
			}
			return
		} else {
			t.Errorf("%s: name the screen that does it, or why none does", name)
		}

		if !seen {
			return
		}
		source, err := os.ReadFile("../console/assets/" + one.module)
		if err != nil || !strings.Contains(string(source), one.words) {
			t.Errorf("%s: %s does not do it by %s (%v)", name, one.module, one.words, err)
		}
	}
	walk((&env{}).root())

	if all := len(screensOfCommands) + len(unseenCommands); found != all {
		t.Errorf("%d commands have a screen or a reason, and %d of them were found", all, found)
	}
}
