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

	"confab/storage"
	"confab/storage/storagetest"
)

// provocations are one way to each code that the kernel can answer.
var provocations = map[Code]func(*fixture) answer{
	MissingAPIKey: func(f *fixture) answer { return f.callAs("", "GET", "/me", "") },
	InvalidAPIKey: func(f *fixture) answer { return f.callAs("x", "GET", "/me", "") },
	RevokedAPIKey: func(f *fixture) answer {
		storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { _, err := tx.RevokeKey(0, f.tenant.Key.ID); return err })
		return f.call("GET", "/me", "")
	},
	ExpiredAPIKey: func(f *fixture) answer {
		var secret string
		storagetest.Update(f.t, f.db, func(tx *storage.Tx) (err error) {
			secret, err = tx.InsertKey(&storage.Key{OrganizationID: f.tenant.Organization.ID, ExpiresAt: tx.Now})
			return err
		})
		return f.callAs(secret, "GET", "/me", "")
	},
	ResourceNotFound: func(f *fixture) answer { return f.call("GET", "/labels/x", "") },
	MethodNotAllowed: func(f *fixture) answer { return f.call("PUT", "/labels", "") },
	OrganizationSuspended: func(f *fixture) answer {
		f.change(f.tenant, func(o *storage.Organization) { o.SuspendedAt = storage.Now() })
		return f.call("GET", "/me", "")
	},
	FeatureNotAvailable: func(f *fixture) answer {
		f.change(f.tenant, func(o *storage.Organization) { o.Plan = "no api" })
		return f.call("GET", "/me", "")
	},
	FeatureNotEntitled: func(f *fixture) answer {
		f.change(f.tenant, func(o *storage.Organization) { o.Plan = "small" })
		return f.call("GET", "/customers", "")
	},
	RateLimitExceeded: func(f *fixture) answer {
		f.change(f.tenant, func(o *storage.Organization) { o.Plan = "small" })
		f.call("GET", "/me", "")
		return f.call("GET", "/me", "")
	},
	RequestTooLarge: func(f *fixture) answer { return f.call("POST", "/labels", strings.Repeat(" ", maxBody+1)) },
	InvalidJSON:     func(f *fixture) answer { return f.call("POST", "/labels", "{") },
	IdempotencyInProgress: func(f *fixture) answer {
		f.api.inFlight.begin(inFlightKey{f.tenant.Organization.ID, "a"}, fingerprint(&request{http: must("POST", "/v1/labels"), raw: []byte("{}")}))
		return f.call("POST", "/labels", "{}", "Idempotency-Key: a")
	},
	IdempotencyKeyReuse: func(f *fixture) answer {
		f.call("POST", "/labels", `{"name":"a"}`, "Idempotency-Key: a")
		return f.call("POST", "/labels", `{"name":"b"}`, "Idempotency-Key: a")
	},
	MissingRequiredField: func(f *fixture) answer { return f.call("POST", "/labels", "{}") },
	InvalidFieldValue:    func(f *fixture) answer { return f.call("POST", "/labels", `{"name":""}`) },
	InvalidLimit:         func(f *fixture) answer { return f.call("GET", "/labels?limit=0", "") },
	InvalidCursor:        func(f *fixture) answer { return f.call("GET", "/labels?cursor=x", "") },
	SubscriptionInactive: func(f *fixture) answer {
		f.change(f.tenant, func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive })
		return f.call("POST", "/labels", `{"name":"a"}`)
	},
	InvalidPhoneNumber: func(f *fixture) answer {
		f.connect(f.tenant, number)
		return f.call("POST", messages, storagetest.Swap(f.t, hello, "+1555", "+0555"))
	},
	ContactAlreadyExists: func(f *fixture) answer {
		f.contact(f.connect(f.tenant, number), "+15551234567")
		return f.call("POST", contacts, `{"phone_number":"15551234567"}`)
	},
	InvalidTemplateName: refused("an unknown template"),
	QuotaExceeded:       refused("the quota is used up"),
	MarketingOptedOut:   refused("marketing to one who opted out"),
	ConsentRequired:     refused("a template to a stranger"),
	AccountRestricted:   refused("the account is restricted"),
	CustomerSuspended:   refused("the customer is suspended"),
	NumberNotVerified:   refused("the number is being set up"),
	UpstreamError:       refused("the account is disconnected"),
	MediaNotFound: func(f *fixture) answer {
		f.connect(f.tenant, number)
		return f.call("POST", messages, `{"messaging_product":"chat","to":"+15550001111","type":"image","image":{"id":"med_x"}}`)
	},
	RegistrationRunning: func(f *fixture) (second answer) {
		f.connectDegraded()
		f.upstream.answer = func(*http.Request) (int, string) {
			second = f.call("POST", register, rightPIN)
			return 500, ""
		}
		f.call("POST", register, rightPIN)
		return second
	},
	TemplateAlreadyExists: func(f *fixture) answer {
		f.connect(f.tenant, number)
		return f.call("POST", templatesPath, storagetest.Swap(f.t, storagetest.Swap(f.t, orderReady, "order_ready", "notice"), "en_US", "en"))
	},
	RegistrationFailed:  registered(400, `{"error":{"code":133005,"message":"(#133005) Two step verification PIN Mismatch"}}`),
	ProviderUnavailable: registered(500, "<html>"),
	InvalidSignature: func(f *fixture) answer { // which only the provider's callback gets
		rec := httptest.NewRecorder()
		f.api.WriteError(rec, must("POST", "/provider/webhook"), fail(InvalidSignature, "No."))
		return answer{status: rec.Code, header: rec.Header(), body: rec.Body.String()}
	},
	SessionRequired: func(f *fixture) answer { // both only in the console
		return f.visit(Visitor{Refused: fail(SessionRequired, "Sign in.")}, "GET", "/v1/me", "")
	},
	PermissionDenied: func(f *fixture) answer {
		return f.visit(f.signedIn(f.tenant, storage.RoleAgent), "GET", "/v1/webhook_subscriptions", "")
	},
	InvalidWebhookURL: func(f *fixture) answer {
		return f.call("POST", hooks, `{"url":"http://93.184.216.34","events":["*"]}`)
	},
	InvalidEventType: func(f *fixture) answer {
		return f.call("POST", hooks, `{"url":"https://93.184.216.34","events":["bogus"]}`)
	},
	WebhookDisabled: func(f *fixture) answer {
		id := f.call("POST", hooks, `{"url":"https://93.184.216.34","events":["*"]}`).text("data.id")
		f.disable(id)
		return f.call("PATCH", hooks+"/"+id, `{"status":"paused"}`)
	},
	LastSecret: func(f *fixture) answer {
		made := f.call("POST", hooks, `{"url":"https://93.184.216.34","events":["*"]}`)
		only := made.get("data.secrets").([]any)[0].(map[string]any)["id"].(string)
		return f.call("DELETE", hooks+"/"+made.text("data.id")+"/secrets/"+only, "")
	},
	MessageNotCancellable: func(f *fixture) answer {
		a := f.connect(f.tenant, "106540352242922")
		said := f.say(f.contact(a, "+15551234567"), received("wamid.1"))
		return f.call("DELETE", messages+"/"+said[0].ID, "")
	},
	BroadcastNotActive: func(f *fixture) answer {
		a := f.connect(f.tenant, "106540352242922")
		f.template(a, storage.Template{Name: "sale", Language: "en_US", Components: storage.JSON(`[{"type":"BODY","text":"Hi"}]`)})
		const sale = `{"name":"Sale","template":{"name":"sale","language":"en_US"},"audience":{"recipients":[{"to":"+15551234567"}]}}`
		made := f.call("POST", "/106540352242922/broadcasts", sale)
		return f.call("POST", "/106540352242922/broadcasts/"+made.text("data.id")+"/resume", "")
	},
	SetupLinkInactive: func(f *fixture) answer {
		links := f.newCustomer("Bakery") + "/setup_links"
		link := links + "/" + f.call("POST", links, "").text("data.id")
		f.call("DELETE", link, "")
		return f.call("DELETE", link, "")
	},
	InternalError: func(f *fixture) answer { return f.call("GET", "/broken", "") },
	ServiceUnavailable: func(f *fixture) answer {
		f.stop()
		return f.call("GET", "/me", "")
	},
}

// wanted is how each code is sent: status, type, param, and the headers beside.
var wanted = map[Code]string{
	MissingAPIKey:         "401 authentication_error  WWW-Authenticate=Bearer",
	InvalidAPIKey:         "401 authentication_error  WWW-Authenticate=Bearer",
	RevokedAPIKey:         "401 authentication_error  WWW-Authenticate=Bearer",
	ExpiredAPIKey:         "401 authentication_error  WWW-Authenticate=Bearer",
	ResourceNotFound:      "404 not_found ",
	MethodNotAllowed:      "405 invalid_request_error  Allow=GET, HEAD, POST",
	OrganizationSuspended: "403 permission_error ",
	FeatureNotAvailable:   "403 permission_error ",
	FeatureNotEntitled:    "402 permission_error ",
	RateLimitExceeded:     "429 rate_limit_error  Retry-After=1000",
	RequestTooLarge:       "413 invalid_request_error ",
	InvalidJSON:           "400 invalid_request_error ",
	IdempotencyInProgress: "409 conflict ",
	IdempotencyKeyReuse:   "422 invalid_request_error ",
	MissingRequiredField:  "400 invalid_request_error name",
	InvalidFieldValue:     "400 invalid_request_error name",
	InvalidLimit:          "400 invalid_request_error limit",
	InvalidCursor:         "400 invalid_request_error cursor",
	SubscriptionInactive:  "402 permission_error ",
	InvalidPhoneNumber:    "400 invalid_request_error to",
	ContactAlreadyExists:  "409 conflict phone_number",
	InvalidTemplateName:   "400 invalid_request_error template.name",
	QuotaExceeded:         "402 permission_error ",
	MarketingOptedOut:     "422 invalid_request_error ",
	ConsentRequired:       "422 invalid_request_error ",
	AccountRestricted:     "422 invalid_request_error ",
	CustomerSuspended:     "422 invalid_request_error ",
	NumberNotVerified:     "422 invalid_request_error ",
	UpstreamError:         "422 invalid_request_error ",
	MediaNotFound:         "422 invalid_request_error image.id",
	RegistrationRunning:   "409 conflict ",
	TemplateAlreadyExists: "409 conflict name",
	RegistrationFailed:    "422 invalid_request_error ",
	ProviderUnavailable:   "502 api_error ",
	InvalidSignature:      "401 authentication_error  WWW-Authenticate=Bearer",
	SessionRequired:       "401 authentication_error ",
	PermissionDenied:      "403 permission_error ",
	InvalidWebhookURL:     "400 invalid_request_error url",
	InvalidEventType:      "400 invalid_request_error events[0]",
	WebhookDisabled:       "409 conflict ",
	LastSecret:            "422 invalid_request_error ",
	SetupLinkInactive:     "409 conflict ",
	MessageNotCancellable: "409 conflict ",
	BroadcastNotActive:    "409 conflict ",
	InternalError:         "500 api_error ",
	ServiceUnavailable:    "503 api_error  Retry-After=1",
}

func TestEveryErrorCodeIsSentAsTheCatalogueSays(t *testing.T) {
	for name, code := range codes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { provoke(t, code) }) // where no second passes by itself
		})
	}
}

func provoke(t *testing.T, code Code) {
	is := is.New(t)
	f := serveDirectly(t, withNames(t), func(o *Options) {
		o.Plans["no api"] = Plan{}
		quota(o)
		o.Plans["small"] = Plan{API: true, RatePerSecond: 0.001, Burst: 1}
	})
	f.mount(
		route{"GET", "/broken", func(*request) (reply, error) { return reply{}, errors.New("broken") }, 0, nil},
	)
	is.True(provocations[code] != nil)
	got := provocations[code](f)
	is.Equal(got.get("error.code"), code.name)
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
	f.mount(route{"POST", "/tests", func(*request) (reply, error) { return ok("done"), nil }, 0, nil})
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
	refused := fail(InvalidJSON, "no")
	for err, want := range map[error]Code{
		fmt.Errorf("deeper: %w", refused):                InvalidJSON,
		fmt.Errorf("label: %w", storage.ErrNotFound):     ResourceNotFound,
		fmt.Errorf("write: %w", storage.ErrUnavailable):  ServiceUnavailable,
		fmt.Errorf("wait: %w", context.Canceled):         ServiceUnavailable,
		fmt.Errorf("wait: %w", context.DeadlineExceeded): ServiceUnavailable,
		fmt.Errorf("insert: %w", storage.ErrConflict):    InternalError, // a handler should have worded it
		errors.New("secret of the house"):                InternalError,
	} {
		e := asError(err)
		is.Equal(e.Code, want)
		is.True(!strings.Contains(e.Message, "secret"))
		is.True(errors.Is(e, err) || want == InvalidJSON || want == ResourceNotFound) // the log keeps the cause
		is.Equal(e.RetryAfter == time.Second, want == ServiceUnavailable)
	}
	is.Equal((&Error{Code: InvalidJSON, Message: "No.", cause: errors.New("torn")}).Error(), "invalid_json: No. torn")
}
