package e2e

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// TestKillingTheServerLosesNothingAcknowledged storms a server with posts whose
// clients retry under one Idempotency-Key until they are answered, and kills it
// in the middle, several times.
func TestKillingTheServerLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const clients, each, kills = 8, 60, 4
	s := newServer(t)
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		acked = make(map[string]string) // name → id
	)
	progress := make(chan struct{}, clients*each)
	for c := range clients {
		group.Go(func() {
			for n := range each {
				name := fmt.Sprintf("label %d.%d", c, n)
				id := insist(t, s, name)
				mu.Lock()
				acked[name] = id
				mu.Unlock()
				progress <- struct{}{}
			}
		})
	}
	for range kills {
		for range clients * each / (kills + 2) {
			<-progress
		}
		s.kill()
		s.start()
	}
	group.Wait()
	s.kill()
	s.start()
	names := s.labels()
	is.Equal(len(acked), clients*each)
	is.Equal(len(names), len(acked))
	for name, ids := range names {
		is.Equal(ids, []string{acked[name]}) // each exists once, as it was acknowledged
	}
}

// insist posts a label until it is acknowledged, and returns its id.
func insist(t *testing.T, s *server, name string) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		r, err := s.send(ctx, "POST", "/v1/labels", fmt.Sprintf(`{"name":%q}`, name), "Idempotency-Key: "+name)
		switch {
		case ctx.Err() != nil:
			t.Errorf("%s was never acknowledged", name)
			return ""
		case err == nil && r.status == 201:
			return r.body["data"].(map[string]any)["id"].(string)
		case err == nil && r.status != 409: // 409: the first try is still being worked on
			t.Errorf("%s: %d %v", name, r.status, r.body)
			return ""
		}
		time.Sleep(5 * time.Millisecond) // the server is down, and there is no signal when it is back
	}
}

// TestKillingTheServerLeavesAssignmentsEven lets 200 people write to a team of five that assigns by
// turns, and kills the server in the middle. The provider repeats what was not answered.
func TestKillingTheServerLeavesAssignmentsEven(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const clients, each = 20, 10
	s := prepareServer(t)
	sim := &simulated{t: t, address: freeAddress(t), Number: "100200300", WABA: "waba-1"} // nothing is sent to it
	sim.connect(s)
	s.assignByTurns("Ana", "Bo", "Cy", "Dee", "Eve")
	s.start()

	var group sync.WaitGroup
	progress := make(chan struct{}, clients*each)
	for c := range clients {
		group.Go(func() {
			for n := range each {
				insistOnInbound(t, s, sim.Number, 15550100000+c*each+n)
				progress <- struct{}{}
			}
		})
	}
	for range clients * each / 3 {
		<-progress
	}
	s.kill()
	s.start()
	group.Wait()

	is.Equal(storagetest.Select[int](t, s.dir, `SELECT count(*) FROM conversations GROUP BY assignee_id`), []int{40, 40, 40, 40, 40})
	is.Equal(storagetest.Select[string](t, s.dir, `
		SELECT count(*) || ' events of ' || count(DISTINCT json_extract(CAST(payload AS TEXT), '$.data.conversation.id')) || ' conversations'
		FROM events WHERE type = 'conversation.assigned'`), []string{"200 events of 200 conversations"})
}

// assignByTurns makes people whose consoles were just seen, on a server that is down, and lets the team
// assign by turns.
func (s *server) assignByTurns(names ...string) {
	s.t.Helper()
	db, err := storage.Open(storagetest.Options(s.t, s.dir))
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	storagetest.Update(s.t, db, func(tx *storage.Tx) error {
		teams, err := tx.Teams(1)
		if err != nil {
			return err
		}
		teams[0].Assignment = storage.AssignmentRoundRobin
		if err := tx.UpdateTeam(teams[0]); err != nil {
			return err
		}
		for _, name := range names {
			u := storage.User{OrganizationID: teams[0].OrganizationID, TeamID: teams[0].ID, Name: name}
			if err := tx.InsertUser(&u); err != nil {
				return err
			}
			if _, err := tx.InsertUserSession(&storage.UserSession{UserID: u.ID}); err != nil {
				return err
			}
		}
		return nil
	})
}

// insistOnInbound posts the callback of somebody's first message until it is answered, and then once more,
// as the provider may.
func insistOnInbound(t *testing.T, s *server, number string, from int) {
	body := fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":"waba-1","changes":[{"field":"messages","value":{"messaging_product":"whatsapp",`+
		`"metadata":{"display_phone_number":"15550100200","phone_number_id":%q},"contacts":[],`+
		`"messages":[{"from":"%d","id":"wamid.%[2]d","timestamp":"1750030073","type":"text","text":{"body":"hi"}}]}}]}]}`, number, from)
	mac := hmac.New(sha256.New, []byte(stormSecret))
	mac.Write([]byte(body))
	answers := 0
	ended := until(func() bool {
		req, err := http.NewRequest("POST", "http://"+s.address+"/provider/webhook", strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return true
		}
		req.Header.Set("X-Hub-Signature-256", fmt.Sprintf("sha256=%x", mac.Sum(nil)))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false // the server is down
		}
		res.Body.Close()
		if res.StatusCode == 200 {
			answers++
		}
		return answers == 2
	})
	if !ended {
		t.Errorf("the message of %d was never taken", from)
	}
}
