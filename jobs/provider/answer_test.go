package provider

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestNoAnswerIsTakenForASuccessThatItIsNot(t *testing.T) {
	huge := `{"messages":[{"id":"wamid.1"}],"x":"` + strings.Repeat("y", answerLimit) + `"}`
	for _, test := range []struct {
		name      string
		status    int
		body      string
		code      string
		transient bool
		outcome   Outcome
	}{
		{"empty", 200, ``, "upstream_error", true, Unknown},
		{"a page", 200, `<html>hello</html>`, "upstream_error", true, Unknown},
		{"torn", 200, accepted[:60], "upstream_error", true, Unknown},
		{"followed by something", 200, accepted + `x`, "upstream_error", true, Unknown},
		{"an array", 200, `[]`, "upstream_error", true, Unknown},
		{"null", 200, `null`, "upstream_error", true, Unknown},
		{"empty object", 200, `{}`, "upstream_error", true, Unknown},
		{"no messages", 200, `{"messages":[]}`, "upstream_error", true, Unknown},
		{"null messages", 200, `{"messages":null}`, "upstream_error", true, Unknown},
		{"message without id", 200, `{"messages":[{}]}`, "upstream_error", true, Unknown},
		{"empty id", 200, `{"messages":[{"id":""}]}`, "upstream_error", true, Unknown},
		{"id of another kind", 200, `{"messages":[{"id":7}]}`, "upstream_error", true, Unknown},
		{"success of another call", 200, `{"success":true}`, "upstream_error", true, Unknown},
		{"no content", 204, ``, "upstream_error", true, Unknown},
		{"oversized", 200, huge, "upstream_error", true, Unknown},
		{"error in a 200", 200, `{"error":{"message":"(#131030) x","code":131030}}`, "recipient_unavailable", false, Refused},
		{"error beside a message", 200, `{"messages":[{"id":"wamid.1"}],"error":{"code":190}}`, "auth_expired", false, Refused},
		{"error that is a text", 200, `{"error":"no"}`, "upstream_error", false, Refused},
		{"server error without JSON", 502, `<html>Bad Gateway</html>`, "upstream_error", true, Unknown},
		{"server error, empty", 500, ``, "upstream_error", true, Unknown},
		{"server error with JSON but no error", 503, `{"a":1}`, "upstream_error", true, Unknown},
		{"server error, code unknown", 500, `{"error":{"code":99999999,"message":"?"}}`, "upstream_error", true, Refused},
		{"server error, known as final", 500, `{"error":{"code":131045}}`, "upstream_error", false, Refused},
		{"too many, without JSON", 429, `slow down`, "app_rate_limited", true, Refused},
		{"too many, code unknown", 429, `{"error":{"message":"slow down"}}`, "app_rate_limited", true, Refused},
		{"refusal without JSON", 404, `not found`, "upstream_error", true, Refused},
		{"refusal without code", 400, `{"error":{"message":"The parameter to is required."}}`, "upstream_error", false, Refused},
		{"refusal that calls itself transient", 400, `{"error":{"code":100,"is_transient":true}}`, "upstream_error", true, Refused},
		{"unknown refusal that calls itself transient", 400, `{"error":{"code":77777,"is_transient":true}}`, "upstream_error", true, Refused},
		{"null error", 400, `{"error":null}`, "upstream_error", true, Refused},
		{"oversized refusal", 400, huge, "upstream_error", true, Refused},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, _ := says(t, test.status, test.body)
			sent, err := c.Send(t.Context(), token, "1", []byte(`{}`), nil)
			failure(t, err, test.code, test.transient, test.outcome)
			is.New(t).Equal(sent, Sent{})
		})
	}
}

func TestAnAnswerOfUnknownLengthIsBoundedToo(t *testing.T) {
	c := play(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"messages":[{"id":"wamid.1"}],"x":"`)
		w.(http.Flusher).Flush()
		for range 40 {
			io.WriteString(w, strings.Repeat("y", answerLimit/32))
		}
	})
	_, err := c.Send(t.Context(), token, "1", []byte(`{}`), nil)
	failure(t, err, "upstream_error", true, Unknown)
}

func TestSimpleWritesNeedTheirSuccess(t *testing.T) {
	for _, test := range []struct {
		body      string
		transient bool
		outcome   Outcome
	}{
		{`{}`, true, Unknown},
		{`{"success":null}`, true, Unknown},
		{`{"success":"true"}`, true, Unknown},
		{`{"success":false}`, false, Refused},
	} {
		t.Run(test.body, func(t *testing.T) {
			c, _ := says(t, 200, test.body)
			failure(t, c.MarkRead(t.Context(), token, "1", "wamid.1", false), "upstream_error", test.transient, test.outcome)
		})
	}
}

func TestEverythingThatTheProviderSaysOfAFailureIsKept(t *testing.T) {
	is := is.New(t)
	c, _ := says(t, 400, `{"error":{"message":"Invalid parameter","type":"OAuthException","code":100,"error_subcode":2388046,
		"error_data":{"messaging_product":"whatsapp","details":"name is odd","blame_field_specs":[["name"],["components",0,"text"],[]]},
		"is_transient":false,"error_user_title":"Name Format is Incorrect","error_user_msg":"Use lower case.","fbtrace_id":"Az8or2yhqkZfEZ"}}`)
	_, err := c.CreateTemplate(t.Context(), token, "7", []byte(`{}`))

	e, ok := err.(*Error)
	is.True(ok)
	is.Equal(e.Op, "create template")
	is.Equal(e.Status, 400)
	is.Equal(e.Fault, Fault{
		Code: 100, Subcode: SubcodeTemplateNameFormat, Type: "OAuthException", Message: "Invalid parameter", Details: "name is odd",
		UserTitle: "Name Format is Incorrect", UserMessage: "Use lower case.",
		Blame: []string{"name", "components[0].text"}, TraceID: "Az8or2yhqkZfEZ",
	})
	is.Equal(err.Error(), "create template: HTTP 400, code 100/2388046: Invalid parameter: name is odd")
}

func TestErrorDataComesInMoreThanOneShape(t *testing.T) {
	for _, test := range []struct{ data, details, blame string }{
		{`"plain words"`, "plain words", ""},
		{`"{\"details\":\"inside\"}"`, "inside", ""},
		{`"{\"blame_field_specs\":[[\"name\"]]}"`, "", "name"},
		{`{"details":"inside"}`, "inside", ""},
		{`{"details":7}`, "", ""},
		{`[1,2]`, "", ""},
		{`null`, "", ""},
		{`"{torn"`, "", ""},
		{`{"blame_field_specs":"x"}`, "", ""},
	} {
		t.Run(test.data, func(t *testing.T) {
			is := is.New(t)
			var f Fault
			is.NoErr(f.UnmarshalJSON([]byte(`{"code":"100","error_data":` + test.data + `}`)))
			is.Equal(f.Code, 100) // also when quoted
			is.Equal(f.Details, test.details)
			is.Equal(strings.Join(f.Blame, " "), test.blame)
		})
	}
}

func TestTextsOfAFailureAreBounded(t *testing.T) {
	is := is.New(t)
	var f Fault
	is.NoErr(f.UnmarshalJSON([]byte(`{"message":"x` + strings.Repeat("é", maxTextBytes) + `"}`)))
	is.Equal(len(f.Message), maxTextBytes-1) // and no character is torn
	is.Equal(f.Code, NoCode)
}

func TestTheProviderMaySayHowLongToWait(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	usage := `{"102290129340398":[{"type":"whatsapp","call_count":100,"estimated_time_to_regain_access":15},{"estimated_time_to_regain_access":2}]}`
	for _, test := range []struct {
		name, retryAfter, usage string
		want                    time.Duration
	}{
		{"seconds", "30", "", 30 * time.Second},
		{"a date", "Sun, 15 Nov 2026 12:01:00 GMT", "", time.Minute},
		{"a date gone by", "Sun, 15 Nov 2026 11:00:00 GMT", "", 0},
		{"negative", "-5", "", 0},
		{"absurd", "99999999999", "", maxWait},
		{"words", "soon", "", 0},
		{"nothing", "", "", 0},
		{"usage", "", usage, 15 * time.Minute},
		{"both", "5", usage, 5 * time.Second},
		{"usage that cannot be read", "", "{", 0},
		{"usage that is absurd", "", `{"1":[{"estimated_time_to_regain_access":1e300}]}`, maxWait},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := http.Header{}
			h.Set("Retry-After", test.retryAfter)
			h.Set("X-Business-Use-Case-Usage", test.usage)
			is.New(t).Equal(requestedWait(h, now), test.want)
		})
	}
}

func TestTheLongerPauseWins(t *testing.T) {
	is := is.New(t)
	c := play(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "2")
		w.WriteHeader(400)
		fmt.Fprint(w, `{"error":{"code":131056}}`)
	})
	_, err := c.Send(t.Context(), token, "1", []byte(`{}`), nil)
	is.Equal(err.(*Error).RetryAfter, 2*time.Second)
	is.Equal(RetryAfter(err), 4*time.Second) // what the code is known to need
	is.Equal(RetryAfter(io.EOF), time.Duration(0))
}
