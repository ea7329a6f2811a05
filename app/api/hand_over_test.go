package api

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// bot makes a key of a bot and returns its secret.
func (f *fixture) bot(tenant storagetest.Tenant, name string) string {
	f.t.Helper()
	return f.keyWith(tenant, storage.Key{Agent: &name})
}

// textFrom is a text to somebody that names its author.
func textFrom(author, to string) string {
	return fmt.Sprintf(`{"messaging_product":"chat","to":%q,"type":"text","text":{"body":%q}}`, to, author)
}

// TestNoBotWritesWhereSomebodyElseHolds lets two people, two bots, an ordinary key and those who
// hand over work on the same conversation at the same moment, in any order. What was stored shows
// in which order that happened: each message of a bot comes where nobody or itself holds.
func TestNoBotWritesWhereSomebodyElseHolds(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	one, other := f.bot(f.tenant, "one"), f.bot(f.tenant, "other")
	ada, bo := f.signedIn(f.tenant, storage.RoleAgent), f.signedIn(f.tenant, storage.RoleAgent)

	refused, taken := 0, 0
	for seed := range uint64(25) {
		to := fmt.Sprintf("+1555777%04d", seed)
		first := f.call("POST", messages, textFrom("key", to)) // the conversation is there
		id := storagetest.Select[string](t, f.dir, `SELECT conversation_id FROM messages WHERE id = ?`, first.text("data.id"))[0]
		conversation := "/" + number + "/conversations/" + id
		handOver := func(to string) func() answer {
			return func() answer { return f.visit(ada, "POST", "/v1"+conversation+"/hand_over", `{"to":`+to+`}`) }
		}
		steps := []func() answer{
			func() answer { return f.callAs(one, "POST", messages, textFrom("one", to)) },
			func() answer { return f.callAs(one, "POST", messages, textFrom("one", to)) },
			func() answer { return f.callAs(other, "POST", messages, textFrom("other", to)) },
			func() answer { return f.visit(ada, "POST", "/v1"+messages, textFrom("ada", to)) },
			func() answer { return f.visit(bo, "POST", "/v1"+messages, textFrom("bo", to)) },
			func() answer { return f.call("POST", messages, textFrom("key", to)) },
			handOver(`{"type":"none"}`),
			handOver(`{"type":"agent","id":"other"}`),
			func() answer {
				return f.callAs(one, "POST", conversation+"/hand_over", `{"to":{"type":"agent","id":"one"}}`)
			},
			func() answer { return f.call("PATCH", conversation, `{"status":"resolved"}`) },
		}
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(steps), func(i, k int) { steps[i], steps[k] = steps[k], steps[i] })

		var group sync.WaitGroup
		answers := make([]answer, len(steps))
		for i, step := range steps {
			group.Go(func() { answers[i] = step() })
		}
		group.Wait()
		for _, got := range answers {
			is.True(got.status == 200 || got.code() == "409 conversation_held") // got
			if got.status != 200 {
				refused++
			}
		}
		taken += f.walkHolders(id)
	}
	is.True(refused > 0 && taken > 0) // both were tried
}

// walkHolders walks the messages and hand-overs of a conversation in the order in which they were
// stored, and counts those of bots.
func (f *fixture) walkHolders(conversation string) (bots int) {
	f.t.Helper()
	// Ids that transactions give are in their order, whatever they are of.
	rows := storagetest.Select[string](f.t, f.dir, `
		SELECT substr(id, 5) || ' ' || json_object('author', body) FROM messages WHERE conversation_id = ?1
		UNION ALL
		SELECT substr(id, 5) || ' ' || (CAST(payload AS TEXT) -> '$.data') FROM events
		WHERE type = 'conversation.handed_over' AND CAST(payload AS TEXT) ->> '$.data.conversation_id' = ?1`, conversation)
	slices.Sort(rows)

	type holder struct{ Type, ID string }
	held := holder{Type: storage.HolderNone}
	for _, row := range rows {
		var step struct {
			Author   string
			From, To *holder
		}
		_, text, _ := strings.Cut(row, " ")
		if err := json.Unmarshal([]byte(text), &step); err != nil {
			f.t.Fatal(err)
		}

		switch {
		case step.To != nil && *step.From != held:
			f.t.Errorf("it was handed over by %v, and %v held it", *step.From, held)
		case step.To != nil:
			held = *step.To
		case step.Author == "one" || step.Author == "other":
			bots++
			if held.Type != storage.HolderNone && held != (holder{storage.HolderAgent, step.Author}) {
				f.t.Errorf("%s wrote while %v held it:\n%s", step.Author, held, strings.Join(rows, "\n"))
			}
		}
	}
	return bots
}
