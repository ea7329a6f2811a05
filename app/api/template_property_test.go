package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"confab/app/api/rest"
	"confab/app/api/template"
	"confab/app/simulator"
	"confab/storage/storagetest"
)

// reviewer is a simulator that judges templates. Each account of its takes only so
// many in an hour.
type reviewer struct {
	t     testing.TB
	sim   *simulator.Server
	url   string
	waba  string
	taken int
}

func newReviewer(t testing.TB) *reviewer {
	t.Helper()
	sim, err := simulator.New(simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim)
	t.Cleanup(func() {
		server.Close()
		sim.Close()
	})
	return &reviewer{t: t, sim: sim, url: server.URL, taken: 1000}
}

// takes reports whether the simulator takes a template, and what it says if not.
func (r *reviewer) takes(body []byte) (bool, string) {
	r.t.Helper()
	if r.taken++; r.taken > 90 {
		n, err := r.sim.AddNumber(simulator.Number{})
		if err != nil {
			r.t.Fatal(err)
		}
		r.waba, r.taken = n.WABAID, 0
	}
	req, err := http.NewRequest("POST", r.url+"/v23.0/"+r.waba+"/message_templates", strings.NewReader(string(body)))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+r.sim.Credentials().AccessToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer tree
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		r.t.Fatal(err)
	}
	said, _ := json.Marshal(answer["error"])
	return res.StatusCode == http.StatusOK, string(said)
}

// The validator and the simulator were written from the same description of the
// provider, each without the other: what one takes the other must take too.
func TestTheValidatorAndTheSimulatorTakeTheSameTemplates(t *testing.T) {
	simulated := newReviewer(t)
	serial, admitted, refused := 0, 0, 0
	for range 5 {
		rapid.Check(t, func(rt *rapid.T) {
			serial++
			given, err := json.Marshal(maker{rt}.template(fmt.Sprint("t", serial)))
			if err != nil {
				rt.Fatal(err)
			}
			var in template.Draft
			verdict := rest.Unmarshal(given, &in)
			if verdict == nil {
				verdict = in.Validate()
			}
			if taken, said := simulated.takes(given); taken != (verdict == nil) {
				rt.Fatalf("validator: %v\nsimulator: %v %s\n%s", verdict, taken, said, given)
			}
			if verdict != nil {
				refused++
				return
			}
			admitted++
			wire, err := in.ProviderBody()
			if err != nil {
				rt.Fatal(err)
			}
			again := storagetest.Swap(t, string(wire), fmt.Sprintf(`"name":"t%d"`, serial), fmt.Sprintf(`"name":"w%d"`, serial))
			if taken, said := simulated.takes([]byte(again)); !taken { // the result is still a template
				rt.Fatalf("the simulator refuses what is made of it: %s\n%s", said, again)
			}
		})
	}
	t.Logf("%d admitted, %d refused", admitted, refused)
	if admitted == 0 || refused == 0 {
		t.Error("the templates are all good, or all bad")
	}
}
