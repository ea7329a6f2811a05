package jobs_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/app/stream"
	"confab/storage"
	"confab/storage/storagetest"
)

// someone is a person in all the ways in which they are named.
type someone struct {
	sent  string // the number as clients write it
	waID  string // as the provider does
	bsuid string
}

// mergingWorld is a world in which people are written to and write, all at once, under
// any name, so that contacts are merged while messages are on their way.
type mergingWorld struct {
	*world
	api    *api.Server
	random *rand.Rand
	people []someone
	group  sync.WaitGroup // calls under way

	mu    sync.Mutex
	wamid int
	asked map[string]bool // the numbers that sends named
}

func newMergingWorld(w *world, seed uint64) *mergingWorld {
	c := &mergingWorld{world: w, random: rand.New(rand.NewPCG(seed, 0)), asked: make(map[string]bool)}
	streams, err := stream.New(w.db)
	w.is.NoErr(err)
	core := rest.New(rest.Options{
		DB: w.db, Plans: map[string]rest.Plan{"self_hosted": {API: true}}, Log: w.options.Log,
	})
	c.api = api.New(core, api.Options{Streams: streams, Version: "test", Publisher: w.options.Publisher})
	w.t.Cleanup(c.api.Close)
	for i := range 3 {
		c.people = append(c.people, someone{fmt.Sprint("+553198765432", i), fmt.Sprint("55318765432", i), fmt.Sprint("BR.", i)})
	}
	w.provider.answer = c.answer
	return c
}

// roll draws a number below n.
func (c *mergingWorld) roll(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

// later does something within the next second.
func (c *mergingWorld) later(do func()) {
	wait := time.Duration(c.roll(1000)) * time.Millisecond
	c.group.Go(func() {
		time.Sleep(wait)
		do()
	})
}

// call makes a request and returns its answer.
func (c *mergingWorld) call(method, path, body string) (status int, data map[string]any) {
	c.t.Helper()
	r := httptest.NewRequest(method, "/v1/100200300/"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+c.tenant.Secret)
	r.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	c.api.ServeHTTP(answer, r)
	var out struct{ Data map[string]any }
	if err := json.Unmarshal(answer.Body.Bytes(), &out); err != nil {
		c.t.Error(err)
	}
	return answer.Code, out.Data
}

// send writes to somebody by number, in either form, or by id.
func (c *mergingWorld) send(to someone) (id string) {
	c.t.Helper()
	name := []string{`"to":"` + to.sent + `"`, `"to":"+` + to.waID + `"`, `"recipient":"` + to.bsuid + `"`}[c.roll(3)]
	status, data := c.call("POST", "messages", `{"messaging_product":"chat",`+name+`,"type":"text","text":{"body":"hi"}}`)
	if status != 200 {
		c.t.Errorf("a send was answered %d", status)
	}
	id, _ = data["id"].(string)
	return id
}

// answer takes a message, sooner or later, and reports on it, before or after the
// answer: in order, but some reports come twice, and some without our id.
func (c *mergingWorld) answer(_ int, in call) (*http.Response, error) {
	c.mu.Lock()
	c.wamid++
	wamid := fmt.Sprint("wamid.", c.wamid)
	c.mu.Unlock()

	var body struct{ To, Recipient string }
	if err := json.Unmarshal([]byte(in.body), &body); err != nil {
		return nil, err
	}
	to := c.people[slices.IndexFunc(c.people, func(p someone) bool {
		return body.Recipient == p.bsuid || body.To == p.sent || body.To == "+"+p.waID
	})]

	answerAfter := time.Duration(c.roll(300)) * time.Millisecond
	c.later(func() {
		for _, status := range []string{"sent", "delivered", "read"} {
			tag := in.tag()
			if c.roll(4) == 0 {
				tag = ""
			}
			for range 1 + c.roll(2) {
				c.callback("messages", fmt.Sprintf(`"statuses":[{"id":%q,"status":%q,"timestamp":"%d","recipient_id":%q,"recipient_user_id":%q,"biz_opaque_callback_data":%q}]`,
					wamid, status, time.Now().Unix(), to.waID, to.bsuid, tag))
			}
			time.Sleep(time.Duration(c.roll(100)) * time.Millisecond)
		}
	})

	time.Sleep(answerAfter)
	c.mu.Lock()
	c.asked[body.To] = true
	c.mu.Unlock()
	if body.Recipient != "" {
		return answered(200, `{"messaging_product":"whatsapp","contacts":[{"input":"x","user_id":"`+to.bsuid+`"}],"messages":[{"id":"`+wamid+`"}]}`), nil
	}
	return acceptedAs(wamid, to.waID), nil
}

// writesSomehow lets somebody write, who hides the number, or whose id is not sent, or
// neither.
func (c *mergingWorld) writesSomehow(who someone, wamid string) {
	c.t.Helper()
	number, id := `"from":"`+who.waID+`"`, `"from_user_id":"`+who.bsuid+`"`
	c.writes([]string{number, id, number + "," + id}[c.roll(3)], wamid)
}

// reported lists the events of each message, in order: "accepted" for message.sent.
func (c *mergingWorld) reported() map[string][]string {
	c.t.Helper()
	all := make(map[string][]string)
	for _, e := range c.stored() {
		switch e.Type {
		case "message.sent":
			id := strings.TrimSuffix(e.EventID, ":sent")
			wamid := *c.message(id).ProviderID
			all[wamid] = append(all[wamid], "accepted")
		case "message.status":
			word := string(e.Payload[strings.Index(string(e.Payload), `"status":"`)+len(`"status":"`):])
			all[e.EventID] = append(all[e.EventID], word[:strings.IndexByte(word, '"')])
		}
	}
	return all
}

// TestNothingIsLostWhileContactsAreMerged holds sends, answers, statuses and messages of
// people against each other, in any order.
func TestNothingIsLostWhileContactsAreMerged(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			bubble(t, func(w *world) {
				c := newMergingWorld(w, seed)
				w.start()
				var mu sync.Mutex
				var sent []string
				for i := range 24 {
					who := c.people[i%len(c.people)]
					c.later(func() {
						if i%4 == 0 {
							c.writesSomehow(who, fmt.Sprint("wamid.in.", i))
							return
						}
						id := c.send(who)
						mu.Lock()
						defer mu.Unlock()
						sent = append(sent, id)
					})
				}
				time.Sleep(time.Minute)
				c.group.Wait()

				told := c.reported()
				w.is.Equal(len(sent), 18)
				for _, id := range sent {
					status, m := c.call("GET", "messages/"+id, "")
					w.is.Equal(status, 200) // no matter what became of its contact
					w.is.Equal(m["status"], "read")
					w.is.Equal(told[m["message_id"].(string)], []string{"accepted", "sent", "delivered", "read"})
					for _, path := range []string{"contacts/" + m["contact_id"].(string), "conversations/" + m["conversation_id"].(string)} {
						status, _ := c.call("GET", path, "")
						w.is.Equal(status, 200)
					}
				}
				c.checkPeople()
			})
		})
	}
}

// checkPeople fails the test unless each person is one contact, who is found by every
// name, and everything belongs to it.
func (c *mergingWorld) checkPeople() {
	c.t.Helper()
	for _, who := range c.people {
		storagetest.View(c.t, c.db, func(rx *storage.Rx) error {
			byID, err := rx.ContactByBSUID(c.account.ID, who.bsuid)
			if err != nil {
				return err
			}
			c.is.True(byID.PhoneNumber == nil || *byID.PhoneNumber == "+"+who.waID)
			if !c.asked[who.sent] {
				return nil
			}
			byForm, err := rx.ContactByPhone(c.account.ID, who.sent)
			c.is.Equal(byForm.ID, byID.ID)
			return err
		})
	}
	for fault, query := range map[string]string{
		"a contact too many":                `SELECT id FROM contacts LIMIT -1 OFFSET 3`,
		"a callback that fell":              `SELECT reason FROM raw_callbacks`,
		"a callback that waits":             `SELECT provider_id FROM parked_statuses`,
		"a message beside its conversation": `SELECT m.id FROM messages m JOIN conversations v ON v.id = m.conversation_id WHERE v.contact_id <> m.contact_id`,
		"an alias that is a number":         `SELECT x.phone_number FROM contact_aliases x JOIN contacts c USING (account_id, phone_number)`,
	} {
		if rows := storagetest.Select[string](c.t, c.dir, query); len(rows) > 0 {
			c.t.Errorf("%s: %v", fault, rows)
		}
	}
	c.is.Equal(c.jobs(), 0)
}
