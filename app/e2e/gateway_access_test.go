package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app"
	"confab/app/config"
	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

// graphRoutes are the routes of the gateway, with the ids of something that each may be about, and
// one that it does not offer.
func graphRoutes(t *testing.T, number, waba, media, template string) (all []entry) {
	t.Helper()
	for _, e := range append(everyEntry(t), entry{"POST", "/graph/:object/register"}) {
		if !strings.HasPrefix(e.path, "/graph/") {
			continue
		}
		object := waba
		switch path := strings.TrimPrefix(e.path, "/graph/:object"); {
		case path == "" && e.method == "DELETE":
			object = media
		case path == "" && e.method == "POST":
			object = template
		case path == "" || path == "/messages" || path == "/media" || path == "/register":
			object = number
		}
		id := media
		if strings.Contains(e.path, "/message_templates/") {
			id = template
		}
		e.path = strings.NewReplacer("/graph", "", ":object", object, ":id", id).Replace(e.path)
		all = append(all, e)
	}
	if len(all) < 15 {
		t.Fatalf("only %d routes were found", len(all))
	}
	return all
}

// fillGateway makes a file and a template, and returns what is needed to ask for them.
func (s *stage) fillGateway() (number, waba, media, template string) {
	s.t.Helper()
	n, err := s.sim.AddNumber(simulator.Number{})
	if err != nil {
		s.t.Fatal(err)
	}
	account := s.connectAt(n)
	media = "4711"
	storagetest.Update(s.t, s.app.DB, func(tx *storage.Tx) error { return tx.InsertGatewayMedia(account, media) })
	made := s.graph("POST", "/"+n.WABAID+"/message_templates", `{"name":"hello","language":"en_US","category":"UTILITY","components":[{"type":"BODY","text":"Hello there"}]}`)
	if made.status != 200 {
		s.t.Fatalf("%s", made.raw)
	}
	return n.PhoneNumberID, n.WABAID, media, made.view().ID
}

// A token is nowhere but where its client has put it: not in a log, not in a file, not in an
// answer; whichever way it came, and whether it is good or not.
func TestTokensOfTheGatewayAreNowhereElse(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var log lockedBuffer
	s := startStage(t, func(o *app.Options, _ *simulator.Server) {
		o.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}, withGateway(time.Second))
	number, waba, media, template := s.fillGateway()
	const wrong = "svc_live_wrong_secret_of_a_client"
	secrets := []string{s.tenant.Secret, wrong, s.sim.Credentials().AccessToken, s.sim.Credentials().AppSecret}

	for _, e := range graphRoutes(t, number, waba, media, template) {
		if e.method == "DELETE" && strings.HasSuffix(e.path, "message_templates") {
			e.path += "?name=nothing"
		}
		for _, token := range []string{s.tenant.Secret, wrong} {
			sep := "?"
			if strings.Contains(e.path, "?") {
				sep = "&"
			}
			form := url.Values{"access_token": {token}, "to": {"15550001111"}, "type": {"text"}, "text": {`{"body":"x"}`}}
			for _, got := range []graphAnswer{
				s.graph(e.method, e.path, graphText, "Authorization", "Bearer "+token),
				s.graph(e.method, e.path+sep+"access_token="+token, graphText, "Authorization", ""),
				s.graph(e.method, e.path, `{"access_token":"`+token+`","to":"15550001111","type":"text","text":{"body":"x"}}`, "Authorization", ""),
				s.graph(e.method, e.path, form.Encode(), "Authorization", "", "Content-Type", "application/x-www-form-urlencoded"),
			} {
				is.Equal(got.status == http.StatusUnauthorized, token == wrong) // it is read from everywhere
				for _, secret := range secrets {
					if strings.Contains(string(got.raw)+fmt.Sprint(got.header), secret) {
						t.Errorf("%s %s shows a secret: %s", e.method, e.path, got.raw)
					}
				}
			}
		}
	}

	is.True(until(func() bool { return strings.Count(log.String(), `"msg":"request"`) >= 50 })) // it is written
	for _, secret := range secrets {
		is.True(!strings.Contains(log.String(), secret))
	}
	is.True(until(func() bool {
		return storagetest.Select[int](t, s.app.Config.DataDir, `SELECT count(*) FROM api_log WHERE path LIKE '/graph/%'`)[0] >= 50
	}))
	is.NoErr(filepath.WalkDir(s.app.Config.DataDir, func(path string, file fs.DirEntry, err error) error {
		if err != nil || !file.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, secret := range secrets {
			if bytes.Contains(content, []byte(secret)) {
				t.Errorf("%s holds a secret", path)
			}
		}
		return err
	}))
}

// Each route needs its scope, and to others than those whose objects they are, nothing exists.
func TestTheGatewayAsksForScopesAndKnowsOnlyWhatIsTheKeys(t *testing.T) {
	t.Parallel()
	s := newStage(t, withGateway(time.Second))
	number, waba, media, template := s.fillGateway()
	foreign := storagetest.Seed(t, s.app.DB, "Others").Secret

	keys := make(map[string]string)
	for _, scope := range []string{"read", "send", "inbox", "campaigns", "webhooks", "platform"} {
		keys[scope] = s.keyWith(storage.Key{Scopes: storage.Strings{scope}})
	}
	for _, e := range graphRoutes(t, number, waba, media, template) {
		if strings.HasSuffix(e.path, "/register") {
			continue // which is not offered to anybody
		}
		got := s.graph(e.method, e.path, graphText, "Authorization", "Bearer "+foreign)
		if got.status != 400 || got.view().Error.Code != 100 || got.view().Error.Subcode != 33 {
			t.Errorf("%s %s as another organization: %d %s", e.method, e.path, got.status, got.raw)
		}

		needs := []string{"read"}
		switch isTemplate := strings.Contains(e.path, "message_templates") || strings.HasSuffix(e.path, "/"+template); {
		case e.method == "GET":
		case strings.HasSuffix(e.path, "/subscribed_apps"):
			needs = []string{"read", "send", "inbox", "campaigns", "webhooks", "platform"}
		case isTemplate:
			needs = []string{"campaigns"}
		default:
			needs = []string{"send"}
		}
		for scope, key := range keys {
			if strings.HasSuffix(e.path, "/messages") && scope == "send" {
				continue // it would be sent
			}
			got := s.graph(e.method, e.path, `{}`, "Authorization", "Bearer "+key)
			if isRefused := got.status == 403 && got.view().Error.Code == 10; isRefused == slices.Contains(needs, scope) {
				t.Errorf("%s %s with the scope %s: %d %s", e.method, e.path, scope, got.status, got.raw)
			}
		}
	}
}

// At the provider a parameter can make another method of a request. Here it would get around the
// scopes: who may only read would delete, and who may only write would read.
func TestTheGatewayPassesNoRequestOnAsOneOfAnotherMethod(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, withGateway(time.Second))
	number, waba, _, template := s.fillGateway()
	with := func(scope string) string { return "Bearer " + s.keyWith(storage.Key{Scopes: storage.Strings{scope}}) }
	reader, writer := with("read"), with("campaigns")

	is.Equal(s.graph("GET", "/"+template, "", "Authorization", reader).status, 200)
	for _, query := range []string{"?method=delete", "?method=get&method=post", "?%20method=delete", "?fields=id&method[]=delete"} {
		for _, object := range []string{template, number, waba + "/message_templates", waba + "/phone_numbers"} {
			is.Equal(s.graph("GET", "/"+object+query, "", "Authorization", reader).status, 501) // object, query
		}
	}
	form := []string{"Authorization", writer, "Content-Type", "application/x-www-form-urlencoded"}
	is.Equal(s.graph("POST", "/"+waba+"/message_templates", `{"method":"get"}`, "Authorization", writer).status, 501)
	is.Equal(s.graph("POST", "/"+waba+"/message_templates?method=get", "{}", "Authorization", writer).status, 501)
	is.Equal(s.graph("POST", "/"+template, "method=get", form...).status, 501)
	is.Equal(s.graph("DELETE", "/"+waba+"/message_templates?name=hello&method=get", "", "Authorization", writer).status, 501)
	is.Equal(s.graph("GET", "/"+template, "", "Authorization", reader).status, 200) // it is still there
}

// What the organization, its plan, its billing, its customer, the recipient or a person who holds the
// conversation does not allow is said in the provider's shape, and nothing is sent.
func TestTheGatewayRefusesWhatIsNotAllowed(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, withGateway(time.Second), func(c *config.Config) {
		for name, change := range map[string]func(*config.Plan){
			"closed": func(p *config.Plan) { p.API = false },
			"used":   func(p *config.Plan) { p.MonthlyMessages = 1 },
			"slow":   func(p *config.Plan) { p.RatePerSecond, p.Burst = 0.001, 1 },
		} {
			plan := c.Plans[config.SelfHosted]
			change(&plan)
			c.Plans[name] = plan
		}
	})
	number := s.connect()
	s.store(number, "promo", "MARKETING")
	s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	bot := s.keyWith(storage.Key{Agent: new("Night desk")})

	organization := func(change func(*storage.Organization)) {
		storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error {
			o := s.tenant.Organization
			change(&o)
			return tx.UpdateOrganization(&o)
		})
	}
	customer := storage.Customer{OrganizationID: s.tenant.Organization.ID, TeamID: s.tenant.Team.ID, Name: "C"}
	sql := func(query string, args ...any) {
		storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error {
			_, err := tx.Exec(query, args...)
			return err
		})
	}
	check := func(body, key string, status, code int, ours string) {
		t.Helper()
		got := s.graph("POST", "/"+number+"/messages", body, "Authorization", "Bearer "+key)
		e := got.view().Error
		if got.status != status || e.Code != code || !strings.HasPrefix(e.Data["details"], ours+": ") || e.Data["messaging_product"] != "whatsapp" {
			t.Errorf("%s: %d %s", ours, got.status, got.raw)
		}
	}
	promo := `{"messaging_product":"whatsapp","to":"15550001111","type":"template","template":{"name":"promo","language":{"code":"en"}}}`
	receipt := `{"messaging_product":"whatsapp","status":"read","message_id":"wamid.1"}`
	key := s.tenant.Secret

	organization(func(o *storage.Organization) { o.SuspendedAt = 1 })
	check(graphText, key, 403, 368, "organization_suspended")
	organization(func(o *storage.Organization) { o.Plan = "closed" })
	check(graphText, key, 403, 368, "feature_not_available")
	organization(func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive })
	check(graphText, key, 403, 368, "subscription_inactive")
	organization(func(o *storage.Organization) { o.RequireOptIn = true })
	sql(`UPDATE contacts SET opted_in = 0`)
	check(promo, key, 403, 131005, "consent_required")
	organization(func(*storage.Organization) {})
	sql(`UPDATE contacts SET opted_in = 1, marketing_opted_out = 1`)
	check(promo, key, 400, 131050, "marketing_opted_out")
	is.Equal(s.graph("POST", "/"+number+"/messages", graphText).status, 200) // which is no marketing

	sql(`UPDATE conversations SET holder_type = 'user', holder_id = NULL, holder_since = 1`)
	check(graphText, bot, 403, 131005, "conversation_held")

	organization(func(o *storage.Organization) { o.Plan = "used" })
	check(graphText, key, 403, 368, "quota_exceeded")
	organization(func(*storage.Organization) {})
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return tx.InsertCustomer(&customer) })
	sql(`UPDATE customers SET status = 'suspended'`)
	sql(`UPDATE accounts SET customer_id = ?`, customer.ID)
	for _, body := range []string{graphText, receipt} {
		check(body, key, 403, 368, "customer_suspended")
	}
	sql(`UPDATE accounts SET customer_id = NULL, status = 'onboarding'`)
	check(graphText, key, 400, 133010, "whatsapp_number_not_verified")
	sql(`UPDATE accounts SET status = 'degraded'`)
	check(graphText, key, 400, 133010, "upstream_error")

	organization(func(o *storage.Organization) { o.Plan = "slow" })
	s.graph("POST", "/"+number+"/messages", graphText)
	check(graphText, key, 400, 4, "rate_limit_exceeded")
	is.Equal(len(s.simSent()), 1)
}

// Whatever fails, the provider has each message once, not at all, or its client knows that this is
// unknown; and then the client is told its statuses. With kills it is a part of the soak.
func TestTheGatewaySendsOnceWhateverFails(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, withGateway(time.Second), withLocalEndpoints, func(c *config.Config) { c.Provider.Timeout = 200 * time.Millisecond })
	number := s.connect()
	to := nativeEndpoint(t, nil)
	s.subscribeNative(to.URL, `"messages"`, "")
	for _, kind := range []string{"drop_connection", "http_500", "timeout"} {
		s.fault(`{"kind":%q,"times":8}`, kind)
	}

	const sends, atOnce = 200, 20
	send := func(i int) graphAnswer {
		body := fmt.Sprintf(`{"messaging_product":"whatsapp","to":"1555000%04d","type":"text","text":{"body":"n%d"},"biz_opaque_callback_data":"n%d"}`, i, i, i)
		return s.graph("POST", "/"+number+"/messages", body, "Idempotency-Key", fmt.Sprint("n", i))
	}
	answers := make([]graphAnswer, sends)
	var group sync.WaitGroup
	for worker := range atOnce {
		group.Go(func() {
			for i := worker; i < sends; i += atOnce {
				answers[i] = send(i)
			}
		})
	}
	group.Wait()

	copies := make(map[string][]string)
	for _, m := range s.simSent() {
		text := m.Request["text"].(map[string]any)["body"].(string)
		copies[text] = append(copies[text], m.ID)
	}
	seen := make(map[int]int)
	isRead := make(map[string]bool)
	for i, first := range answers {
		there, again := copies[fmt.Sprint("n", i)], send(i)
		seen[first.status]++
		switch {
		case len(there) > 1, first.status == 200 && (len(there) == 0 || first.view().Messages[0].ID != there[0]), first.status == 500 && len(there) > 0:
			t.Errorf("n%d: %d %s, and the provider has %v", i, first.status, first.raw, there)
		case first.status != 200 && first.status != 500 && (first.status != 504 || first.view().Error.Code != 131000):
			t.Errorf("n%d: %d %s", i, first.status, first.raw)
		case len(there) == 0 && again.status != first.status, len(there) == 1 && (again.status != 200 || again.view().Messages[0].ID != there[0]):
			t.Errorf("n%d: %d %s, and again %d %s", i, first.status, first.raw, again.status, again.raw)
		}
		if len(there) > 0 {
			isRead[fmt.Sprint("n", i)] = false
		}
	}
	is.True(seen[200] > 150 && seen[500] > 0 && seen[504] > 0) // the faults were met

	for missing := len(isRead); missing > 0; {
		for tag, status := range statusesIn(t, to.next().body) {
			if was, known := isRead[tag]; known && !was && status == "read" {
				isRead[tag] = true
				missing--
			}
		}
	}
}

// statusesIn are the statuses of a native webhook, by tag.
func statusesIn(t *testing.T, body []byte) map[string]string {
	t.Helper()
	found := make(map[string]string)
	for _, part := range strings.Split(string(body), `"statuses"`)[1:] {
		var tag, status string
		if _, rest, ok := strings.Cut(part, `"biz_opaque_callback_data":"`); ok {
			tag, _, _ = strings.Cut(rest, `"`)
		}
		if _, rest, ok := strings.Cut(part, `"status":"`); ok {
			status, _, _ = strings.Cut(rest, `"`)
		}
		found[tag] = status
	}
	return found
}
