package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// keyWith makes a key with limits.
func (s *stage) keyWith(k storage.Key) (secret string) {
	s.t.Helper()
	k.OrganizationID = s.tenant.Organization.ID
	storagetest.Update(s.t, s.app.DB, func(tx *storage.Tx) (err error) {
		secret, err = tx.InsertKey(&k)
		return err
	})
	return secret
}

// A tool may do what the routes allow that it calls.
func TestAnAgentHasTheLimitsOfItsKey(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, withMCP(true))
	number, other := s.connect(), s.connect()
	contact := s.call("POST", s.app.URL()+"/v1/"+number+"/contacts", `{"phone_number":"+15550001111"}`)["id"]
	text := map[string]any{"phone_number_id": number, "contact_id": contact, "text": "hi", "idempotency_key": "a"}

	reader := connectAgent(t, s.overHTTP(s.keyWith(storage.Key{Scopes: storage.Strings{"read"}})))
	is.Equal(len(items(reader.get("list_numbers", nil))), 2)
	is.Equal(reader.refusal("send_text", text), "permission_denied")
	is.Equal(reader.refusal("replay_delivery", map[string]any{"delivery_id": "wbd_x"}), "permission_denied")

	sender := connectAgent(t, s.overHTTP(s.keyWith(storage.Key{Scopes: storage.Strings{"read", "send"}})))
	sent := sender.get("send_text", text)
	is.Equal(reader.refusal("send_text", text), "permission_denied") // not even the answer to the same key
	is.Equal(sender.get("send_text", text), sent)

	one := connectAgent(t, s.overHTTP(s.keyWith(storage.Key{Agent: new("one")})))
	two := connectAgent(t, s.overHTTP(s.keyWith(storage.Key{Agent: new("two")})))
	text["idempotency_key"] = "b"
	held := one.get("send_text", text) // it takes hold
	text["idempotency_key"] = "c"
	is.Equal(two.refusal("send_text", text), "conversation_held")
	on := map[string]any{"phone_number_id": number, "conversation_id": held["conversation_id"]}
	is.Equal(two.refusal("hand_over", on), "conversation_held")
	one.get("hand_over", on) // to nobody
	two.get("send_text", text)

	blind := connectAgent(t, s.overHTTP(s.keyWith(storage.Key{Scopes: storage.Strings{"inbox"}})))
	is.Equal(blind.refusal("list_numbers", nil), "permission_denied")
	is.Equal(blind.refusal("find_contact", map[string]any{"phone_number_id": number, "query": "1"}), "permission_denied")

	var account storage.Account
	storagetest.View(t, s.app.DB, func(rx *storage.Rx) (err error) {
		account, err = rx.AccountByNumber(other)
		return err
	})
	bound := connectAgent(t, s.overHTTP(s.keyWith(storage.Key{Accounts: storage.Accounts{account.ID}})))
	is.Equal(item(bound.get("list_numbers", nil))["phone_number_id"], other)
	is.Equal(len(items(bound.get("list_numbers", nil))), 1)
	is.Equal(bound.refusal("send_text", text), "resource_not_found")
	is.Equal(bound.refusal("list_conversations", map[string]any{"phone_number_id": number}), "resource_not_found")
}

// TestABatchOfCallsIsRefused, whatever version of the protocol it is in: it would be thousands of
// calls at the price of one.
func TestABatchOfCallsIsRefused(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, withMCP(true))
	const one = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	for _, version := range []string{"", "2024-11-05", "2025-03-26", "2025-06-18"} {
		for body, status := range map[string]int{one: 200, "[" + one + "," + one + "]": 400} {
			req, err := http.NewRequest("POST", s.app.URL()+"/mcp", strings.NewReader(body))
			is.NoErr(err)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			req.Header.Set("Authorization", "Bearer "+s.tenant.Secret)
			if version != "" {
				req.Header.Set("Mcp-Protocol-Version", version)
			}
			res, err := http.DefaultClient.Do(req)
			is.NoErr(err)
			res.Body.Close()
			is.Equal(res.StatusCode, status) // version and body
		}
	}
}
