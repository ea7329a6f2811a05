package rest

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// keptBodies are the bodies in the log, oldest first.
func (f *fixture) keptBodies() (all []storage.CallBodies) {
	f.t.Helper()
	f.logged()
	return storagetest.Select[storage.CallBodies](f.t, f.dir, `
		SELECT account_id, request, request_bytes, response, response_bytes FROM api_log_bodies ORDER BY id`)
}

func TestBodiesAreKeptAsTheSettingSays(t *testing.T) {
	for setting, want := range map[string]int{"": 0, BodiesOff: 0, BodiesErrors: 2, BodiesAll: 4} {
		t.Run(setting, func(t *testing.T) {
			is := is.New(t)
			f := serveDirectly(t, func(o *Options) { o.LogBodies = setting })
			f.call("POST", "/labels", `{"name": "VIP"}`)
			f.call("POST", "/labels", `{"name":""}`)
			f.call("POST", "/labels", `{"name" "VIP"}`)
			f.call("GET", "/me", "")
			f.callAs("svc_live_none", "GET", "/me", "") // whose it would be is unknown

			kept := f.keptBodies()
			is.Equal(len(kept), want)
			if setting == BodiesAll {
				is.Equal(kept[0].Request, `{"name": "VIP"}`) // as it was written
				is.Equal(kept[0].RequestBytes, 15)
				is.True(strings.HasPrefix(kept[0].Response, `{"data":{"id":"lbl_`))
				is.Equal(kept[2].Request, `{"name" "VIP"}`)
				is.Equal(kept[3].Request, "")
			}
		})
	}
}

func TestALongBodyIsKeptInPart(t *testing.T) {
	is := is.New(t)
	f := serveDirectly(t, func(o *Options) { o.LogBodies = BodiesAll })
	body := `{"name":"` + strings.Repeat("ä", 20_000) + `"}`
	f.call("POST", "/labels", body)

	kept := f.keptBodies()[0]
	is.Equal(kept.RequestBytes, len(body))
	is.True(len(kept.Request) <= MaxLoggedBody+3)
	is.True(strings.HasPrefix(kept.Request, `{"name":"ää`))
}

func TestSecretsInBodiesAreMasked(t *testing.T) {
	for body, want := range map[string]string{
		`{"pin": "123456", "name":"a"}`:                         `{"pin": "...", "name":"a"}`,
		`{"pin":123456}`:                                        `{"pin":"..."}`,
		`{"\u0070in":"123456"}`:                                 `{"\u0070in":"..."}`,
		`{"pin":null,"secret":""}`:                              `{"pin":null,"secret":"..."}`,
		`{"access_token":"EAAG","waba_id":"1"}`:                 `{"access_token":"...","waba_id":"1"}`,
		`{"data":{"secrets":[{"id":"sec_1"}],"secret":"x"}}`:    `{"data":{"secrets":[{"id":"sec_1"}],"secret":"..."}}`,
		`{"initial_secret":"whsec_abc"}`:                        `{"initial_secret":"..."}`,
		`{"setup_url":"https://x/onboard/csl_abc","id":1}`:      `{"setup_url":"...","id":1}`,
		`{"custom_headers":{"X-Auth":"a","b":["c"]},"url":"u"}`: `{"custom_headers":{"X-Auth":"...","b":["..."]},"url":"u"}`,
		`{"text":{"body":"my key is svc_live_abcdef"}}`:         `{"text":{"body":"..."}}`,
		`{"url":"https://x/media/abcdefghijklmnopqrst/a.png"}`:  `{"url":"..."}`,
		`{"text":{"body":"the token: 5"},"wamid":"wamid.HBgL"}`: `{"text":{"body":"the token: 5"},"wamid":"wamid.HBgL"}`,
		`["pin",{"":{"pin":{"pin":1}}}]`:                        `["pin",{"":{"pin":{"pin":"..."}}}]`,
		`{"pin":"123456"`:                                       `{"pin":"..."`,
		`{pin: 123456, a: 1}`:                                   `{pin: ..., a: 1}`,
		`pin=123456&secret=whsec_x y`:                           `pin=...&secret=... y`,
		`{"svc_live_abcdef":1}`:                                 `{"...":1}`,
		`{"pin":{"v":"123456"},"a":{"b":"c"}}`:                  `{"pin":{"v":"..."},"a":{"b":"c"}}`,
		`{"api_key":{"id":"key_1","last4":"abcd"}}`:             `{"api_key":{"id":"key_1","last4":"abcd"}}`,
		`{"pin":["123456",["7"]],"a":["b"]}`:                    `{"pin":["...",["..."]],"a":["b"]}`,
		`{"accessToken":"EAAG","x-api-key":"k","monkey":"m"}`:   `{"accessToken":"...","x-api-key":"...","monkey":"m"}`,
		`{"a":"{\"access_token\": \"EAAG\"}"}`:                  `{"a":"..."}`,
		`{"link":"https://x/y?access_token=EAAG"}`:              `{"link":"..."}`,
		`{"a":"EAAGm0PX4ZCpsBAKZCuvHJk3T"}`:                     `{"a":"..."}`,
		`{"pin":"1", "a" 1, "p\u0069n":"123456"}`:               `{"pin":"...", "a" 1, "pin":...}`,
		`{'pin': '12 34', a}`:                                   `{'pin': ..., a}`,
		"{\x00p\x00i\x00n\x00=\x001\x00":                        `{pin=...`,
		`broken svc_live_abc "`:                                 `broken svc_live_... "`,
	} {
		is.New(t).Equal(loggedBody([]byte(body)), want) // as masked
	}
}

func TestBodiesThatWaitAreBounded(t *testing.T) {
	is := is.New(t)
	log := &callLog{lastUsed: make(map[string]storage.Time)}
	f := serve(t)
	r := &Request{HTTP: httptest.NewRequest("GET", "/v1/me", nil), Table: f.table, Key: f.tenant.Key, Org: f.tenant.Organization}
	x := &Exchange{Request: r}
	large := &storage.CallBodies{Request: strings.Repeat("x", MaxLoggedBody)}
	for range maxWaitingBodies/MaxLoggedBody + 3 {
		log.add(x, 200, 1, "127.0.0.1", "/v1/me", large)
	}

	kept := 0
	for _, c := range log.waiting {
		if c.Bodies != nil {
			kept++
		}
	}
	is.Equal(kept, maxWaitingBodies/MaxLoggedBody)
	is.Equal(len(log.waiting), maxWaitingBodies/MaxLoggedBody+3)
}
