package jobs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
)

// onLadder checks that pauses follow the schedule within its jitter.
func onLadder(is *is.I, pauses, want []time.Duration) {
	is.Helper()
	is.Equal(len(pauses), len(want))
	for i, p := range pauses {
		off := p.Seconds()/want[i].Seconds() - 1
		is.True(-ladderJitter-0.001 <= off && off <= ladderJitter+0.001) // within a tenth
	}
}

func TestAMessageIsSentAtOnceAndToldOnce(t *testing.T) {
	bubble(t, func(w *world) {
		w.start()
		id := w.text()
		synctest.Wait()
		m := w.message(id)
		w.is.Equal(m.Status, storage.MessageSent)
		w.is.Equal(*m.ProviderID, "wamid.1")
		w.is.Equal(w.events(), []string{"message.sent " + id + ":sent"})
		w.is.Equal(w.jobs(), 0)
		calls := w.provider.calls()
		w.is.Equal(len(calls), 1)
		w.is.Equal(calls[0].path, "/v23.0/100200300/messages")
		w.is.Equal(calls[0].auth, "Bearer token-100200300")
	})
}

func TestTransientFailuresAreRetriedOnTheWholeLadder(t *testing.T) {
	lost := func(call) (*http.Response, error) { return nil, errors.New("connection reset") }
	for name, fault := range map[string]struct {
		answer       func(call) (*http.Response, error)
		code         string
		providerCode *int
		told         int
	}{
		"a code": {func(call) (*http.Response, error) { return refusing(500, 131016), nil }, "upstream_error", new(131016), 131016},
		"is_transient": {func(call) (*http.Response, error) {
			return answered(400, `{"error":{"code":5,"is_transient":true}}`), nil
		}, "upstream_error", new(5), 5},
		"no JSON":        {func(call) (*http.Response, error) { return answered(502, "<html>"), nil }, "upstream_error", nil, 131000},
		"429 without it": {func(call) (*http.Response, error) { return answered(429, ""), nil }, "app_rate_limited", nil, 131000},
		"a lost line":    {lost, "upstream_error", nil, 131000},
		"half a yes":     {func(call) (*http.Response, error) { return answered(200, `{"messages":[]}`), nil }, "upstream_error", nil, 131000},
		"the account":    {func(call) (*http.Response, error) { return refusing(400, 80007), nil }, "account_rate_limited", new(80007), 80007},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = func(_ int, c call) (*http.Response, error) { return fault.answer(c) }
				w.start()
				id := w.text()
				synctest.Wait()
				w.is.Equal(w.message(id).Status, storage.MessagePending)
				w.is.Equal(w.events(), nil) // no event before it is over
				time.Sleep(20 * time.Minute)
				onLadder(w.is, w.provider.pauses(), ladder)
				m := w.message(id)
				w.is.Equal(m.Status, storage.MessageFailed)
				w.is.Equal(*m.ErrorCode, fault.code)
				w.is.Equal(m.ErrorProviderCode, fault.providerCode)
				w.is.True(m.ProviderID == nil)
				w.is.Equal(w.events(), []string{"message.status " + id})
				about, code := w.failure()
				w.is.Equal(about, id)
				w.is.Equal(code, fault.told)
				w.is.Equal(w.jobs(), 0)
			})
		})
	}
}

func TestALaterTryThatSucceedsEndsTheLadder(t *testing.T) {
	for after := 1; after <= len(ladder); after++ {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = func(n int, _ call) (*http.Response, error) {
					if n <= after {
						return refusing(500, 131000), nil
					}
					return accepted("wamid.late"), nil
				}
				w.start()
				id := w.text()
				time.Sleep(time.Hour)
				onLadder(w.is, w.provider.pauses(), ladder[:after])
				w.is.Equal(w.message(id).Status, storage.MessageSent)
				w.is.Equal(w.events(), []string{"message.sent " + id + ":sent"})
			})
		})
	}
}

func TestSomeCodesAreRetriedLessOften(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(int, call) (*http.Response, error) { return refusing(400, 1), nil } // "once or twice"
		w.start()
		id := w.text()
		time.Sleep(time.Hour)
		onLadder(w.is, w.provider.pauses(), ladder[:2])
		w.is.Equal(*w.message(id).ErrorProviderCode, 1)
	})
}

func TestRetryAfterIsHonouredWhereItIsLonger(t *testing.T) {
	for header, least := range map[string]time.Duration{"200": 200 * time.Second, "3": 54 * time.Second, "80000": 15 * time.Minute} {
		t.Run(header, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = func(n int, _ call) (*http.Response, error) {
					if n == 1 {
						return refusing(429, 130429, "Retry-After", header), nil
					}
					return accepted("wamid.1"), nil
				}
				w.start()
				w.text()
				time.Sleep(time.Hour)
				pauses := w.provider.pauses()
				w.is.Equal(len(pauses), 1)
				w.is.True(least <= pauses[0] && pauses[0] <= least+13*time.Second)
			})
		})
	}
}

// refused starts the jobs and sends a text to a provider that refuses everything with a code.
func (w *world) refused(code int) (id string) {
	w.t.Helper()
	w.provider.answer = func(int, call) (*http.Response, error) { return refusing(400, code), nil }
	w.start()
	id = w.text()
	synctest.Wait()
	return id
}

func TestABusinessRefusalIsFinalAtOnce(t *testing.T) {
	for code, want := range map[int]string{
		131026: "recipient_unavailable", 131047: "outside_24h_window", 132001: "template_not_found", 100: "upstream_error", 7777: "upstream_error",
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			bubble(t, func(w *world) {
				id := w.refused(code)
				m := w.message(id)
				w.is.Equal(m.Status, storage.MessageFailed)
				w.is.Equal(*m.ErrorCode, want)
				w.is.Equal(*m.ErrorProviderCode, code)
				w.is.Equal(*m.ErrorMessage, fmt.Sprintf("Because of %d.", code))
				w.is.Equal(w.events(), []string{"message.status " + id})
				_, told := w.failure()
				w.is.Equal(told, code)
				w.is.True(strings.Contains(string(w.stored()[0].Payload), fmt.Sprintf(
					`"title":"No","message":"No","error_data":{"details":"Because of %[1]d."},"fbtrace_id":"A"}`, code))) // in its own words, as a callback has them
				time.Sleep(time.Hour)
				w.is.Equal(len(w.provider.calls()), 1)
				w.is.Equal(w.sender().Status, storage.AccountConnected)
			})
		})
	}
}

func TestADeletedMessageIsNotSent(t *testing.T) {
	bubble(t, func(w *world) {
		id := w.text()
		deleteMessage(w, id)
		w.start()
		time.Sleep(time.Minute)
		w.is.Equal(len(w.provider.calls()), 0)
		w.is.Equal(w.jobs(), 0)
		w.is.Equal(w.events(), nil)
	})
}

func TestTheProviderGetsEachTypeInItsOwnWords(t *testing.T) {
	reply := func(m *storage.Message) { m.Context = storage.JSON(`{"message_id":"wamid.in"}`) }
	bsuid := "US.13491208655302741918"
	for name, c := range map[string]struct {
		kind, content, want string
		change              func(*storage.Message)
	}{
		"text":  {"text", `{"body":"hi <3","preview_url":true}`, `"to":"+15550001111","type":"text","text":{"body":"hi <3","preview_url":true}`, nil},
		"reply": {"text", `{"body":"yes"}`, `"to":"+15550001111","type":"text","text":{"body":"yes"},"context":{"message_id":"wamid.in"}`, reply},
		"by id": {"text", `{"body":"yes"}`, `"recipient":"` + bsuid + `","type":"text","text":{"body":"yes"}`, func(m *storage.Message) { m.Recipient = &bsuid }},
		"image": {"image", `{"link":"https://a.test/b.png","caption":"c"}`, `"to":"+15550001111","type":"image","image":{"link":"https://a.test/b.png","caption":"c"}`, nil},
		"voice": {"audio", `{"link":"https://a.test/b.ogg","voice":true}`, `"to":"+15550001111","type":"audio","audio":{"link":"https://a.test/b.ogg","voice":true}`, nil},
		"template": {"template", `{"name":"hello","language":"en_US","components":[]}`,
			`"to":"+15550001111","type":"template","template":{"name":"hello","language":{"code":"en_US"},"components":[]}`, nil},
		"buttons": {"interactive", `{"type":"reply_buttons","body":{"text":"chat"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"reply_buttons"}}]}}`,
			`"to":"+15550001111","type":"interactive","interactive":{"type":"button","body":{"text":"chat"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"reply_buttons"}}]}}`, nil},
		"reaction": {"reaction", `{"message_id":"wamid.in","emoji":""}`, `"to":"+15550001111","type":"reaction","reaction":{"message_id":"wamid.in","emoji":""}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.start()
				if c.change == nil {
					c.change = func(*storage.Message) {}
				}
				id := w.queue("+15550001111", c.kind, c.content, c.change)
				synctest.Wait()
				want := `{"messaging_product":"whatsapp","recipient_type":"individual","biz_opaque_callback_data":"` + id + `",` + c.want + `}`
				w.is.Equal(decoded(w, w.provider.calls()[0].body), decoded(w, want))
			})
		})
	}
}

func decoded(w *world, text string) (v map[string]any) {
	w.t.Helper()
	w.is.NoErr(json.Unmarshal([]byte(text), &v))
	return v
}
