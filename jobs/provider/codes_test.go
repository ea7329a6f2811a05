package provider

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/jobs/errorcode"
)

// verdict is what the list of known codes says about one of them.
type verdict struct {
	code, subcode int
	http          int // 0: known from callbacks only
	arrival       Arrival
	ours          string
	transient     bool
	effect        Effect
}

var verdicts = []verdict{
	{0, 0, 401, InAnswer, "auth_expired", false, Degraded},
	{1, 0, 400, InAnswer, "upstream_error", true, NoEffect},
	{2, 0, 503, InAnswer, "upstream_error", true, NoEffect},
	{3, 0, 500, InAnswer, "permission_revoked", false, Degraded},
	{4, 0, 400, InAnswer, "app_rate_limited", true, NoEffect},
	{10, 0, 403, InAnswer, "permission_revoked", false, Degraded},
	{33, 0, 400, InAnswer, "upstream_error", false, Disconnected},
	{100, 0, 400, InAnswer, "upstream_error", false, NoEffect},
	{100, 33, 400, InAnswer, "permission_revoked", false, Degraded},
	{100, 2388024, 400, InAnswer, "upstream_error", false, NoEffect},
	{104, 0, 400, InAnswer, "auth_expired", false, Degraded},
	{190, 0, 401, InAnswer, "auth_expired", false, Degraded},
	{190, 463, 401, InAnswer, "auth_expired", false, Degraded},
	{200, 0, 403, InAnswer, "permission_revoked", false, Degraded},
	{250, 0, 403, InAnswer, "permission_revoked", false, Degraded},
	{299, 0, 403, InAnswer, "permission_revoked", false, Degraded},
	{368, 0, 403, InEither, "policy_violation", false, Restricted},
	{613, 0, 400, InAnswer, "app_rate_limited", true, NoEffect},
	{80007, 0, 400, InAnswer, "account_rate_limited", true, Cooldown},
	{80008, 0, 400, InAnswer, "account_rate_limited", true, NoEffect},
	{130403, 0, 400, InEither, "undeliverable", false, NoEffect},
	{130429, 0, 400, InAnswer, "account_rate_limited", true, NoEffect},
	{130472, 0, 400, InCallback, "undeliverable", false, NoEffect},
	{130497, 0, 403, InEither, "account_restricted", false, NoEffect},
	{131000, 0, 500, InEither, "upstream_error", true, NoEffect},
	{131005, 0, 403, InAnswer, "permission_revoked", false, Degraded},
	{131008, 0, 400, InAnswer, "upstream_error", false, NoEffect},
	{131009, 0, 400, InEither, "upstream_error", false, NoEffect},
	{131016, 0, 500, InEither, "upstream_error", true, NoEffect},
	{131020, 0, 400, InAnswer, "undeliverable", false, NoEffect},
	{131021, 0, 400, InEither, "undeliverable", false, NoEffect},
	{131026, 0, 400, InCallback, "recipient_unavailable", false, NoEffect},
	{131030, 0, 400, InAnswer, "recipient_unavailable", false, NoEffect},
	{131031, 0, 403, InEither, "account_locked", false, Restricted},
	{131037, 0, 400, InAnswer, "account_restricted", false, Restricted},
	{131041, 0, 400, InAnswer, "undeliverable", false, NoEffect},
	{131042, 0, 400, InCallback, "account_restricted", false, NoEffect},
	{131043, 0, 0, InCallback, "undeliverable", false, NoEffect},
	{131044, 0, 400, InCallback, "account_restricted", false, NoEffect},
	{131045, 0, 500, InAnswer, "upstream_error", false, Degraded},
	{131047, 0, 400, InCallback, "outside_24h_window", false, NoEffect},
	{131048, 0, 400, InEither, "account_rate_limited", false, Cooldown},
	{131049, 0, 400, InCallback, "undeliverable", false, NoEffect},
	{131050, 0, 400, InCallback, "marketing_blocked_by_user", false, OptOut},
	{131051, 0, 400, InEither, "unsupported_message_type", false, NoEffect},
	{131052, 0, 400, InCallback, "media_download_failed", false, NoEffect},
	{131053, 0, 400, InEither, "media_upload_failed", false, NoEffect},
	{131055, 0, 400, InAnswer, "unsupported_message_type", false, NoEffect},
	{131056, 0, 400, InAnswer, "account_rate_limited", true, NoEffect},
	{131057, 0, 500, InAnswer, "upstream_error", true, NoEffect},
	{131060, 0, 0, InCallback, "upstream_error", false, NoEffect},
	{131062, 0, 400, InAnswer, "unsupported_message_type", false, NoEffect},
	{131063, 0, 400, InAnswer, "account_restricted", false, NoEffect},
	{131064, 0, 400, InEither, "account_rate_limited", false, NoEffect},
	{131201, 0, 400, InAnswer, "upstream_error", false, NoEffect},
	{131215, 0, 400, InAnswer, "upstream_error", false, NoEffect},
	{132000, 0, 400, InEither, "upstream_error", false, NoEffect},
	{132001, 0, 404, InAnswer, "template_not_found", false, NoEffect},
	{132005, 0, 400, InEither, "template_policy_violation", false, NoEffect},
	{132007, 0, 400, InEither, "template_policy_violation", false, NoEffect},
	{132008, 0, 400, InEither, "upstream_error", false, NoEffect},
	{132012, 0, 400, InEither, "upstream_error", false, NoEffect},
	{132015, 0, 400, InEither, "template_paused", false, NoEffect},
	{132016, 0, 400, InEither, "template_paused", false, NoEffect},
	{132018, 0, 400, InEither, "upstream_error", false, NoEffect},
	{132068, 0, 400, InEither, "flow_blocked", false, NoEffect},
	{132069, 0, 400, InEither, "flow_blocked", false, NoEffect},
	{133000, 0, 500, InAnswer, "whatsapp_registration_failed", false, NoEffect},
	{133004, 0, 503, InAnswer, "upstream_error", true, NoEffect},
	{133005, 0, 400, InAnswer, "whatsapp_registration_failed", false, NoEffect},
	{133006, 0, 400, InAnswer, "whatsapp_registration_failed", false, NoEffect},
	{133008, 0, 400, InAnswer, "whatsapp_registration_failed", false, NoEffect},
	{133009, 0, 400, InAnswer, "whatsapp_registration_failed", false, NoEffect},
	{133010, 0, 400, InAnswer, "upstream_error", false, Degraded},
	{133015, 0, 400, InAnswer, "whatsapp_registration_failed", false, NoEffect},
	{133016, 0, 400, InAnswer, "whatsapp_registration_failed", false, NoEffect},
	{134011, 0, 400, InAnswer, "account_restricted", false, NoEffect},
	{134100, 0, 400, InAnswer, "upstream_error", false, NoEffect},
	{134101, 0, 400, InAnswer, "upstream_error", false, NoEffect},
	{134102, 0, 500, InAnswer, "upstream_error", false, NoEffect},
	{135000, 0, 400, InEither, "upstream_error", false, NoEffect},
	{136024, 0, 400, InAnswer, "upstream_error", false, NoEffect},
	{136025, 0, 400, InAnswer, "upstream_error", false, NoEffect},
	{137000, 0, 0, InCallback, "undeliverable", false, NoEffect},
	{138000, 0, 400, InAnswer, "upstream_error", false, NoEffect},
	{138999, 0, 400, InAnswer, "upstream_error", false, NoEffect},
	{139100, 0, 400, InAnswer, "upstream_error", false, NoEffect},
	{147001, 0, 400, InAnswer, "upstream_error", false, NoEffect},
	{147005, 0, 400, InAnswer, "upstream_error", false, NoEffect},
	{2388024, 0, 400, InAnswer, "upstream_error", false, NoEffect},
	{2494100, 0, 400, InAnswer, "upstream_error", false, NoEffect},
	{2593109, 0, 400, InEither, "upstream_error", false, NoEffect},
}

func TestEachCodeHasItsClassInAnAnswerAndInACallback(t *testing.T) {
	for _, v := range verdicts {
		t.Run(fmt.Sprintf("%d/%d", v.code, v.subcode), func(t *testing.T) {
			is := is.New(t)
			row, ok := Lookup(v.code, v.subcode)
			is.True(ok)
			is.Equal(row.HTTP, v.http)
			is.Equal(row.Arrival, v.arrival)
			is.True(row.Title != "")

			status := v.http
			if status == 0 {
				status = 400
			}
			c, _ := says(t, status, fmt.Sprintf(`{"error":{"message":"(#%d) %s","code":%d,"error_subcode":%d}}`, v.code, row.Title, v.code, v.subcode))
			_, err := c.Send(t.Context(), token, "1", []byte(`{}`), nil)
			failure(t, err, v.ours, v.transient, Refused)
			is.Equal(ClassOf(err).Effect, v.effect)
			is.Equal(err.(*Error).Code, v.code) // also for 0

			status2, err := Read[Status]([]byte(fmt.Sprintf(`{"id":"wamid.1","status":"failed","errors":[{"code":%d,"title":"x","error_subcode":%d}]}`, v.code, v.subcode)))
			is.NoErr(err)
			is.Equal(status2.Errors[0].Class(), row.Class)
		})
	}
}

func TestTheTableIsInOrderAndWithoutOverlap(t *testing.T) {
	is := is.New(t)
	is.True(len(Codes()) > 50)
	last := -1
	for _, row := range Codes() {
		if row.Subcode != 0 {
			continue
		}
		is.True(row.First > last)
		is.True(row.Last >= row.First)
		last = row.Last
	}
}

func TestEveryRowIsAskedForByATest(t *testing.T) {
	is := is.New(t)
	for _, v := range []int{192, 803, 2500, 200002} { // Graph's own, of no consequence
		is.Equal(Fault{Code: v}.Class(), Class{Code: errorcode.UpstreamError})
	}
	asked := map[int]bool{192: true, 803: true, 2500: true, 200002: true}
	for _, v := range verdicts {
		row, _ := Lookup(v.code, v.subcode)
		asked[row.First] = true
	}
	for _, row := range Codes() {
		is.True(asked[row.First])
	}
}

func TestCodesThatNeedAPauseSaySo(t *testing.T) {
	for code, wait := range map[int]time.Duration{
		131056: 4 * time.Second, 131057: time.Minute, 133015: 5 * time.Minute,
		134101: 10 * time.Minute, 132069: time.Hour, 131049: 24 * time.Hour, 133016: 72 * time.Hour, 131000: 0,
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) { is.New(t).Equal(Fault{Code: code}.Class().Wait, wait) })
	}
	is.New(t).Equal(Fault{Code: 1}.Class().Retries, 2)
}

func TestAnUnknownCodeIsAPlainFailure(t *testing.T) {
	is := is.New(t)
	for _, code := range []int{NoCode, 5, 199, 300, 131999, 140000, 1 << 40} {
		_, known := Lookup(code, 0)
		is.True(!known)
		is.Equal(Fault{Code: code, Subcode: 33}.Class(), Class{Code: "upstream_error"})
	}
}

func TestErrorsThatAreNotTheProvidersAreFinal(t *testing.T) {
	is := is.New(t)
	err := errors.New("disk full")
	is.Equal(IsTransient(err), false)
	is.Equal(IsTransient(nil), false)
	is.Equal(string(ClassOf(err).Code), "upstream_error")
	is.Equal(OutcomeOf(nil), Done)
	is.Equal(OutcomeOf(err), Unknown)
	is.True(!IsMissing(err))
}
