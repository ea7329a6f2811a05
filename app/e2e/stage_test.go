// Package e2e holds the tests of whole processes, and of pages in a browser.
package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"confab/app"
	"confab/app/config"
	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

// stage is a whole server and a simulated provider, in this process.
type stage struct {
	t      testing.TB
	app    *app.App
	sim    *simulator.Server
	simURL string
	tenant storagetest.Tenant
}

// newStage starts both. Nothing limits them, transient failures are not
// repeated, and each status follows within milliseconds; change adjusts the
// settings.
func newStage(t testing.TB, change ...func(*config.Config)) *stage {
	t.Helper()
	return startStage(t, func(*app.Options, *simulator.Server) {}, change...)
}

// startStage is newStage for tests that give the server more than settings.
func startStage(t testing.TB, give func(*app.Options, *simulator.Server), change ...func(*config.Config)) *stage {
	t.Helper()
	sim, err := simulator.New(simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	provider := httptest.NewServer(sim)
	settings := sim.Settings()
	settings.SentMS, settings.DeliveredMS, settings.ReadMS = new(int64(10)), new(int64(30)), new(int64(50))
	settings.ServiceWindow, settings.MessagesPerSecond, settings.PairLimit = false, 0, false
	if err := sim.SetSettings(settings); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.DataDir, c.Server.Listen, c.Storage.Synchronous = filepath.Join(t.TempDir(), "data"), "127.0.0.1:0", "normal"
	c.Provider.BaseURL, c.Provider.MessagesPerSecond, c.Provider.PairLimit, c.Provider.RetrySchedule = provider.URL, 0, false, nil
	credentials := sim.Credentials()
	c.Provider.AppID, c.Provider.AppSecret, c.Provider.VerifyToken = credentials.AppID, config.Secret(credentials.AppSecret), config.Secret(credentials.VerifyToken)
	for _, f := range change {
		f(&c)
	}
	storagetest.Options(t, c.DataDir) // with a database, which takes longer to make than to copy
	o := app.Options{Config: c, Schema: storagetest.Schema(t), Version: "test", Log: slog.New(slog.DiscardHandler)}
	give(&o, sim)
	a, err := app.New(o)
	if err != nil {
		t.Fatal(err)
	}
	sim.SetWebhook(a.URL() + "/provider/webhook")
	s := &stage{t: t, app: a, sim: sim, simURL: provider.URL, tenant: storagetest.Seed(t, a.DB, "Acme")}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		for _, err := range []error{<-ended, a.Close(), sim.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
		provider.Close()
	})
	return s
}

// connect adds a number at the provider and connects it.
func (s *stage) connect() string {
	s.t.Helper()
	n, err := s.sim.AddNumber(simulator.Number{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.connectAt(n)
	return n.PhoneNumberID
}

// connectAt connects a number that the provider has, and returns its account.
func (s *stage) connectAt(n simulator.Number) int64 {
	s.t.Helper()
	phone := "+" + n.Digits()
	a := storage.Account{
		OrganizationID: s.tenant.Organization.ID, TeamID: s.tenant.Team.ID, PhoneNumberID: &n.PhoneNumberID, WABAID: &n.WABAID,
		PhoneNumber: &phone, Status: storage.AccountConnected,
	}
	storagetest.Update(s.t, s.app.DB, func(tx *storage.Tx) error {
		a.OnboardedAt = tx.Now
		return tx.InsertAccount(&a, s.sim.Credentials().AccessToken)
	})
	return a.ID
}

// read reads what the API has under a path.
func (s *stage) read(path string, into any) {
	s.t.Helper()
	if err := json.Unmarshal(s.exchange("GET", s.app.URL()+"/v1"+path, ""), into); err != nil {
		s.t.Fatal(err)
	}
}

// call makes one request that must succeed, and returns the answer's data.
func (s *stage) call(method, url, body string) map[string]any {
	s.t.Helper()
	var out struct{ Data map[string]any }
	json.Unmarshal(s.exchange(method, url, body), &out) // the simulator's answers have other shapes
	return out.Data
}

// exchange makes one request that must succeed, and returns the answer.
func (s *stage) exchange(method, url, body string) []byte {
	s.t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.tenant.Secret)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 {
		s.t.Fatalf("%s %s: %d %s %v", method, url, res.StatusCode, text, err)
	}
	return text
}

// fault makes the provider fail as described.
func (s *stage) fault(format string, args ...any) {
	s.t.Helper()
	s.call("POST", s.simURL+"/_sim/faults", fmt.Sprintf(format, args...))
}

// send posts a message and returns its id.
func (s *stage) send(number, to, content string) string {
	s.t.Helper()
	return s.call("POST", s.app.URL()+"/v1/"+number+"/messages", `{"messaging_product":"chat","to":"`+to+`",`+content+`}`)["id"].(string)
}

// await returns the message once it is as wanted.
func (s *stage) await(number, id string, wanted func(m map[string]any) bool) map[string]any {
	s.t.Helper()
	var m map[string]any
	became := until(func() bool {
		m = s.call("GET", s.app.URL()+"/v1/"+number+"/messages/"+id, "")
		return wanted(m)
	})
	if !became {
		s.t.Fatalf("%s is still %v", id, m)
	}
	return m
}

// isStatus waits for a status.
func isStatus(status string) func(map[string]any) bool {
	return func(m map[string]any) bool { return m["status"] == status }
}

// reported lists the statuses in the events of a message, "accepted" for
// message.sent, with the codes of failures.
func (s *stage) reported(m map[string]any) (all []string) {
	s.t.Helper()
	var events []storage.Event
	storagetest.View(s.t, s.app.DB, func(rx *storage.Rx) (err error) {
		events, err = rx.Events(s.tenant.Organization.ID, 100_000)
		return err
	})
	for _, e := range events {
		switch {
		case e.EventID == m["id"].(string)+":sent":
			all = append(all, "accepted")
		case e.EventID == m["id"] || e.EventID == m["message_id"]:
			all = append(all, worded(s.t, e.Payload))
		}
	}
	return all
}

// worded is the status of a provider's envelope, with the code of a failure.
func worded(t testing.TB, payload []byte) string {
	t.Helper()
	var e struct {
		Entry []struct {
			Changes []struct {
				Value struct {
					Statuses []struct {
						Status string
						Errors []struct{ Code int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(payload, &e); err != nil {
		t.Fatal(err)
	}
	status := e.Entry[0].Changes[0].Value.Statuses[0]
	if len(status.Errors) > 0 {
		return fmt.Sprint(status.Status, " ", status.Errors[0].Code)
	}
	return status.Status
}
