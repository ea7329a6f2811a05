package provider

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/matryer/is"
)

func TestSendHandsTheBodyOverAsItIs(t *testing.T) {
	is := is.New(t)
	c, got := says(t, 200, accepted)
	body := `{"messaging_product":"whatsapp", "to":"+16505551234","type":"location","location":{"latitude":1.10,"longitude":2e1}}`
	sent, err := c.Send(t.Context(), token, "106540352242922", []byte(body), nil)
	is.NoErr(err)
	is.Equal(sent, Sent{ID: "wamid.HBgL", WaID: "16505551234"})
	is.Equal(got.Method, "POST")
	is.Equal(got.Path, "/v23.0/106540352242922/messages")
	is.Equal(got.Auth, "Bearer "+tokenText)
	is.Equal(got.Type, "application/json")
	is.Equal(got.Body, body)
}

func TestSendUnderstandsEachFormOfAcceptance(t *testing.T) {
	for _, test := range []struct {
		name, body string
		want       Sent
	}{
		{"by BSUID", `{"messaging_product":"whatsapp","contacts":[{"input":"US.13491208655302741918","user_id":"US.13491208655302741918"}],"messages":[{"id":"wamid.1"}]}`,
			Sent{ID: "wamid.1"}},
		{"paced", `{"contacts":[{"input":"1","wa_id":"2"}],"messages":[{"id":"wamid.1","message_status":"held_for_quality_assessment"}]}`,
			Sent{ID: "wamid.1", WaID: "2"}},
		{"group", `{"messages":[{"id":"wamid.1","group_id":"g"}]}`, Sent{ID: "wamid.1"}},
		{"null error", `{"messages":[{"id":"wamid.1"}],"error":null}`, Sent{ID: "wamid.1"}},
		{"new keys", `{"messages":[{"id":"wamid.1","new":{"deep":[1]}}],"more":true}`, Sent{ID: "wamid.1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			c, _ := says(t, 200, test.body)
			sent, err := c.Send(t.Context(), token, "1", []byte(`{}`), nil)
			is.NoErr(err)
			is.Equal(sent, test.want)
		})
	}
}

func TestAReadReceiptMayCarryTyping(t *testing.T) {
	is := is.New(t)
	c, got := says(t, 200, `{"success":true}`)
	is.NoErr(c.MarkRead(t.Context(), token, "1", `wamid."1`, false))
	is.Equal(got.Body, `{"message_id":"wamid.\"1","messaging_product":"whatsapp","status":"read"}`)
	is.NoErr(c.MarkRead(t.Context(), token, "1", "wamid.1", true))
	is.Equal(got.Body, `{"message_id":"wamid.1","messaging_product":"whatsapp","status":"read","typing_indicator":{"type":"text"}}`)
	is.Equal(got.Path, "/v23.0/1/messages")
}

func BenchmarkSend(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, accepted)
	}))
	defer server.Close()
	c, err := New(Options{BaseURL: server.URL, Version: "v23.0", AppSecret: appSecret})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	body := []byte(`{"messaging_product":"whatsapp","to":"+16505551234","type":"text","text":{"body":"hello"}}`)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.Send(b.Context(), token, "1", body, nil); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkSendAlone leaves the network out: what the client itself costs.
func BenchmarkSendAlone(b *testing.B) {
	c, err := New(Options{BaseURL: "https://provider.test", Version: "v23.0", AppSecret: appSecret, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, ContentLength: int64(len(accepted)), Body: io.NopCloser(bytes.NewReader([]byte(accepted))), Request: r}, nil
	})})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Send(b.Context(), token, "1", []byte(`{}`), nil); err != nil {
			b.Fatal(err)
		}
	}
}
