package storage_test

import (
	"crypto/rand"
	"regexp"
	"strings"
	"testing"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// hotStatement is what every request, claim or delivery runs, and the step of its
// plan that says how it finds its rows.
type hotStatement struct {
	run  func(tx *storage.Tx) error
	uses string
}

// hot lists them by name.
func hot() map[string]hotStatement {
	all := func(lane string) bool { return lane != "full" }
	return map[string]hotStatement{
		"labels": {func(tx *storage.Tx) error { _, err := tx.Labels(1, nil, storage.First, 10); return err },
			"labels_of_organization (organization_id=? AND (created_at,id)<(?,?))"},
		"label":        {func(tx *storage.Tx) error { _, err := tx.Label(1, "l"); return err }, "(id=?)"},
		"insert label": {func(tx *storage.Tx) error { return tx.InsertLabel(&storage.Label{OrganizationID: 1, TeamID: 1}) }, ""},
		"key": {func(tx *storage.Tx) error {
			_, err := tx.Principal([32]byte{})
			return err
		}, "api_keys USING INDEX sqlite_autoindex_api_keys_2 (hash=?)"},
		"team": {func(tx *storage.Tx) error { _, err := tx.Team(1, "t"); return err }, "(public_id=?)"},
		"claim": {func(tx *storage.Tx) error { _, _, err := tx.ClaimDue("send", 10, time.Minute, all); return err },
			"jobs_due (kind=? AND due_at<?)"},
		"claim of a lane": {func(tx *storage.Tx) error { _, err := tx.ClaimHeld("send", "full", 10, 5, time.Minute); return err },
			"jobs_held (kind=? AND lane=?)"},
		"next due": {func(tx *storage.Tx) error { _, err := tx.NextDue("send"); return err }, "jobs_due (kind=?)"},
		"finish":   {func(tx *storage.Tx) error { return tx.FinishJob(storage.Job{ID: 1, Runs: 1}) }, "jobs USING INTEGER PRIMARY KEY"},
		"retry":    {func(tx *storage.Tx) error { return tx.RetryJob(storage.Job{ID: 3, Runs: 1}, 0, "e") }, "jobs USING INTEGER PRIMARY KEY"},
		"parcel":   {func(tx *storage.Tx) error { _, err := tx.OutgoingDelivery("d"); return err }, "deliveries_1 (id=?)"},
		"attempt": {func(tx *storage.Tx) error {
			return tx.MarkDelivered(storage.OutgoingDelivery{Delivery: "d"}, storage.Attempt{Attempt: 1})
		},
			"deliveries_1 (id=?)"},
		"failure": {func(tx *storage.Tx) error { _, _, err := tx.CountFailure("s"); return err }, "subscriptions_1 (id=?)"},
		"event, before jobs run": {func(tx *storage.Tx) error {
			return tx.InsertEvent(storage.Event{OrganizationID: 1, Type: "message.sent", EventID: rand.Text(), Payload: []byte("{}")}, "")
		}, "jobs_fan_out (lane=?)"},
		"answer": {func(tx *storage.Tx) error { _, err := tx.IdempotentReply(1, "k"); return err }, "PRIMARY KEY (organization_id=? AND key=?)"},
		"old answers": {func(tx *storage.Tx) error { _, err := tx.DeleteOldIdempotentReplies(tx.Now, 10); return err },
			"idempotency_by_age (created_at<?)"},
		"messages": {func(tx *storage.Tx) error {
			_, _, err := tx.Messages(1, storage.MessageFilter{}, storage.First, 10)
			return err
		}, "messages_of_account (account_id=?"},
		"template": {func(tx *storage.Tx) error { _, err := tx.Template(1, "n", "en"); return err }, "templates_name (account_id=? AND name=? AND language=?)"},
		"templates of a status": {func(tx *storage.Tx) error {
			_, _, err := tx.Templates(1, storage.TemplateFilter{Status: "approved"}, storage.First, 10)
			return err
		}, "templates_by_status (account_id=? AND status=? AND (created_at,id)>(?,?) AND (created_at,id)<(?,?))"},
		"templates": {func(tx *storage.Tx) error {
			_, _, err := tx.Templates(1, storage.TemplateFilter{}, storage.First, 10)
			return err
		},
			"templates_of_account (account_id=? AND (created_at,id)>(?,?) AND (created_at,id)<(?,?))"},
		"accounts": {func(tx *storage.Tx) error {
			_, _, err := tx.Accounts(1, storage.AccountFilter{}, storage.First, 10)
			return err
		},
			"accounts_of_organization (organization_id=? AND (created_at,public_id)>(?,?) AND (created_at,public_id)<(?,?))"},
		"accounts of a WABA": {func(tx *storage.Tx) error { _, err := tx.AccountsOfWABA("w"); return err }, "accounts_of_waba (waba_id=?)"},
		"media by its URL":   {func(tx *storage.Tx) error { _, err := tx.MediaByToken("t"); return err }, "(url_token=?)"},
		"media of a file":    {func(tx *storage.Tx) error { _, err := tx.MediaUses("s"); return err }, "media_by_content (sha256=?)"},
		"replayable": {func(tx *storage.Tx) error {
			_, err := tx.Replayable(storage.ReplayFilter{Status: "dead"}, 10)
			return err
		},
			"deliveries_to_replay (subscription_id=? AND status=? AND created_at>? AND created_at<?)"},
		"replayable of a type": {func(tx *storage.Tx) error {
			_, err := tx.Replayable(storage.ReplayFilter{Status: "dead", EventType: "message.sent"}, 10)
			return err
		}, "deliveries_to_replay_by_type (subscription_id=? AND status=? AND event_type=? AND created_at>? AND created_at<?)"},
		"jobs of old deliveries": {func(tx *storage.Tx) error {
			_, _, err := tx.DeleteEvents(1, []storage.Row{{ID: "e"}}, 1, true)
			return err
		},
			"jobs USING INTEGER PRIMARY KEY"},
		"old deliveries": {func(tx *storage.Tx) error {
			_, _, err := tx.DeleteEvents(1, []storage.Row{{ID: "e"}}, 1, true)
			return err
		},
			"deliveries_of_event (event=?)"},
		"events of an account": {func(tx *storage.Tx) error { _, err := tx.PurgeEvents(1, 10); return err }, "events_of_account (account_id=?)"},
		"ends of the events":   {func(tx *storage.Tx) error { _, err := tx.EventEnds(1); return err }, "removed_events USING INTEGER PRIMARY KEY (rowid=?)"},
		"oldest event":         {func(tx *storage.Tx) error { _, _, err := tx.OldestEvent(1, 5); return err }, "events_of_organization (organization_id=? AND seq>?)"},
		"window of events": {func(tx *storage.Tx) error {
			_, _, err := tx.EventWindow(1, storage.EventFilter{}, 5, 9, 10)
			return err
		}, "events_of_organization (organization_id=? AND seq>? AND seq<?)"},
		"window of some events": {func(tx *storage.Tx) error {
			_, _, err := tx.EventWindow(1, storage.EventFilter{Types: []string{"t"}, PhoneNumberID: "n"}, 5, 9, 10)
			return err
		}, "events_of_organization (organization_id=? AND seq>? AND seq<?)"},
		"replays":                     {func(tx *storage.Tx) error { _, _, err := tx.ReplayWindow(0, storage.EventFilter{}, 5, 10); return err }, "deliveries_replayed (job_id>?"},
		"last replay":                 {func(tx *storage.Tx) error { _, err := tx.LastReplay(); return err }, "deliveries_replayed"},
		"deliveries of a deleted one": {func(tx *storage.Tx) error { _, err := tx.DeleteSubscriptionStep("s"); return err }, "deliveries_of_subscription (subscription_id=?)"},
		"late jobs": {func(tx *storage.Tx) error { _, err := tx.LateJobs("send", time.Hour, storage.DueJob{}, 10); return err },
			"jobs_due (kind=? AND due_at>?)"},
		"label off conversations": {func(tx *storage.Tx) error { _, err := tx.DetachLabel("l", 10); return err }, "COVERING INDEX conversation_labels_by_label (label_id=?)"},
		"label off contacts":      {func(tx *storage.Tx) error { _, err := tx.DetachLabel("l", 10); return err }, "COVERING INDEX contact_labels_by_label (label_id=?)"},
		"touch labeled":           {func(tx *storage.Tx) error { return tx.TouchLabeled("l") }, "COVERING INDEX conversation_labels_by_label (label_id=?)"},
		"labeled":                 {func(tx *storage.Tx) error { _, err := tx.LabeledConversations("l", storage.Row{}, 10); return err }, "conversation_labels_by_label (label_id=? AND conversation_id>?)"},
		"messages without media":  {func(tx *storage.Tx) error { _, err := tx.DetachMedia("m", 10); return err }, "messages_with_media (media_id=?)"},
	}
}

// withJobs opens a database that has jobs to claim.
func withJobs(t *testing.T) *storage.DB {
	db := open(t, newFile(t))
	storagetest.Seed(t, db, "Acme")
	enqueue(t, db, storage.NewJob{Kind: "send"}, storage.NewJob{Kind: "send", Lane: "full"}, storage.NewJob{Kind: "send"})
	return db
}

// small are the things that may be read whole: they have a few rows.
var small = strings.NewReplacer("SCAN json_each", "the given list", "SCAN CONSTANT ROW", "one row", "SCAN sqlite_sequence", "a row for each numbered table")

// They must find their rows by an index, and take them in the order in which the
// index has them.
func TestHotStatementsSearchByAnIndex(t *testing.T) {
	db := withJobs(t)
	for name, c := range hot() {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			plans, err := tx.Plans(func() error { _ = c.run(tx); return nil })
			if err != nil {
				return err
			}
			text := ""
			for _, plan := range plans {
				text += small.Replace(plan) + "\n"
			}
			if len(plans) == 0 || !strings.Contains(text, c.uses) || slow.MatchString(text) {
				t.Errorf("%s:\n%s", name, text)
			}
			return nil
		})
	}
}

// SQLite prepares a statement anew when it is given a value that the planner has
// looked at, such as a limit. That takes longer than most statements do.
func TestHotStatementsArePreparedOnce(t *testing.T) {
	db := withJobs(t)
	reprepared := func(run func(*storage.Tx) error) (times int64) {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			before, err := tx.Reprepared()
			if err != nil {
				return err
			}
			_ = run(tx)
			_ = run(tx)
			times, err = tx.Reprepared()
			times -= before
			return err
		})
		return times
	}
	for name, c := range hot() {
		if n := reprepared(c.run); n > 0 {
			t.Errorf("%s: prepared %d times more", name, n)
		}
	}
	looksAtTheLimit := func(tx *storage.Tx) error {
		return tx.List(new([]string), `SELECT id FROM labels WHERE organization_id = ? ORDER BY created_at LIMIT  ?`, 1, 2)
	}
	if reprepared(looksAtTheLimit) == 0 {
		t.Error("what the planner looks at is not noticed")
	}
}

// slow matches the steps of a plan that read more than they must.
var slow = regexp.MustCompile(`SCAN|TEMP B-TREE|AUTOMATIC`)

func TestPlansOfSlowStatementsAreRecognized(t *testing.T) {
	db := open(t, newFile(t))
	storagetest.View(t, db, func(rx *storage.Rx) error {
		for _, query := range []string{`SELECT id FROM labels WHERE color = 'x'`, `SELECT id FROM labels WHERE organization_id = 1 ORDER BY name`} {
			plans, err := rx.Plans(func() error { return rx.List(new([]string), query) })
			if err != nil {
				return err
			}
			if !slow.MatchString(plans[query]) {
				t.Errorf("%s: %s", query, plans[query])
			}
		}
		return nil
	})
}

// A list of words in a CHECK must not make SQLite build an index for it each time.
func TestBusyTablesTakeRowsWithoutTemporaryIndexes(t *testing.T) {
	db := open(t, newFile(t))
	h := newThread(t, db, "106540352242922", "+15551234567")
	m := h.add(t, db)
	organization := h.account.OrganizationID
	subscription := storage.Subscription{OrganizationID: organization, URL: "https://a.test", Events: storage.Strings{"*"}, Status: storage.WebhookActive}
	storagetest.Update(t, db, func(tx *storage.Tx) error { _, err := tx.InsertSubscription(&subscription); return err })
	for name, run := range map[string]func(tx *storage.Tx) error{
		"a message": func(tx *storage.Tx) error { return tx.InsertMessage(&m) },
		"a job": func(tx *storage.Tx) error {
			_, err := tx.Enqueue(storage.NewJob{Kind: "send", Args: storagetest.Args(1)})
			return err
		},
		"an event and a delivery": func(tx *storage.Tx) error {
			return tx.InsertEvent(storage.Event{ID: "evt_1", OrganizationID: organization, Type: "t", Source: "svc", Payload: []byte("{}")}, "")
		},
		"a word in a conversation": func(tx *storage.Tx) error { return tx.MarkMessageWritten(h.conversation.ID, "text", storage.SourceAPI) },
		"a step of a message":      func(tx *storage.Tx) error { return tx.MarkPending(m) },
		"a lease": func(tx *storage.Tx) error {
			_, _, err := tx.ClaimDue("send", 1, time.Minute, func(string) bool { return true })
			return err
		},
	} {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			programs, err := tx.Programs(func() error { return run(tx) })
			for query, program := range programs {
				if strings.Contains(program, "OpenEphemeral") || strings.Contains(program, "OpenAutoindex") {
					t.Errorf("%s: %s", name, query)
				}
			}
			if len(programs) == 0 {
				t.Errorf("%s ran no statement", name)
			}
			return err
		})
	}
}
