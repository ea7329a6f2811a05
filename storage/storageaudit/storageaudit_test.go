package storageaudit

import (
	"slices"
	"testing"

	"github.com/matryer/is"

	"confab/storage/storagetest"
)

// sound is a number with something of everything that the rules are about: a message each
// way, an event that was delivered, and work that waits.
const sound = `
	INSERT INTO contacts (id, account_id, phone_number, created_at, updated_at)
	VALUES ('ctc_1', 1, '+15550001', 1, 1), ('ctc_2', 1, '+15550002', 1, 1);
	INSERT INTO conversations (id, account_id, contact_id, unread_count, created_at, updated_at, spell_opened_at)
	VALUES ('cnv_1', 1, 'ctc_1', 1, 1, 1, 1), ('cnv_2', 1, 'ctc_2', 0, 1, 1, 1);

	INSERT INTO messages (id, account_id, conversation_id, contact_id, direction, type, status, source, provider_id, media_status, content, created_at, updated_at)
	VALUES ('msg_sent', 1, 'cnv_1', 'ctc_1', 'outbound', 'text', 'read', 'api', 'wamid.1', NULL, '{}', 1, 1),
		('msg_waits', 1, 'cnv_2', 'ctc_2', 'outbound', 'text', 'queued', 'api', NULL, NULL, '{}', 1, 1),
		('msg_received', 1, 'cnv_1', 'ctc_1', 'inbound', 'image', 'delivered', 'api', 'wamid.2', 'fetching', '{}', 1, 1);
	INSERT INTO usage (organization_id, month, messages)
	VALUES (1, 202611, 2);
	UPDATE messages SET pricing = '{"billable":true}', delivered_at = 86400001 WHERE id = 'msg_sent';
	INSERT INTO message_costs (account_id, day, category, prefix, broadcast, messages, billable)
	VALUES (1, 86400000, 'unknown', '155500', 0, 1, 1);

	INSERT INTO events (id, organization_id, account_id, type, source, event_id, payload, created_at)
	VALUES ('evt_sent', 1, 1, 'message.sent', 'svc', 'msg_sent:sent', x'7b7d', 1),
		('evt_status', 1, 1, 'message.status', 'provider', 'wamid.1', x'7b7d', 1);
	INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, status, created_at, job_id)
	SELECT 'wbd_done', 1, id, 'evt_sent', 'message.sent', 'msg_sent:sent', 'succeeded', 1, 0 FROM subscriptions
	UNION ALL
	SELECT 'wbd_waits', 1, id, 'evt_status', 'message.status', 'wamid.1', 'failed', 1, 2 FROM subscriptions;

	INSERT INTO rules (id, organization_id, position, name, enabled, on_event, conditions, actions, templates, once_per, stop, created_at, updated_at)
	VALUES ('rul_1', 1, 1, 'first', 1, 'message_received', '{}', '[]', '[]', 'spell', 0, 1, 1),
		('rul_2', 1, 2, 'second', 1, 'message_received', '{}', '[]', '[]', 'day', 0, 1, 1);
	INSERT INTO rule_firings (id, rule_id, account_id, conversation_id, message_id, scope, actions, created_at)
	VALUES ('fir_1', 'rul_1', 1, 'cnv_1', 'msg_received', 'spell msg_received', '[{"action":"reply","outcome":"done"}]', 1),
		('fir_2', 'rul_2', 1, 'cnv_1', 'msg_received', 'day 1970-01-01', '[{"action":"note","outcome":"done"}]', 1);
	UPDATE messages SET rule_id = 'rul_1' WHERE id = 'msg_sent';

	INSERT INTO jobs (id, kind, args, state, due_at, created_at)
	VALUES (1, 'send', '{"account":1,"message":"msg_waits"}', 'due', 1, 1),
		(2, 'deliver', '{"delivery":"wbd_waits"}', 'due', 1, 1),
		(3, 'media.fetch', '{"account":1,"message":"msg_received"}', 'held', 1, 1);`

// breaches has, for each rule, statements of which each breaks it and no other.
var breaches = map[string][]string{
	"job that is running, though nobody runs it": {
		`UPDATE jobs SET state = 'running' WHERE id = 1`,
	},
	"job that gave up": {
		`UPDATE jobs SET state = 'failed', last_error = 'no luck' WHERE id = 2`,
	},
	"job whose work is done or gone": {
		`UPDATE messages SET status = 'sent' WHERE id = 'msg_waits'`,
		`UPDATE deliveries SET status = 'succeeded' WHERE id = 'wbd_waits'`,
		`DELETE FROM deliveries WHERE id = 'wbd_waits'`,
	},
	"delivery that waits without a job": {
		`DELETE FROM jobs WHERE id = 2`,
		`UPDATE deliveries SET status = 'pending' WHERE id = 'wbd_done'`,
	},
	"message that waits without a job": {
		`DELETE FROM jobs WHERE id = 1`,
		`UPDATE messages SET status = 'pending' WHERE id = 'msg_sent'`,
		`UPDATE messages SET status = 'queued', source = 'gateway' WHERE id = 'msg_sent'`,
	},
	"media that are awaited without a job": {
		`DELETE FROM jobs WHERE id = 3`,
	},

	"message of another contact than its conversation": {
		`UPDATE messages SET contact_id = 'ctc_2' WHERE id = 'msg_sent'`,
	},
	"count of unread messages that is wrong": {
		`UPDATE conversations SET unread_count = 0 WHERE id = 'cnv_1'`,
		`UPDATE conversations SET unread_count = 2 WHERE id = 'cnv_1'`,
		`UPDATE conversations SET unread_count = 2 WHERE id = 'cnv_2'`,
	},
	"count of accepted messages that is wrong": {
		`UPDATE usage SET messages = 3`,
		`DELETE FROM usage`,
	},
	"count of what messages cost that is wrong": {
		`UPDATE message_costs SET messages = 2`,
		`UPDATE message_costs SET billable = 0`,
		`DELETE FROM message_costs`,
		`UPDATE messages SET delivered_at = 0`,
	},
	"spell that a conversation has or lacks in its state": {
		`UPDATE conversations SET spell_opened_at = 0 WHERE id = 'cnv_1'`,
		`UPDATE conversations SET status = 'resolved' WHERE id = 'cnv_1'`,
		`UPDATE conversations SET status = 'resolved', spell_opened_at = 0, spell_in = 1 WHERE id = 'cnv_1'`,
	},
	"event that was delivered to a subscription under two ids": {
		`UPDATE deliveries SET event = 'evt_status' WHERE id = 'wbd_done'`,
	},
	"message.sent that was emitted twice": {
		`INSERT INTO events (id, organization_id, account_id, type, source, event_id, payload, created_at)
		VALUES ('evt_again', 1, 1, 'message.sent', 'svc', 'msg_sent:sent', x'7b7d', 1)`,
	},
	"message.status that was emitted before message.sent": {
		`UPDATE events SET rowid = 99 WHERE id = 'evt_sent'`,
	},
	"rule that fired more than once for a message": {
		`INSERT INTO rule_firings (id, rule_id, account_id, conversation_id, message_id, scope, actions, created_at)
		VALUES ('fir_11', 'rul_1', 1, 'cnv_1', 'msg_received', 'spell again', '[]', 1)`,
	},
	"rules that did not fire in their order": {
		`UPDATE rule_firings SET id = 'fir_0' WHERE id = 'fir_2'`,
	},
	"replies of a rule that are not as many as it gave": {
		`UPDATE messages SET rule_id = 'rul_1' WHERE id = 'msg_waits'`,
		`UPDATE messages SET rule_id = NULL`,
		`DELETE FROM rule_firings WHERE id = 'fir_1'`,
	},

	"row without the row that it refers to": {
		`PRAGMA foreign_keys = OFF; UPDATE contacts SET account_id = 99 WHERE id = 'ctc_2'`,
	},
	"fault in the file": {
		`PRAGMA ignore_check_constraints = ON; UPDATE organizations SET subscription = 'neither'`,
	},
}

// soundDatabase makes a database in which nothing is wrong, and returns its directory.
func soundDatabase(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()

	db := storagetest.OpenDir(t, dir)
	tenant := storagetest.Seed(t, db, "Acme")
	storagetest.Connect(t, db, tenant, "100")
	storagetest.Subscribe(t, db, tenant, "https://example.com/hook")
	storagetest.Exec(t, dir, sound)
	return dir
}

func TestNothingIsWrongWithASoundDatabase(t *testing.T) {
	is := is.New(t)
	found, err := Find(soundDatabase(t))
	is.NoErr(err)
	is.Equal(len(found), 0)
}

func TestEveryRuleFindsWhatBreaksIt(t *testing.T) {
	for _, r := range slices.Concat(fileRules, jobRules, contentRules, firingRules) {
		if len(breaches[r.what]) == 0 {
			t.Errorf("nothing here breaks the rule about a %s", r.what)
		}

		for _, breach := range breaches[r.what] {
			t.Run(r.what, func(t *testing.T) {
				is := is.New(t)
				dir := soundDatabase(t)
				storagetest.Exec(t, dir, breach)

				found, err := Find(dir)
				is.NoErr(err)
				is.Equal(len(found), 1) // the one that was made
				is.Equal(found[0].Rule, r.what)
				is.True(found[0].Where != "")
			})
		}
	}
}

func TestADatabaseThatIsNotThereIsAnError(t *testing.T) {
	is := is.New(t)
	_, err := Find(t.TempDir())
	is.True(err != nil)
}
