package simulator

import (
	"fmt"
	"net/http"
	"testing"

	"confab/jobs/provider"
)

// providerCodes is the table of the provider's codes: its HTTP status, and
// whether a send that meets it fails by callback (A) or in the answer.
var providerCodes = []struct {
	code, status int
	async        bool
}{
	{0, 401, false}, {1, 400, false}, {2, 503, false}, {3, 500, false}, {4, 400, false}, {10, 403, false},
	{33, 400, false}, {100, 400, false}, {104, 400, false}, {190, 401, false}, {200, 403, false}, {299, 403, false},
	{368, 403, false}, {613, 400, false}, {80007, 400, false}, {80008, 400, false},
	{130403, 400, false}, {130429, 400, false}, {130472, 400, true}, {130497, 403, false},
	{131000, 500, false}, {131005, 403, false}, {131008, 400, false}, {131009, 400, false}, {131016, 500, false},
	{131020, 400, false}, {131041, 400, false}, {131021, 400, false}, {131026, 400, true}, {131030, 400, false},
	{131031, 403, false}, {131037, 400, false}, {131042, 400, true}, {131044, 400, true}, {131043, 0, true},
	{131045, 500, false}, {131047, 400, true}, {131048, 400, false}, {131049, 400, true}, {131050, 400, true},
	{131051, 400, false}, {131052, 400, true}, {131053, 400, false}, {131055, 400, false}, {131056, 400, false},
	{131057, 500, false}, {131060, 0, true}, {131062, 400, false}, {131063, 400, false}, {131064, 400, false},
	{131201, 400, false}, {131215, 400, false},
	{132000, 400, false}, {132001, 404, false}, {132005, 400, false}, {132007, 400, false}, {132008, 400, false},
	{132012, 400, false}, {132018, 400, false}, {132015, 400, false}, {132016, 400, false}, {132068, 400, false},
	{132069, 400, false}, {133000, 500, false}, {133004, 503, false}, {133005, 400, false}, {133006, 400, false},
	{133008, 400, false}, {133009, 400, false}, {133010, 400, false}, {133015, 400, false}, {133016, 400, false},
	{134011, 400, false}, {134100, 400, false}, {134101, 400, false}, {134102, 500, false}, {135000, 400, false},
	{136024, 400, false}, {136025, 400, false}, {137000, 0, true}, {138000, 400, false}, {139000, 400, false},
	{147001, 400, false}, {147005, 400, false},
}

func TestEveryCodeOfTheProviderComesByMagicRecipient(t *testing.T) {
	b := newBench(t)
	b.settings(func(set *Settings) { set.ServiceWindow = true }) // which must not matter
	for _, tt := range providerCodes {
		t.Run(fmt.Sprint(tt.code), func(t *testing.T) {
			is := b.New(t)
			r := b.text(fmt.Sprintf("+1999000%06d", tt.code))
			if tt.async {
				is.Equal(r.status, http.StatusOK)
				st := b.app.next().statusOf(t)
				is.Equal(st.text("status"), "failed")
				is.Equal(st.text("id"), b.sentID(r))
				e := asObject(st.list("errors")[0])
				is.Equal(e.text("code"), fmt.Sprint(tt.code))
				is.Equal(e.text("title"), e.text("message")) // without a prefix
				is.True(e.child("error_data").text("details") != "")
				return
			}
			is.Equal(r.status, tt.status)
			is.Equal(r.err().text("code"), fmt.Sprint(tt.code))
			is.True(r.err().text("message") != "")
			if tt.code >= 130000 {
				is.Equal(r.err().child("error_data").text("messaging_product"), "whatsapp")
			}
		})
	}
	b.Equal(len(b.app.hooks), 0) // a refusal makes no callback
}

func TestEveryCodeCanBeReportedByCallbackAfterA200(t *testing.T) {
	b := newBench(t)
	for _, tt := range providerCodes {
		b.sim("POST", "/faults", object{"kind": "error_code", "code": tt.code, "async": true})
		b.sentID(b.text("16505551234"))
		st := b.app.next().statusOf(t)
		b.Equal(st.text("status"), "failed")
		b.Equal(asObject(st.list("errors")[0]).text("code"), fmt.Sprint(tt.code))
	}
}

func TestNumbersThatOnlyLookMagicAreOrdinary(t *testing.T) {
	b := newBench(t)
	for _, to := range []string{"+15550001111", "+1999000999999", "+1999001131026", "000131026"} {
		_, magic := magicCode(digits(to))
		b.True(!magic) // to
	}
	code, magic := magicCode("1999000000190")
	b.True(magic)
	b.Equal(code, 190)
}

func TestCodesOfOtherCallsComeByFault(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct{ code, status, wire, subcode int }{
		{192, 400, 192, 0}, {803, 404, 803, 0}, {2500, 400, 2500, 0}, {200002, 400, 200002, 0},
		{2388019, 400, 100, 2388019}, {2388293, 400, 100, 2388293}, {2494100, 400, 100, 2494100}, {2593107, 400, 100, 2593107}, {2593109, 400, 100, 2593109},
	} {
		b.sim("POST", "/faults", object{"kind": "error_code", "code": tt.code, "endpoint": "templates"})
		r := b.graph("GET", "/"+b.number.WABAID+"/message_templates", nil)
		b.Equal(r.status, tt.status)
		b.Equal(r.err().text("code"), fmt.Sprint(tt.wire))
		subcode, _ := r.err().integer("error_subcode")
		b.Equal(subcode, int64(tt.subcode))
	}
}

func TestTheClientKnowsEachCodeAsItIsPlayed(t *testing.T) {
	b := newBench(t)
	played := func(code int) {
		o, _ := lookupCode(code)
		row, known := provider.Lookup(code, 0)
		b.True(known)
		b.True(row.HTTP == 0 || row.HTTP == o.status)
		b.Equal(row.Arrival == provider.InCallback, o.async)
	}
	for code := range outcomes {
		played(code)
	}
	for _, r := range ranges {
		played(r.low)
		played(r.high)
	}
	for _, row := range provider.Codes() {
		b.True(knownCode(row.First) && knownCode(row.Last)) // and each that it knows can be had
	}
}
