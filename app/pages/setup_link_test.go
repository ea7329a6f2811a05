package pages

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/limit"
	"confab/app/simulator"
	"confab/jobs/provider"
	"confab/storage"
	"confab/storage/storagetest"
)

// desk is the pages of one link, without anybody who does the jobs.
type desk struct {
	t     testing.TB
	pages *Onboard
	sim   *simulator.Server
	db    *storage.DB
	token string
}

func newDesk(t testing.TB, link storage.SetupLink) *desk {
	t.Helper()
	sim, err := simulator.New(simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim)
	t.Cleanup(func() { server.Close(); sim.Close() })
	credentials := sim.Credentials()
	client, err := provider.New(provider.Options{BaseURL: server.URL, AppID: credentials.AppID, AppSecret: credentials.AppSecret})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, sim: sim, db: storagetest.Open(t)}
	tenant := storagetest.Seed(t, d.db, "Acme")
	storagetest.Update(t, d.db, func(tx *storage.Tx) (err error) {
		c := storage.Customer{OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, Name: "Bakery"}
		if err := tx.InsertCustomer(&c); err != nil {
			return err
		}
		link.CustomerID, link.ExpiresAt = c.ID, tx.Now.Add(time.Hour)
		d.token, err = tx.InsertSetupLink(&link)
		return err
	})
	d.pages = NewOnboard(OnboardOptions{
		DB: d.db, Provider: client, Hosts: Hosts{"chat.test"}, Log: slog.New(slog.DiscardHandler), ClientNetwork: func(*http.Request) string { return "192.0.2.1" },
		SimulateSignup: func(name, phone string) (Signup, error) {
			s, err := sim.Signup(name, phone)
			return Signup{Code: s.Code, WABAID: s.WABAID, PhoneNumberID: s.PhoneNumberID}, err
		},
	})
	d.pages.signupWait = 10 * time.Millisecond
	return d
}

func (d *desk) ask(method, rest, form string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "https://chat.test"+OnboardPath+d.token+rest, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	d.pages.ServeHTTP(rec, r)
	return rec
}

func (d *desk) invitation() (i storage.Invitation) {
	storagetest.View(d.t, d.db, func(rx *storage.Rx) (err error) { i, err = rx.Invitation(d.token); return err })
	return i
}

func TestASlowSignupIsFollowedOnAPageOfItsOwn(t *testing.T) {
	is := is.New(t)
	target := "https://app.test/ok"
	d := newDesk(t, storage.SetupLink{SuccessRedirectURL: &target})
	rec := d.ask("POST", "", "action=connect")
	is.Equal(rec.Code, 303) // the wait is over, and no worker does the job
	progress := OnboardPath + d.token + "/progress?account=" + *d.invitation().Account
	is.Equal(rec.Header().Get("Location"), progress)
	rest := strings.TrimPrefix(progress, OnboardPath+d.token)
	page := d.ask("GET", rest, "")
	is.Equal(page.Code, 200)
	is.True(strings.Contains(page.Body.String(), "Connecting your number"))
	is.Equal(page.Header().Get("Refresh"), "2;url="+progress)

	other := d.ask("GET", "", "") // somebody else with the link sees as much, but not whose it is
	is.True(strings.Contains(other.Body.String(), "Connecting your number"))
	is.True(!strings.Contains(other.Body.String(), "acc_"))
	is.Equal(d.ask("POST", "", "action=connect").Code, 303) // waits for the same
	late := d.ask("POST", "", "action=cancel")              // too late: it goes on
	is.Equal(late.Header().Get("Location"), progress)
	is.Equal(len(d.sim.Numbers()), 1)

	storagetest.Update(t, d.db, func(tx *storage.Tx) error {
		i, err := tx.Invitation(d.token)
		if err != nil {
			return err
		}
		return tx.ConsumeSetupLink(&i.SetupLink)
	})
	done := d.ask("GET", rest, "")
	is.Equal(done.Code, 303)
	is.True(strings.HasPrefix(done.Header().Get("Location"), "https://app.test/ok?customer_id=cus_"))
	is.Equal(d.ask("GET", "", "").Code, 410)                        // to others it was used
	is.Equal(d.ask("GET", "/progress?account=acc_x", "").Code, 410) // also to those who guess
	is.Equal(d.ask("GET", "/progress", "").Code, 410)
	is.Equal(d.ask("POST", rest, "action=connect").Code, 405)
}

// The customers of a customer read what their browser asks for.
func TestTheSetupPageSpeaksTheVisitorsLanguage(t *testing.T) {
	is := is.New(t)
	d := newDesk(t, storage.SetupLink{})
	for header, want := range map[string][]string{
		"es-MX": {`<html lang="es" dir="ltr">`, "Conecta el número de tu empresa", "Conectar número"},
		"ar":    {`<html lang="ar" dir="rtl">`, "ربط رقم نشاطك التجاري", "ربط الرقم"},
		"de":    {`<html lang="en" dir="ltr">`, "Connect your business number", "Connect number"},
	} {
		r := httptest.NewRequest("GET", "https://chat.test"+OnboardPath+d.token, nil)
		r.Header.Set("Accept-Language", header)
		rec := httptest.NewRecorder()
		d.pages.ServeHTTP(rec, r)
		is.Equal(rec.Header().Get("Vary"), "Accept-Language")
		for _, text := range want {
			is.True(strings.Contains(rec.Body.String(), text))
		}
	}
}

func TestOfTwoPressesAtOnceOneConnectsANumber(t *testing.T) {
	is := is.New(t)
	d := newDesk(t, storage.SetupLink{})
	const presses = 4
	var arrived, done sync.WaitGroup
	arrived.Add(presses)
	simulate := d.pages.SimulateSignup
	d.pages.SimulateSignup = func(name, phone string) (Signup, error) {
		arrived.Done()
		arrived.Wait() // now each has seen a link that is not in use
		return simulate(name, phone)
	}
	var where [presses]string
	for i := range where {
		done.Go(func() { where[i] = d.ask("POST", "", "action=connect").Header().Get("Location") })
	}
	done.Wait()
	is.Equal(len(d.sim.Numbers()), presses) // each brought a number of its own
	for _, location := range where {
		is.Equal(location, OnboardPath+d.token+"/progress?account="+*d.invitation().Account) // and all wait for the same
	}
	storagetest.View(t, d.db, func(rx *storage.Rx) error {
		jobs, err := rx.Jobs(storage.JobFilter{Kind: storage.KindOnboard, Limit: presses})
		is.Equal(len(jobs), 1)
		if err != nil {
			return err
		}
		accounts, err := rx.CustomerAccounts(d.invitation().CustomerID)
		is.Equal(len(accounts), 1)
		return err
	})
}

func TestASlowSignupMayFail(t *testing.T) {
	is := is.New(t)
	d := newDesk(t, storage.SetupLink{})
	location := d.ask("POST", "", "action=connect").Header().Get("Location")
	storagetest.Update(t, d.db, func(tx *storage.Tx) error { return tx.FailOnboarding(d.invitation().ID, storage.ReasonVerification) })
	page := d.ask("GET", strings.TrimPrefix(location, OnboardPath+d.token), "")
	is.True(strings.Contains(page.Body.String(), "We couldn’t verify the number"))
	is.True(strings.Contains(page.Body.String(), `href="`+OnboardPath+d.token+`">Try again<`))
}

func TestRedirectsKeepWhatTheyHaveAndCarryNothingElse(t *testing.T) {
	for target, want := range map[string]string{
		"https://app.test":                   "https://app.test?customer_id=cus_1&status=failed&reason=x+%26+y%0D%0A",
		"https://app.test/":                  "https://app.test/?customer_id=cus_1&status=failed&reason=x+%26+y%0D%0A",
		"https://app.test/ok?a=1&b=%20&c":    "https://app.test/ok?a=1&b=%20&c&customer_id=cus_1&status=failed&reason=x+%26+y%0D%0A",
		"https://app.test/ok?status=success": "https://app.test/ok?status=success&customer_id=cus_1&status=failed&reason=x+%26+y%0D%0A",
		"https://app.test/ä?ö=ü":             "https://app.test/%C3%A4?%C3%B6=%C3%BC&customer_id=cus_1&status=failed&reason=x+%26+y%0D%0A",
		"https://app.test/ok#frag":           "https://app.test/ok?customer_id=cus_1&status=failed&reason=x+%26+y%0D%0A",
		"http://localhost:3000/ok?":          "http://localhost:3000/ok?customer_id=cus_1&status=failed&reason=x+%26+y%0D%0A",
	} {
		t.Run(target, func(t *testing.T) {
			is := is.New(t)
			rec := httptest.NewRecorder()
			v := &visit{w: rec, r: httptest.NewRequest("GET", "/", nil)}
			is.NoErr(v.redirectWithQuery(target, "customer_id", "cus_1", "status", "failed", "reason", "x & y\r\n"))
			is.Equal(rec.Header().Get("Location"), want)
			_, err := url.Parse(rec.Header().Get("Location"))
			is.NoErr(err)
		})
	}
}

func TestAFormMayLeadWhereTheLinkLeads(t *testing.T) {
	for name, c := range map[string]struct {
		success, failure string
		want             string
	}{
		"nowhere":        {"", "", "form-action 'self'"},
		"one place":      {"https://app.test/ok?x=1", "HTTPS://app.test/no", "form-action 'self' https:"},
		"this machine":   {"http://localhost:30000/ok", "http://[::1]:3000/no", "form-action 'self' http:"},
		"two":            {"https://app.test:8443/ok", "http://localhost:3000/no", "form-action 'self' https: http:"},
		"out of its way": {"javascript:alert(1)", "data:;script-src *", "form-action 'self'"}, // the API takes none of these
	} {
		t.Run(name, func(t *testing.T) {
			v := &visit{}
			if c.success != "" {
				v.invitation.SuccessRedirectURL, v.invitation.FailureRedirectURL = &c.success, &c.failure
			}
			is.New(t).True(strings.HasSuffix(v.contentPolicy(page{}), c.want))
		})
	}
}

// failures is a writer whose owner logs why a request failed.
type failures struct {
	*httptest.ResponseRecorder
	all []error
}

func (f *failures) RecordFailure(err error) { f.all = append(f.all, err) }

func TestAFormThatDoesNotFitIntoMemoryIsAskedForAgain(t *testing.T) {
	is := is.New(t)
	d := newDesk(t, storage.SetupLink{})
	r, _ := limit.NewBodies(1).Count(httptest.NewRequest("POST", "https://chat.test"+OnboardPath+d.token, strings.NewReader("action=cancel")))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := &failures{ResponseRecorder: httptest.NewRecorder()}
	d.pages.ServeHTTP(w, r)
	is.Equal(w.Code, 503) // the fault is not the visitor's
	is.Equal(w.Header().Get("Retry-After"), "1")
	is.Equal(len(w.all), 1)
	is.True(errors.Is(w.all[0], limit.ErrExhausted)) // and the log can say so
	is.Equal(d.ask("POST", "", strings.Repeat("x", maxForm+1)).Code, 400)
}

func TestVisitorsOfOneNetworkShareTheirLimit(t *testing.T) {
	is := is.New(t)
	d := newDesk(t, storage.SetupLink{})
	mayVisit := func(network string, visits int) bool {
		d.pages.ClientNetwork = func(*http.Request) string { return network }
		return d.pages.mayVisit(nil, visits)
	}
	for range visitBurst {
		is.True(mayVisit("2001:db8::/64", 1))
	}
	is.True(!mayVisit("2001:db8::/64", 1))
	is.True(mayVisit("2001:db8:0:1::/64", 1))
	is.True(mayVisit("192.0.2.1", visitBurst))
	is.True(!mayVisit("192.0.2.1", 1))
	is.True(mayVisit("192.0.2.2", 1))
	is.True(mayVisit("not an address", 1))
}

func TestAssetsAreNamedByTheirContent(t *testing.T) {
	is := is.New(t)
	d := newDesk(t, storage.SetupLink{})
	is.Equal(len(d.pages.paths), 3)
	for name, path := range d.pages.paths {
		rec := httptest.NewRecorder()
		d.pages.ServeHTTP(rec, httptest.NewRequest("GET", "https://chat.test"+path, nil))
		is.Equal(rec.Code, 200)
		is.True(rec.Body.Len() > 100)
		is.True(strings.Contains(rec.Header().Get("Cache-Control"), "immutable"))
		kind := rec.Header().Get("Content-Type")
		is.Equal(kind, map[string]string{"onboard.css": "text/css; charset=utf-8", "onboard.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml"}[name])
	}
}
