package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/oklog/ulid/v2"

	"confab/storage"
	"confab/storage/storagetest"
)

// TestAServerThatStartsWithAClockThatIsAhead starts one that keeps its log for a day
// and last ran 200 days ago, by its clock.
func TestAServerThatStartsWithAClockThatIsAhead(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := prepareServer(t)
	s.env = append(s.env, "CONFAB_LOG__API_LOG_DAYS=1")
	storagetest.Exec(t, s.dir, `INSERT INTO api_log (method, path, status, latency_us, ip, request_id, created_at) VALUES ('GET', '/', 200, 1, '', 'old', ?)`,
		storage.Now().Add(-200*24*time.Hour))
	kept := func() int {
		return len(storagetest.Select[int](t, s.dir, `SELECT id FROM api_log WHERE request_id = 'old'`))
	}

	s.start()
	text := s.metrics(`confab_jobs_total{kind="retention",outcome="done"} 1`)
	is.True(strings.Contains(text, "\nconfab_clock_ahead_seconds 1.7")) // some 17 million
	is.Equal(kept(), 1)
	s.kill()
	is.True(strings.Contains(s.output.String(), "this machine's clock looks wrong"))

	run(t, "purge", "--confirm-clock", "--data-dir", s.dir)
	storagetest.Exec(t, s.dir, `DELETE FROM periodic_runs`) // or it would run within the hour
	s.start()
	text = s.metrics(`confab_jobs_total{kind="retention",outcome="done"} 1`)
	is.True(strings.Contains(text, "\nconfab_clock_ahead_seconds 0\n"))
	is.Equal(kept(), 0)
}

// TestAServerWhoseClockWasSetBack starts one with rows that were stored while the clock of its
// machine was two hours ahead.
func TestAServerWhoseClockWasSetBack(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newCampaign(t, "")
	id := func(r reply) string {
		if r.status != 200 && r.status != 201 {
			t.Fatal(r.status, r.body)
		}
		return r.body["data"].(map[string]any)["id"].(string)
	}
	of := "/v1/" + s.sim.Number
	write := func(text string) string {
		sent := s.mustSend("POST", of+"/messages", `{"messaging_product":"chat","to":"`+number(1)+`","type":"text","text":{"body":"`+text+`"}}`)
		s.awaitNone(s.sim.Number, "queued", "pending")
		return id(sent)
	}
	label := id(s.mustSend("POST", "/v1/labels", `{"name":"VIP","color":"red"}`))
	contact := id(s.mustSend("POST", of+"/contacts", `{"phone_number":"`+number(1)+`"}`))
	is.Equal(s.mustSend("POST", of+"/contacts/"+contact+"/labels", `{"label_id":"`+label+`"}`).status, 200)
	first := write("first")
	s.kill()

	const hours = 2 * 60 * 60 * 1000
	ahead, err := ulid.ParseStrict(strings.TrimPrefix(first, "msg_"))
	is.NoErr(err)
	is.NoErr(ahead.SetTime(ahead.Time() + hours))
	first = "msg_" + ahead.String()
	storagetest.Exec(t, s.dir, `UPDATE messages SET id = ?, created_at = created_at + ?`, first, hours)
	storagetest.Exec(t, s.dir, `UPDATE contacts SET created_at = created_at + ?1, updated_at = updated_at + ?1`, hours)
	storagetest.Exec(t, s.dir, `UPDATE contact_labels SET contact_created_at = contact_created_at + ?`, hours)
	s.start()

	second := write("second")
	var messages []struct{ ID string }
	s.get("/messages", &messages)
	is.Equal([]string{messages[0].ID, messages[1].ID}, []string{second, first})
	var conversations []struct {
		LastMessage struct{ ID string } `json:"last_message"`
	}
	s.get("/conversations", &conversations)
	is.Equal(conversations[0].LastMessage.ID, second)

	broadcast := id(s.mustSend("POST", of+"/broadcasts", `{"name":"News","template":{"name":"news","language":"en"},"audience":{"label_id":"`+label+`"}}`))
	done, _ := s.complete(broadcast, time.Minute)
	is.Equal(done.Counts["total"], 1)
}
