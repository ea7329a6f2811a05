package jobs_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/simulator"
	"confab/jobs"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/storage"
	"confab/storage/storagetest"
)

// signup is a customer with a link, and what comes of it.
type signup struct {
	*world
	customer storage.Customer
	link     storage.SetupLink
	token    string // of the link
	account  storage.Account
}

// invite makes a customer with a link in a world.
func (w *world) invite() *signup {
	w.t.Helper()
	s := &signup{world: w}
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) (err error) {
		s.customer = storage.Customer{OrganizationID: w.tenant.Organization.ID, TeamID: w.tenant.Team.ID, Name: "Bakery"}
		if err := tx.InsertCustomer(&s.customer); err != nil {
			return err
		}
		s.link = storage.SetupLink{CustomerID: s.customer.ID, ExpiresAt: tx.Now.Add(time.Hour)}
		s.token, err = tx.InsertSetupLink(&s.link)
		return err
	})
	return s
}

// begin stores a number as its signup brings it, with the job that connects it.
func (s *signup) begin(number, waba, token string) error {
	s.t.Helper()
	return s.db.Update(s.t.Context(), func(tx *storage.Tx) error {
		i, err := tx.Invitation(s.token)
		if err != nil {
			return err
		}
		s.account = storage.Account{PhoneNumberID: &number, WABAID: &waba}
		return tx.BeginOnboarding(&i, &s.account, token)
	})
}

// state is what has become of the link, the customer and the account.
func (s *signup) state() string {
	s.t.Helper()
	var text string
	storagetest.View(s.t, s.db, func(rx *storage.Rx) error {
		i, err := rx.Invitation(s.token)
		if err != nil {
			return err
		}
		reason, account := "", "gone"
		if i.FailureReason != nil {
			reason = " " + *i.FailureReason
		}
		a, err := rx.AccountDetail(s.account.ID)
		if err == nil {
			account = a.Status
		} else if !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		text = fmt.Sprintf("link %s%s, customer %s, account %s", i.State(storage.Now()), reason, i.CustomerStatus, account)
		if i.Working {
			text += ", working"
		}
		return nil
	})
	return text
}

// types lists the types of all events.
func (w *world) types() (all []string) {
	w.t.Helper()
	for _, e := range w.stored() {
		all = append(all, e.Type)
	}
	return all
}

const (
	under    = "link active, customer pending, account onboarding, working"
	complete = "link consumed, customer active, account connected"
)

var welcomed = []string{"customer.setup_link.consumed", "customer.onboarded"}

// steps plays a provider whose number is not registered, and fails the calls
// that fail selects.
func steps(fail func(n int, c call) *http.Response) func(int, call) (*http.Response, error) {
	registered := false
	return func(n int, c call) (*http.Response, error) {
		if fail != nil {
			if res := fail(n, c); res != nil {
				return res, nil
			}
		}
		switch {
		case strings.HasSuffix(c.path, "/register"):
			registered = true
			return answered(200, `{"success":true}`), nil
		case strings.HasSuffix(c.path, "/subscribed_apps"):
			return answered(200, `{"success":true}`), nil
		case strings.HasSuffix(c.path, "/message_templates"):
			return answered(200, `{"data":[]}`), nil
		}
		status := "PENDING"
		if registered {
			status = "CONNECTED"
		}
		return answered(200, `{"id":"700800900","display_phone_number":"+1 555-078-3881","verified_name":"Bakery Nord","status":"`+status+`"}`), nil
	}
}

// edges lists the last parts of the paths that were called.
func (p *played) edges() (all []string) {
	for _, c := range p.calls() {
		all = append(all, c.path[strings.LastIndex(c.path, "/")+1:])
	}
	return all
}

func TestASignupIsConnectedStepByStep(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = steps(nil)
		s := w.invite()
		w.is.NoErr(s.begin("700800900", "777", "EAAtoken"))
		w.is.Equal(s.state(), under)
		w.start()
		time.Sleep(time.Second)
		w.is.Equal(s.state(), complete)
		w.is.Equal(w.types(), welcomed)
		w.is.Equal(w.provider.edges()[:4], []string{"subscribed_apps", "700800900", "register", "700800900"})
		w.is.True(slices.Contains(w.provider.edges(), "message_templates")) // read once it is connected
		w.is.Equal(w.provider.calls()[0].auth, "Bearer EAAtoken")
		w.is.True(strings.Contains(w.provider.calls()[2].body, `"pin":"`))

		storagetest.View(w.t, w.db, func(rx *storage.Rx) error {
			a, err := rx.AccountDetail(s.account.ID)
			w.is.Equal(*a.Name, "Bakery Nord")
			w.is.Equal(*a.PhoneNumber, "+15550783881")
			w.is.Equal(*a.ProviderStatus, "CONNECTED")
			w.is.Equal(*a.CustomerID, s.customer.ID)
			w.is.True(a.OnboardedAt != 0)
			return err
		})
		for _, e := range w.stored() {
			w.is.Equal(*e.AccountID, s.account.ID) // they go when the account is purged
		}
		w.is.True(strings.Contains(string(w.stored()[1].Payload), `"account_id":"`+s.account.PublicID+`","phone_number_id":"700800900","phone_number":"+1 555-078-3881"`))
		w.is.True(strings.Contains(string(w.stored()[0].Payload), `"status":"consumed"`))
	})
}

func TestASignupAtTheSimulatorSends(t *testing.T) {
	bubble(t, func(w *world) {
		sim, err := simulator.New(simulator.Options{})
		w.is.NoErr(err)
		defer sim.Close()
		w.provider.play = simulated{sim}.answer
		got, err := sim.Signup("Bakery Nord", "+15550783881")
		w.is.NoErr(err)
		credentials := sim.Credentials()
		client, err := provider.New(provider.Options{BaseURL: "https://provider.test", AppID: credentials.AppID, AppSecret: credentials.AppSecret, Transport: w.provider})
		w.is.NoErr(err)
		token, err := client.ExchangeCode(w.t.Context(), got.Code)
		w.is.NoErr(err)
		s := w.invite()
		w.is.NoErr(s.begin(got.PhoneNumberID, got.WABAID, token.Reveal()))
		w.start()
		time.Sleep(time.Second)
		w.is.Equal(s.state(), complete)
		n := sim.Numbers()[0]
		w.is.Equal(n.Status, "CONNECTED")
		w.is.Equal(len(n.PIN), 6)
	})
}

func TestTheProvidersTroubleWithASignupPasses(t *testing.T) {
	for _, edge := range []string{"subscribed_apps", "700800900", "register"} {
		t.Run(edge, func(t *testing.T) {
			bubble(t, func(w *world) {
				failures := 0
				w.provider.answer = steps(func(_ int, c call) *http.Response {
					if strings.HasSuffix(c.path, "/"+edge) && failures < 3 {
						failures++
						return refusing(500, 131000)
					}
					return nil
				})
				s := w.invite()
				w.is.NoErr(s.begin("700800900", "777", "t"))
				w.start()
				time.Sleep(time.Second / 2)
				w.is.Equal(s.state(), under)
				time.Sleep(20 * time.Second)
				w.is.Equal(s.state(), complete)
				w.is.Equal(w.types(), welcomed) // once
				var pins []string
				for _, c := range w.provider.calls() {
					if strings.HasSuffix(c.path, "/register") {
						pins = append(pins, c.body)
					}
				}
				w.is.Equal(len(slices.Compact(pins)), 1) // a repeat must not come with another PIN
			})
		})
	}
}

func TestASignupThatFailsForGood(t *testing.T) {
	on := func(edge string, status, code int) func(int, call) *http.Response {
		return func(_ int, c call) *http.Response {
			if strings.HasSuffix(c.path, "/"+edge) {
				return refusing(status, code)
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		fail func(int, call) *http.Response
		want string
	}{
		"the provider is down":        {on("register", 500, 131000), "link active provider_error, customer pending, account gone"},
		"the app is not allowed":      {on("subscribed_apps", 403, 200), "link active provider_error, customer pending, account gone"},
		"the token is no good":        {on("700800900", 401, 190), "link active provider_error, customer pending, account gone"},
		"the number has another PIN":  {on("register", 400, 133005), "link active phone_verification_failed, customer pending, account onboarding"},
		"the number is not verified":  {on("register", 400, 133006), "link active phone_verification_failed, customer pending, account onboarding"},
		"it was registered too often": {on("register", 400, 133016), "link active phone_verification_failed, customer pending, account onboarding"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = steps(c.fail)
				s := w.invite()
				w.is.NoErr(s.begin("700800900", "777", "t"))
				w.start()
				time.Sleep(time.Minute)
				w.is.Equal(s.state(), c.want)
				w.is.Equal(w.types(), nil)
				w.is.Equal(w.rows()["jobs"], 0)

				w.provider.answer = steps(nil) // and the link can be used again, for the same number
				w.is.NoErr(s.begin("700800900", "777", "t2"))
				time.Sleep(time.Minute)
				w.is.Equal(s.state(), complete)
				w.is.Equal(w.types(), welcomed)
			})
		})
	}
}

// otherPINs fails a registration by any other PIN than 246810.
func otherPINs(_ int, c call) *http.Response {
	if strings.HasSuffix(c.path, "/register") && !strings.Contains(c.body, "246810") {
		return refusing(400, 133005)
	}
	return nil
}

func TestASignupIsCompletedByTheRightPIN(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = steps(otherPINs)
		s := w.invite()
		w.is.NoErr(s.begin("700800900", "777", "t"))
		w.start()
		time.Sleep(time.Minute)
		w.is.Equal(s.state(), "link active phone_verification_failed, customer pending, account onboarding")
		accounts := provisioning.NewAccounts(w.db, w.options.Provider)
		done, err := accounts.Register(w.t.Context(), s.account.ID, "246810") // as POST /{phone_number_id}/register does
		w.is.NoErr(err)
		storagetest.Update(w.t, w.db, done.Store)
		w.is.Equal(s.state(), complete)
		w.is.Equal(w.types(), welcomed)
		storagetest.Update(w.t, w.db, done.Store)
		w.is.Equal(w.types(), welcomed) // once
	})
}

func TestWhatHappensToTheLinkWhileItIsUsed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *signup, tx *storage.Tx) error
		wait   time.Duration
		want   string
	}{
		"it is revoked": {func(s *signup, tx *storage.Tx) error { return tx.RevokeSetupLink(&s.link) }, 0,
			"link revoked link_revoked, customer pending, account gone"},
		"the customer is archived": {func(s *signup, tx *storage.Tx) error { return tx.ArchiveCustomer(&s.customer) }, 0,
			"link active customer_archived, customer archived, account gone"},
		"it expires": {func(*signup, *storage.Tx) error { return nil }, time.Hour, complete}, // used in time
		"the customer is suspended": {func(s *signup, tx *storage.Tx) error {
			s.customer.Status = storage.CustomerSuspended
			return tx.UpdateCustomer(&s.customer)
		}, 0, "link consumed, customer suspended, account connected"}, // it may still connect
		"the account is removed": {func(s *signup, tx *storage.Tx) error {
			if err := tx.RemoveAccount(s.account.ID, "removed"); err != nil {
				return err
			}
			return jobs.EnqueueAccountRemoval(tx, s.account)
		}, 0, "link active, customer pending, account gone"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = steps(nil)
				s := w.invite()
				w.is.NoErr(s.begin("700800900", "777", "t"))
				storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return c.change(s, tx) })
				time.Sleep(c.wait)
				w.start()
				time.Sleep(time.Minute)
				w.is.Equal(s.state(), c.want)
				w.is.Equal(len(w.types()), strings.Count(c.want, "consumed")*2)
			})
		})
	}
}

func TestASignupSurvivesACrash(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if strings.HasSuffix(c.path, "/register") {
				return hang(c) // the process ends during the call
			}
			return steps(nil)(n, c)
		}
		s := w.invite()
		w.is.NoErr(s.begin("700800900", "777", "t"))
		w.start()
		time.Sleep(time.Second)
		w.stop()
		w.is.Equal(s.state(), under)
		w.provider.answer = steps(nil)
		w.start()
		time.Sleep(time.Minute)
		w.is.Equal(s.state(), complete)
		w.is.Equal(w.types(), welcomed)
	})
}

func TestANumberThatCanSendIsNotRegistered(t *testing.T) {
	for name, fields := range map[string]string{"connected": `"status":"CONNECTED"`, "in the phone app": `"status":"CONNECTED","is_on_biz_app":true,"platform_type":"CLOUD_API"`} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = steps(func(_ int, c call) *http.Response {
					if strings.HasSuffix(c.path, "/700800900") {
						return answered(200, `{"id":"700800900","display_phone_number":"+1 555-078-3881",`+fields+`}`)
					}
					return nil
				})
				s := w.invite()
				w.is.NoErr(s.begin("700800900", "777", "t"))
				w.start()
				time.Sleep(time.Second)
				w.is.Equal(s.state(), complete)
				w.is.True(!slices.Contains(w.provider.edges(), "register"))
			})
		})
	}
}

func TestANumberBelongsToOneLiveAccount(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = steps(nil)
		s := w.invite()
		w.is.True(errors.Is(s.begin("100200300", "777", "t"), storage.ErrConflict)) // the organization's own
		other := w.invite()
		w.is.NoErr(other.begin("700800900", "777", "t"))
		w.is.True(errors.Is(s.begin("700800900", "777", "t"), storage.ErrConflict)) // another customer's
		w.start()
		time.Sleep(time.Minute)
		w.is.Equal(other.state(), complete)
		again := w.invite()
		storagetest.Exec(w.t, w.dir, `UPDATE setup_links SET customer_id = ? WHERE id = ?`, other.customer.ID, again.link.ID)
		w.is.True(errors.Is(again.begin("700800900", "777", "t"), storage.ErrConflict)) // its own, which is well

		storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return tx.MarkDegraded(other.account.ID, "The token expired.") })
		w.is.NoErr(again.begin("700800900", "778", "newtoken")) // its own, which is not: this mends it
		w.is.Equal(again.account.ID, other.account.ID)
		time.Sleep(time.Minute)
		w.is.Equal(again.state(), complete)
		calls := w.provider.calls()
		w.is.Equal(calls[len(calls)-1].auth, "Bearer newtoken")
		is.New(w.t).Equal(len(w.types()), 4) // every used link is reported
	})
}
