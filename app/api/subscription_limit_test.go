package api

import (
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
)

func TestAPlansLimitOnSubscriptionsIsAQuota(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t, func(o *testOptions) {
		o.Plans = map[string]rest.Plan{"self_hosted": {API: true, Customers: true, WebhookSubscriptions: 1}}
	})
	const body = `{"url":"https://shop.test/hook","events":["*"]}`
	is.Equal(f.call("POST", hooks, body).status, 201)
	is.Equal(f.call("POST", hooks, body).code(), "402 quota_exceeded")
	is.Equal(f.call("POST", hooks, `{"url":"https://shop.test/hook","events":["x"]}`).code(), "400 invalid_event_type events[0]") // the body comes first
}
