package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/simulator"
)

// remembering is a simulator that has only messages.
func remembering(t *testing.T, sends, inbound string) *simulatorClient {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list := sends
		if r.URL.Query().Get("direction") == "inbound" {
			list = inbound
		}
		fmt.Fprintf(w, `{"data":[%s]}`, list)
	}))
	t.Cleanup(server.Close)
	return &simulatorClient{simulatorAccess: simulatorAccess{SimulatorURL: server.URL}}
}

const (
	aSend      = `{"id":"%s","request":{"messaging_product":"whatsapp","to":"15550001111"}}`
	anArrival  = `{"id":"%s","request":{"from":"15550001111","from_user_id":"US.1"}}`
	theLatest  = "wamid.latest"
	theEarlier = "wamid.earlier"
)

func TestTheLatestMessageIsMeant(t *testing.T) {
	is := is.New(t)
	sends := fmt.Sprintf(aSend+","+aSend, theEarlier, theLatest)
	arrivals := fmt.Sprintf(anArrival+","+anArrival, theEarlier, theLatest)
	c := remembering(t, sends, arrivals)

	id, err := c.latestSend(t.Context())
	is.NoErr(err)
	is.Equal(id, theLatest)
	id, err = c.latestInbound(t.Context())
	is.NoErr(err)
	is.Equal(id, theLatest)

	_, err = remembering(t, sends, "").latestInbound(t.Context()) // no person can revoke a send
	is.True(err != nil)
	id, err = remembering(t, "", "").latestSend(t.Context())
	is.NoErr(err)
	is.Equal(id, "")
}

func TestWhatIsNoSimulatorIsRecognized(t *testing.T) {
	for _, answer := range []string{"", "<html>", "[]", `{"data":`, `{"data":[7]}`} {
		is := is.New(t)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
		defer server.Close()
		c := &simulatorClient{simulatorAccess: simulatorAccess{SimulatorURL: server.URL}}
		_, err := c.latestSend(t.Context())
		is.True(err != nil && strings.Contains(err.Error(), "is not a simulator"))
	}
}

func TestShellWord(t *testing.T) {
	is := is.New(t)
	for word, want := range map[string]string{
		"bin/confab": "bin/confab", "./a b": "'./a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "": "''",
	} {
		is.Equal(shellWord(word), want)
	}
}

func TestSummary(t *testing.T) {
	is := is.New(t)
	said := func(kind string, content map[string]any) string {
		return summary(kind, jsonObject{kind: content})
	}
	is.Equal(said("text", jsonObject{"body": "hi"}), "hi")
	is.Equal(said("template", jsonObject{"name": "hello_world"}), "hello_world")
	is.Equal(said("interactive", jsonObject{"body": jsonObject{"text": "Choose"}}), "Choose")
	is.Equal(said("location", jsonObject{"latitude": 1.0}), "")
	is.Equal(truncate(strings.Repeat("ü", 41)), strings.Repeat("ü", 39)+"…")
}

func TestSampleTemplatesAndNumberAreAccepted(t *testing.T) {
	is := is.New(t)
	sim := newSimulator(t)
	n, err := ensureNumber(sim, wanted("1234567890"))
	is.NoErr(err)
	is.Equal(n.PhoneNumberID, "1234567890") // as it was before the simulator's state was lost
	again, err := ensureNumber(sim, wanted("1234567890"))
	is.NoErr(err)
	is.Equal(again, n)
	other, err := ensureNumber(sim, wanted("")) // the file was lost
	is.NoErr(err)
	is.Equal(other, n)
	is.True(!sim.ServiceWindowOpen(n.PhoneNumberID, samplePerson))
	is.NoErr(openServiceWindow(sim, n.PhoneNumberID))
	is.True(sim.ServiceWindowOpen(n.PhoneNumberID, samplePerson))
}

func newSimulator(t *testing.T) *simulator.Server {
	sim, err := simulator.New(simulator.Options{})
	is.New(t).NoErr(err)
	t.Cleanup(func() { sim.Close() })
	return sim
}

func wanted(id string) simulator.Number {
	return simulator.Number{PhoneNumberID: id, DisplayPhoneNumber: sandboxNumber, VerifiedName: "Sandbox"}
}
