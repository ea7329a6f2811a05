package callback

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/storage"
	"confab/storage/storagetest"
)

// person adds somebody to the team, with a console that was seen just now.
func (l *line) person(name string) storage.User {
	l.t.Helper()
	u := storage.User{OrganizationID: l.tenant.Organization.ID, TeamID: l.tenant.Team.ID, Name: name}
	storagetest.Update(l.t, l.server.DB, func(tx *storage.Tx) error {
		if err := tx.InsertUser(&u); err != nil {
			return err
		}
		_, err := tx.InsertUserSession(&storage.UserSession{UserID: u.ID})
		return err
	})
	return u
}

// assignBy sets how the team's conversations are assigned.
func (l *line) assignBy(assignment string, limit *int) {
	l.t.Helper()
	team := l.tenant.Team
	team.Assignment, team.AssignmentLimit = assignment, limit
	storagetest.Update(l.t, l.server.DB, func(tx *storage.Tx) error { return tx.UpdateTeam(team) })
}

// writes lets somebody with a number of their own write.
func (l *line) writes(n int) {
	l.t.Helper()
	l.heard++
	l.post(news("messages", "messages", "", by(n, fmt.Sprint("wamid.", n, ".", l.heard))))
}

// by words a text of somebody with a number of their own.
func by(n int, wamid string) string {
	return writtenBy(fmt.Sprintf(`"from":"%d"`, 15550100000+n), wamid, "text", `"text":{"body":"hi"}`)
}

// assignee is the name of whoever has the conversation of writer n; "" for nobody.
func (l *line) assignee(n int) string {
	l.t.Helper()
	names := storagetest.Select[string](l.t, l.dir, `
		SELECT coalesce(u.name, '') FROM conversations v JOIN contacts c ON c.id = v.contact_id LEFT JOIN users u ON u.id = v.assignee_id
		WHERE c.phone_number = ?`, fmt.Sprint("+", 15550100000+n))
	l.is.Equal(len(names), 1)
	return names[0]
}

// TestTwoHundredConversationsAtOnceAreSpreadEvenly posts the first words of 200 people at the same
// moment, in callbacks of one to four.
func TestTwoHundredConversationsAtOnceAreSpreadEvenly(t *testing.T) {
	is := is.New(t)
	l := newLine(t)
	l.server.WriteError = nil
	for _, name := range []string{"Ana", "Bo", "Cy", "Dee", "Eve"} {
		l.person(name)
	}
	l.assignBy(storage.AssignmentRoundRobin, nil)

	var group sync.WaitGroup
	for n := 0; n < 200; {
		var some []string
		for range min(1+n%4, 200-n) {
			some = append(some, by(n, fmt.Sprint("wamid.", n)))
			n++
		}
		server := *l.server // post gives each its own WriteError
		group.Go(func() {
			body := `{"object":"whatsapp_business_account","entry":[{"id":"waba-1","changes":[` + news("messages", "messages", "", some...) + `]}]}`
			for range 2 { // a repeat changes nothing
				if status, refused := post(t, &server, body, sign(body)); status != 200 || refused != nil {
					t.Errorf("%d %v", status, refused)
				}
			}
		})
	}
	group.Wait()

	is.Equal(l.count("conversations"), 200)
	counts := storagetest.Select[int](t, l.dir, `SELECT count(*) FROM conversations WHERE assignee_id IS NOT NULL GROUP BY assignee_id`)
	is.Equal(counts, []int{40, 40, 40, 40, 40})
	is.Equal(storagetest.Select[int](t, l.dir, `SELECT count(*) FROM conversation_changes WHERE kind = 'assigned' AND actor = 'assignment'`), []int{200})

	told := make(map[string]int)
	for _, e := range l.typed("conversation.assigned") {
		var payload struct {
			Data struct {
				Conversation struct{ ID string }
				Assignee     struct {
					UserID string `json:"user_id"`
				}
			}
		}
		is.NoErr(json.Unmarshal(e.Payload, &payload))
		told[payload.Data.Conversation.ID]++
		is.Equal(storagetest.Select[string](t, l.dir, `SELECT assignee_id FROM conversations WHERE id = ?`, payload.Data.Conversation.ID), []string{payload.Data.Assignee.UserID})
	}
	is.Equal(len(told), 200)
	is.Equal(slices.Max(slices.Collect(maps.Values(told))), 1)
}

func TestOnlyThoseWhoAreAvailableAndBelowTheLimitGetConversations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t)
		ana, bo := l.person("Ana"), l.person("Bo")
		elsewhere := storage.Team{OrganizationID: l.tenant.Organization.ID, Name: "Elsewhere"}
		storagetest.Update(t, l.server.DB, func(tx *storage.Tx) error { return tx.InsertTeam(&elsewhere) })
		away := func(u storage.User, available bool) {
			storagetest.Update(t, l.server.DB, func(tx *storage.Tx) error { return tx.SetAvailable(u.ID, available) })
		}

		l.writes(1)
		l.is.Equal(l.assignee(1), "") // it is off

		l.assignBy(storage.AssignmentRoundRobin, nil)
		l.post(news("messages", "messages", "", writtenBy(`"from":"15550100001"`, "wamid.reaction", "reaction", `"reaction":{"message_id":"wamid.out","emoji":"x"}`)))
		l.is.Equal(l.assignee(1), "") // a reaction asks nothing
		l.writes(1)
		l.is.Equal(l.assignee(1), "Ana") // the next message of the same conversation
		l.writes(1)
		l.is.Equal(len(l.typed("conversation.assigned")), 1) // and there it stays
		l.writes(2)
		l.writes(3)
		l.is.Equal(l.assignee(2)+l.assignee(3), "BoAna")

		away(bo, false)
		l.writes(4)
		l.is.Equal(l.assignee(4), "Ana")
		away(bo, true)
		l.writes(5)
		l.is.Equal(l.assignee(5), "Bo") // whose last turn is the longest ago

		l.assignBy(storage.AssignmentRoundRobin, new(3))
		l.writes(6)
		l.writes(7)
		l.is.Equal(l.assignee(6)+l.assignee(7), "Bo") // Ana has three, and then Bo
		storagetest.Exec(t, l.dir, `UPDATE conversations SET status = 'pending' WHERE assignee_id = ?`, ana.ID)
		l.server.DB.DropCaches()
		l.writes(7)
		l.is.Equal(l.assignee(7), "") // pending ones count
		storagetest.Exec(t, l.dir, `UPDATE conversations SET status = 'resolved' WHERE assignee_id = ?`, ana.ID)
		l.server.DB.DropCaches()
		l.writes(7)
		l.is.Equal(l.assignee(7), "Ana")

		l.assignBy(storage.AssignmentRoundRobin, nil)
		time.Sleep(10*time.Minute + time.Second)
		l.writes(8)
		l.is.Equal(l.assignee(8), "") // no console was seen lately
		storagetest.Exec(t, l.dir, `UPDATE user_sessions SET last_seen_at = ? WHERE user_id = ?`, storage.Now(), bo.ID)
		l.writes(8)
		l.is.Equal(l.assignee(8), "Bo")

		storagetest.Exec(t, l.dir, `UPDATE users SET team_id = ? WHERE id = ?`, elsewhere.ID, bo.ID)
		l.writes(9)
		l.is.Equal(l.assignee(9), "")
	})
}

func TestADisabledPersonsConversationGoesToSomebodyElse(t *testing.T) {
	l := newLine(t)
	ana := l.person("Ana")
	l.assignBy(storage.AssignmentRoundRobin, nil)
	l.writes(1)
	l.person("Bo")
	storagetest.Update(t, l.server.DB, func(tx *storage.Tx) error { return tx.DisableUser(ana.ID) })
	l.writes(1)
	l.is.Equal(l.assignee(1), "Bo")
	last := l.typed("conversation.assigned")[1]
	l.is.True(strings.Contains(string(last.Payload), `"previous_user_id":"`+ana.ID+`"`))
	received := l.typed("message.received")[1]
	l.is.True(!strings.Contains(string(received.Payload), ana.ID)) // it names the new one

	// A message that cannot be stored takes nobody's turn.
	turns := storagetest.Select[int](t, l.dir, `SELECT turn FROM assignment_turns ORDER BY turn`)
	storagetest.Exec(t, l.dir, `CREATE TRIGGER broken BEFORE INSERT ON events WHEN new.type = 'message.received' BEGIN SELECT RAISE(ABORT, 'no'); END`)
	l.post(news("messages", "messages", "", by(2, "wamid.lost")))
	storagetest.Exec(t, l.dir, `DROP TRIGGER broken`)
	l.is.Equal(l.count("conversations"), 1)
	l.is.Equal(storagetest.Select[int](t, l.dir, `SELECT turn FROM assignment_turns ORDER BY turn`), turns)
}

func TestNobodyIsAssignedByTurnWhileABotHoldsAConversation(t *testing.T) {
	l := newLine(t)
	l.writes(1)
	l.person("Ana")
	l.assignBy(storage.AssignmentRoundRobin, nil)
	handOver := func(to storage.Holder) {
		storagetest.Update(t, l.server.DB, func(tx *storage.Tx) error {
			id := storagetest.Select[string](t, l.dir, `SELECT id FROM conversations`)[0]
			c, err := tx.Conversation(l.account.ID, id)
			if err != nil {
				return err
			}
			return messaging.HandOver(tx, messaging.SubjectOf(l.account), event.By{Type: event.BySystem}, c.Conversation, to, nil)
		})
	}

	storagetest.Update(t, l.server.DB, func(tx *storage.Tx) error {
		_, err := tx.InsertKey(&storage.Key{OrganizationID: l.tenant.Organization.ID, Agent: new("bot")})
		return err
	})
	handOver(messaging.Agent("bot"))
	l.writes(1)
	l.is.Equal(l.assignee(1), "")

	handOver(storage.Holder{Type: storage.HolderNone})
	l.is.Equal(l.assignee(1), "Ana")
}
