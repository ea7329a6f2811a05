package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/jobs/guard"
	"confab/storage"
	"confab/storage/storagetest"
)

// provocations are one way to each code that the kernel can answer.
var provocations = map[rest.Code]func(*fixture) answer{
	rest.MissingAPIKey: func(f *fixture) answer { return f.callAs("", "GET", "/me", "") },
	rest.InvalidAPIKey: func(f *fixture) answer { return f.callAs("x", "GET", "/me", "") },
	rest.RevokedAPIKey: func(f *fixture) answer {
		storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { _, err := tx.RevokeKey(0, f.tenant.Key.ID); return err })
		return f.call("GET", "/me", "")
	},
	rest.ExpiredAPIKey: func(f *fixture) answer {
		var secret string
		storagetest.Update(f.t, f.db, func(tx *storage.Tx) (err error) {
			secret, err = tx.InsertKey(&storage.Key{OrganizationID: f.tenant.Organization.ID, ExpiresAt: tx.Now})
			return err
		})
		return f.callAs(secret, "GET", "/me", "")
	},
	rest.ResourceNotFound: func(f *fixture) answer { return f.call("GET", "/labels/x", "") },
	rest.MethodNotAllowed: func(f *fixture) answer { return f.call("PUT", "/labels", "") },
	rest.OrganizationSuspended: func(f *fixture) answer {
		f.change(f.tenant, func(o *storage.Organization) { o.SuspendedAt = storage.Now() })
		return f.call("GET", "/me", "")
	},
	rest.FeatureNotAvailable: func(f *fixture) answer {
		f.change(f.tenant, func(o *storage.Organization) { o.Plan = "no api" })
		return f.call("GET", "/me", "")
	},
	rest.FeatureNotEntitled: func(f *fixture) answer {
		f.change(f.tenant, func(o *storage.Organization) { o.Plan = "small" })
		return f.call("GET", "/customers", "")
	},
	rest.RateLimitExceeded: func(f *fixture) answer {
		f.change(f.tenant, func(o *storage.Organization) { o.Plan = "small" })
		f.call("GET", "/me", "")
		return f.call("GET", "/me", "")
	},
	rest.RequestTooLarge: func(f *fixture) answer { return f.call("POST", "/labels", strings.Repeat(" ", 1<<20+1)) },
	rest.InvalidJSON:     func(f *fixture) answer { return f.call("POST", "/labels", "{") },
	rest.IdempotencyInProgress: func(f *fixture) (second answer) {
		f.connectDegraded()
		f.upstream.answer = func(*http.Request) (int, string) {
			second = f.call("POST", register, rightPIN, "Idempotency-Key: a")
			return 500, ""
		}
		f.call("POST", register, rightPIN, "Idempotency-Key: a")
		return second
	},
	rest.IdempotencyKeyReuse: func(f *fixture) answer {
		f.call("POST", "/labels", `{"name":"a"}`, "Idempotency-Key: a")
		return f.call("POST", "/labels", `{"name":"b"}`, "Idempotency-Key: a")
	},
	rest.MissingRequiredField: func(f *fixture) answer { return f.call("POST", "/labels", "{}") },
	rest.InvalidFieldValue:    func(f *fixture) answer { return f.call("POST", "/labels", `{"name":""}`) },
	rest.InvalidLimit:         func(f *fixture) answer { return f.call("GET", "/labels?limit=0", "") },
	rest.InvalidCursor:        func(f *fixture) answer { return f.call("GET", "/labels?cursor=x", "") },
	rest.SubscriptionInactive: func(f *fixture) answer {
		f.change(f.tenant, func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive })
		return f.call("POST", "/labels", `{"name":"a"}`)
	},
	rest.InvalidPhoneNumber: func(f *fixture) answer {
		f.connect(f.tenant, number)
		return f.call("POST", messages, storagetest.Swap(f.t, hello, "+1555", "+0555"))
	},
	rest.ContactAlreadyExists: func(f *fixture) answer {
		f.contact(f.connect(f.tenant, number), "+15551234567")
		return f.call("POST", contacts, `{"phone_number":"15551234567"}`)
	},
	rest.InvalidTemplateName: refused("an unknown template"),
	rest.QuotaExceeded:       refused("the quota is used up"),
	rest.MarketingOptedOut:   refused("marketing to one who opted out"),
	rest.ConsentRequired:     refused("a template to a stranger"),
	rest.AccountRestricted:   refused("the account is restricted"),
	rest.CustomerSuspended:   refused("the customer is suspended"),
	rest.NumberNotVerified:   refused("the number is being set up"),
	rest.UpstreamError:       refused("the account is disconnected"),
	rest.MediaNotFound: func(f *fixture) answer {
		f.connect(f.tenant, number)
		return f.call("POST", messages, `{"messaging_product":"chat","to":"+15550001111","type":"image","image":{"id":"med_x"}}`)
	},
	rest.RegistrationRunning: func(f *fixture) (second answer) {
		f.connectDegraded()
		f.upstream.answer = func(*http.Request) (int, string) {
			second = f.call("POST", register, rightPIN)
			return 500, ""
		}
		f.call("POST", register, rightPIN)
		return second
	},
	rest.TemplateAlreadyExists: func(f *fixture) answer {
		f.connect(f.tenant, number)
		return f.call("POST", templatesPath, storagetest.Swap(f.t, storagetest.Swap(f.t, orderReady, "order_ready", "notice"), "en_US", "en"))
	},
	rest.RegistrationFailed:  registered(400, `{"error":{"code":133005,"message":"(#133005) Two step verification PIN Mismatch"}}`),
	rest.ProviderUnavailable: registered(500, "<html>"),
	rest.InvalidSignature: func(f *fixture) answer { // which only the provider's callback gets
		rec := httptest.NewRecorder()
		f.api.WriteError(rec, must("POST", "/provider/webhook"), rest.Fail(rest.InvalidSignature, "No."))
		return answer{status: rec.Code, header: rec.Header(), body: rec.Body.String()}
	},
	rest.SessionRequired: func(f *fixture) answer { // these three only in the console
		return f.visit(rest.Visitor{Refused: rest.Fail(rest.SessionRequired, "Sign in.")}, "GET", "/v1/me", "")
	},
	rest.SecondFactorRequired: func(f *fixture) answer {
		return f.visit(rest.Visitor{Refused: rest.Fail(rest.SecondFactorRequired, "Set up a second factor.")}, "GET", "/v1/me", "")
	},
	rest.PermissionDenied: func(f *fixture) answer {
		return f.visit(f.signedIn(f.tenant, storage.RoleAgent), "GET", "/v1/webhook_subscriptions", "")
	},
	rest.InvalidWebhookURL: func(f *fixture) answer {
		return f.call("POST", hooks, `{"url":"http://93.184.216.34","events":["*"]}`)
	},
	rest.InvalidEventType: func(f *fixture) answer {
		return f.call("POST", hooks, `{"url":"https://93.184.216.34","events":["bogus"]}`)
	},
	rest.WebhookNotVerified: func(f *fixture) answer { // where nothing listens
		return f.call("POST", hooks, `{"url":"https://127.0.0.1:1","events":["messages"],"format":"provider","verify_token":"v"}`)
	},
	rest.WebhookDisabled: func(f *fixture) answer {
		id := f.call("POST", hooks, `{"url":"https://93.184.216.34","events":["*"]}`).text("data.id")
		f.disable(id)
		return f.call("PATCH", hooks+"/"+id, `{"status":"paused"}`)
	},
	rest.LastSecret: func(f *fixture) answer {
		made := f.call("POST", hooks, `{"url":"https://93.184.216.34","events":["*"]}`)
		only := made.get("data.secrets").([]any)[0].(map[string]any)["id"].(string)
		return f.call("DELETE", hooks+"/"+made.text("data.id")+"/secrets/"+only, "")
	},
	rest.ConversationChanged: func(f *fixture) answer {
		a := f.connect(f.tenant, "106540352242922")
		said := f.say(f.contact(a, "+15551234567"), received("wamid.1"), received("wamid.2"))
		return f.call("PATCH", "/106540352242922/conversations/"+said[0].ConversationID, `{"status":"resolved","seen":"`+said[0].ID+`"}`)
	},
	rest.ConversationHeld: func(f *fixture) answer {
		said := f.say(f.contact(f.connect(f.tenant, number), "+15551234567"), received("wamid.1"))
		handOver := conversations + "/" + said[0].ConversationID + "/hand_over"
		f.call("POST", handOver, `{"to":{"type":"user","id":"`+f.user(f.tenant, "Ada").ID+`"}}`)
		var bot string
		storagetest.Update(f.t, f.db, func(tx *storage.Tx) (err error) {
			bot, err = tx.InsertKey(&storage.Key{OrganizationID: f.tenant.Organization.ID, Agent: new("bot")})
			return err
		})
		return f.callAs(bot, "POST", handOver, `{"to":{"type":"agent","id":"bot"}}`)
	},
	rest.MessageNotCancellable: func(f *fixture) answer {
		a := f.connect(f.tenant, "106540352242922")
		said := f.say(f.contact(a, "+15551234567"), received("wamid.1"))
		return f.call("DELETE", messages+"/"+said[0].ID, "")
	},
	rest.BroadcastNotActive: func(f *fixture) answer {
		a := f.connect(f.tenant, "106540352242922")
		f.template(a, storage.Template{Name: "sale", Language: "en_US", Components: storage.JSON(`[{"type":"BODY","text":"Hi"}]`)})
		const sale = `{"name":"Sale","template":{"name":"sale","language":"en_US"},"audience":{"recipients":[{"to":"+15551234567"}]}}`
		made := f.call("POST", "/106540352242922/broadcasts", sale)
		return f.call("POST", "/106540352242922/broadcasts/"+made.text("data.id")+"/resume", "")
	},
	rest.SetupLinkInactive: func(f *fixture) answer {
		links := f.newCustomer("Bakery") + "/setup_links"
		link := links + "/" + f.call("POST", links, "").text("data.id")
		f.call("DELETE", link, "")
		return f.call("DELETE", link, "")
	},
	rest.InternalError: func(f *fixture) answer { return f.call("GET", "/broken", "") },
	rest.ServiceUnavailable: func(f *fixture) answer {
		f.stop()
		return f.call("GET", "/me", "")
	},
}

// wanted is how each code is sent: status, type, param, and the headers beside.
var wanted = map[rest.Code]string{
	rest.MissingAPIKey:         "401 authentication_error  WWW-Authenticate=Bearer",
	rest.InvalidAPIKey:         "401 authentication_error  WWW-Authenticate=Bearer",
	rest.RevokedAPIKey:         "401 authentication_error  WWW-Authenticate=Bearer",
	rest.ExpiredAPIKey:         "401 authentication_error  WWW-Authenticate=Bearer",
	rest.ResourceNotFound:      "404 not_found ",
	rest.MethodNotAllowed:      "405 invalid_request_error  Allow=GET, HEAD, POST",
	rest.OrganizationSuspended: "403 permission_error ",
	rest.FeatureNotAvailable:   "403 permission_error ",
	rest.FeatureNotEntitled:    "402 permission_error ",
	rest.RateLimitExceeded:     "429 rate_limit_error  Retry-After=1000",
	rest.RequestTooLarge:       "413 invalid_request_error ",
	rest.InvalidJSON:           "400 invalid_request_error ",
	rest.IdempotencyInProgress: "409 conflict ",
	rest.IdempotencyKeyReuse:   "422 invalid_request_error ",
	rest.MissingRequiredField:  "400 invalid_request_error name",
	rest.InvalidFieldValue:     "400 invalid_request_error name",
	rest.InvalidLimit:          "400 invalid_request_error limit",
	rest.InvalidCursor:         "400 invalid_request_error cursor",
	rest.SubscriptionInactive:  "402 permission_error ",
	rest.InvalidPhoneNumber:    "400 invalid_request_error to",
	rest.ContactAlreadyExists:  "409 conflict phone_number",
	rest.InvalidTemplateName:   "400 invalid_request_error template.name",
	rest.QuotaExceeded:         "402 permission_error ",
	rest.MarketingOptedOut:     "422 invalid_request_error ",
	rest.ConsentRequired:       "422 invalid_request_error ",
	rest.AccountRestricted:     "422 invalid_request_error ",
	rest.CustomerSuspended:     "422 invalid_request_error ",
	rest.NumberNotVerified:     "422 invalid_request_error ",
	rest.UpstreamError:         "422 invalid_request_error ",
	rest.MediaNotFound:         "422 invalid_request_error image.id",
	rest.RegistrationRunning:   "409 conflict ",
	rest.TemplateAlreadyExists: "409 conflict name",
	rest.RegistrationFailed:    "422 invalid_request_error ",
	rest.ProviderUnavailable:   "502 api_error ",
	rest.InvalidSignature:      "401 authentication_error  WWW-Authenticate=Bearer",
	rest.SessionRequired:       "401 authentication_error ",
	rest.PermissionDenied:      "403 permission_error ",
	rest.SecondFactorRequired:  "403 permission_error ",
	rest.InvalidWebhookURL:     "400 invalid_request_error url",
	rest.InvalidEventType:      "400 invalid_request_error events[0]",
	rest.WebhookNotVerified:    "400 invalid_request_error url",
	rest.WebhookDisabled:       "409 conflict ",
	rest.LastSecret:            "422 invalid_request_error ",
	rest.SetupLinkInactive:     "409 conflict ",
	rest.ConversationChanged:   "409 conflict ",
	rest.ConversationHeld:      "409 conflict ",
	rest.MessageNotCancellable: "409 conflict ",
	rest.BroadcastNotActive:    "409 conflict ",
	rest.InternalError:         "500 api_error ",
	rest.ServiceUnavailable:    "503 api_error  Retry-After=1",
}

func TestEveryErrorCodeIsSentAsTheCatalogueSays(t *testing.T) {
	for name, code := range rest.Codes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { provoke(t, code) }) // where no second passes by itself
		})
	}
}

func provoke(t *testing.T, code rest.Code) {
	is := is.New(t)
	fetch := guard.New(guard.Options{Allow: loopback})
	t.Cleanup(fetch.Close)
	f := serveDirectly(t, func(o *testOptions) {
		o.Fetch = fetch
		o.Plans["no api"] = rest.Plan{}
		quota(o)
		o.Plans["small"] = rest.Plan{API: true, RatePerSecond: 0.001, Burst: 1}
	})
	f.mount(
		rest.At("GET", "/broken", func(*rest.Request) (rest.Reply, error) { return rest.Reply{}, errors.New("broken") }, 0, nil),
	)
	is.True(provocations[code] != nil)
	got := provocations[code](f)
	is.Equal(got.get("error.code"), code.Name)
	is.True(got.text("error.message") != "")
	is.Equal(got.get("error.request_id"), got.header.Get("X-Request-Id"))
	sent := fmt.Sprintf("%d %s %s", got.status, got.text("error.type"), got.text("error.param"))
	for _, name := range []string{"WWW-Authenticate", "Allow", "Retry-After"} {
		if got.header.Get(name) != "" {
			sent += " " + name + "=" + got.header.Get(name)
		}
	}
	is.Equal(sent, wanted[code])
}

func TestAnInactiveSubscriptionRefusesOnlyNewResources(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	path := "/labels/" + f.call("POST", "/labels", `{"name":"VIP"}`).text("data.id")
	f.mount(rest.At("POST", "/tests", func(*rest.Request) (rest.Reply, error) { return rest.OK("done"), nil }, 0, nil))
	f.change(f.tenant, func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive })
	is.Equal(f.call("POST", "/labels", `{"name":"New"}`).code(), "402 subscription_inactive")
	is.Equal(f.labels(), 1)
	is.Equal(f.call("POST", "/labels", `{"name":""}`).code(), "400 invalid_field_value name") // the body's faults come first,
	is.Equal(f.call("POST", "/labels", `{"name":"vip"}`).code(), "400 invalid_field_value name")
	is.Equal(f.call("POST", "/labels", `{"name":"New","team_id":"team_x"}`).code(), "404 resource_not_found") // those in the database too
	for _, call := range []string{"GET /me", "GET /labels", "GET " + path, "POST /tests", "DELETE " + path} {
		method, target, _ := strings.Cut(call, " ")
		is.Equal(f.call(method, target, "").status, 200)
	}
}

func TestAnyErrorBecomesOneThatAClientMayRead(t *testing.T) {
	is := is.New(t)
	refused := rest.Fail(rest.InvalidJSON, "no")
	for err, want := range map[error]rest.Code{
		fmt.Errorf("deeper: %w", refused):                rest.InvalidJSON,
		fmt.Errorf("label: %w", storage.ErrNotFound):     rest.ResourceNotFound,
		fmt.Errorf("write: %w", storage.ErrUnavailable):  rest.ServiceUnavailable,
		fmt.Errorf("wait: %w", context.Canceled):         rest.ServiceUnavailable,
		fmt.Errorf("wait: %w", context.DeadlineExceeded): rest.ServiceUnavailable,
		fmt.Errorf("insert: %w", storage.ErrConflict):    rest.InternalError, // a handler should have worded it
		errors.New("secret of the house"):                rest.InternalError,
	} {
		e := rest.AsError(err)
		is.Equal(e.Code, want)
		is.True(!strings.Contains(e.Message, "secret"))
		is.True(errors.Is(e, err) || want == rest.InvalidJSON || want == rest.ResourceNotFound) // the log keeps the cause
		is.Equal(e.RetryAfter == time.Second, want == rest.ServiceUnavailable)
	}
	is.Equal((&rest.Error{Code: rest.InvalidJSON, Message: "No.", Cause: errors.New("torn")}).Error(), "invalid_json: No. torn")
}

func TestAnErrorWithoutACodeIsOurOwnFault(t *testing.T) {
	is := is.New(t)
	f := serveDirectly(t)
	for _, err := range []error{
		&rest.Error{Message: "Nobody gave it a code."},
		rest.Fail(rest.CodeNamed("no_such_code"), "A code that the API does not have."),
	} {
		rec := httptest.NewRecorder()
		f.api.WriteError(rec, must("GET", "/elsewhere"), err)
		got := answer{status: rec.Code, header: rec.Header(), body: rec.Body.String()}
		is.Equal(got.code(), "500 internal_error")
		is.Equal(got.text("error.type"), "api_error")
		is.True(strings.HasPrefix(err.Error(), "internal_error: ")) // as the log has it
	}
}
