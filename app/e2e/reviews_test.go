package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"
)

// becomes waits until something that the API shows is as wanted.
func (s *stage) becomes(path, field, want string) {
	s.t.Helper()
	var got any
	became := until(func() bool {
		got = s.call("GET", s.app.URL()+"/v1"+path, "")[field]
		return got == want
	})
	if !became {
		s.t.Fatalf("%s of %s is still %v, not %s", field, path, got, want)
	}
}

// account finds the account of a number in the list of all.
func (s *stage) standing(number string) string {
	s.t.Helper()
	var list struct{ Data []map[string]any }
	s.read("/accounts?status=all", &list)
	for _, a := range list.Data {
		if a["phone_number_id"] == number {
			return fmt.Sprint(a["status"], " restricted=", a["restricted"])
		}
	}
	s.t.Fatalf("there is no account %s", number)
	return ""
}

// A review may be over before the template is stored here: no verdict is lost.
func TestReviewsReachTheTemplatesHoweverFastTheyAre(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	settings := s.sim.Settings()
	settings.TemplateReviewMS = 0
	is.NoErr(s.sim.SetSettings(settings))
	number := s.connect()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			s.call("POST", s.app.URL()+"/v1/"+number+"/templates",
				fmt.Sprintf(`{"name":"t%d","language":"en","category":"UTILITY","components":[{"type":"BODY","text":"It is here."}]}`, i))
		})
	}
	all.Wait()
	for i := range 20 {
		s.becomes(fmt.Sprintf("/%s/templates/t%d", number, i), "status", "approved")
	}
	s.call("PATCH", s.app.URL()+"/v1/"+number+"/templates/t3", `{"components":[{"type":"BODY","text":"It is there."}]}`)
	s.becomes("/"+number+"/templates/t3", "status", "approved")
	s.call("POST", s.simURL+"/_sim/templates/t3/review", `{"status":"PAUSED"}`)
	s.becomes("/"+number+"/templates/t3", "provider_status", "PAUSED")
	id := s.send(number, "+15550001111", `"type":"template","template":{"name":"t4","language":"en"}`)
	s.await(number, id, isStatus("read"))
}

func TestAnAccountFollowsTheProvidersNews(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	number := s.connect()
	var waba string
	for _, n := range s.sim.Numbers() {
		if n.PhoneNumberID == number {
			waba = n.WABAID
		}
	}
	news := func(value string) {
		t.Helper()
		s.call("POST", s.simURL+"/_sim/callbacks", fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":%q,"time":1739321024,"changes":[{"field":"account_update","value":%s}]}]}`, waba, value))
	}
	check := func(want string) {
		t.Helper()
		got := ""
		became := until(func() bool { // a check is a job
			got = s.standing(number)
			return strings.HasPrefix(got, want)
		})
		if !became {
			t.Fatalf("it is %s, not %s", got, want)
		}
	}
	check("connected restricted=false")
	news(`{"event":"ACCOUNT_RESTRICTION","restriction_info":[{"restriction_type":"RESTRICTED_BIZ_INITIATED_MESSAGING"}]}`)
	check("connected restricted=true")
	news(`{"event":"PARTNER_REMOVED"}`)
	check("disconnected")
	news(`{"event":"ACCOUNT_RECONNECTED"}`)
	check("connected restricted=false") // as the provider says when it is asked
}
