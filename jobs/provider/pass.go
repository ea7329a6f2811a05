package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// Answer is what the provider answered, as it came; but never with a token of ours in it. Its
// status is 0 if there was none.
type Answer struct {
	Status int
	Type   string // of the content
	Body   []byte
}

// keepAnswer keeps the answer of a call that wants it.
func (c *Client) keepAnswer(tok Token, rq call, res *http.Response, body []byte) {
	if rq.keep == nil {
		return
	}
	for _, secret := range c.secretsOf(tok, rq) {
		if secret != "" {
			body = bytes.ReplaceAll(body, []byte(secret), []byte(redacted))
		}
	}
	*rq.keep = Answer{res.StatusCode, res.Header.Get("Content-Type"), body}
}

// SendAsIs is Send for a body that a client of the provider wrote, with the answer as it came.
func (c *Client) SendAsIs(ctx context.Context, tok Token, phoneNumberID string, body []byte) (sent Sent, answer Answer, err error) {
	sent, err = c.send(ctx, tok, phoneNumberID, body, &answer)
	return sent, answer, err
}

// PassedCall is a call that a client of the provider makes through us.
type PassedCall struct {
	Method   string
	ID, Edge string
	Query    url.Values
	Body     []byte // JSON, when not empty
}

type passedAnswer struct{ envelope }

func (*passedAnswer) check() error { return nil }

// Pass makes a call of a client of the provider. The answer is there whenever the provider gave
// one, also with an error.
func (c *Client) Pass(ctx context.Context, tok Token, p PassedCall) (answer Answer, err error) {
	rq := call{
		op: "pass a call on", method: p.Method, id: p.ID, edge: p.Edge, query: p.Query, auth: bearer, limit: pageLimit, body: p.Body,
		reclassify: reclassifyMissing, keep: &answer,
	}
	err = c.do(ctx, tok, rq, new(passedAnswer))
	return answer, err
}

// PassMedia is UploadMedia with the answer as it came.
func (c *Client) PassMedia(ctx context.Context, tok Token, phoneNumberID string, f File) (id string, answer Answer, err error) {
	id, err = c.uploadMedia(ctx, tok, phoneNumberID, f, &answer)
	return id, answer, err
}

// Codes with which we refuse in the provider's place.
const (
	CodeMethod        = 1
	CodeService       = 2
	CodeCallLimit     = 4
	CodePermission    = 10
	CodeParameter     = codeInvalidParameter
	CodeToken         = 190
	CodePolicy        = 368
	CodeRateLimit     = 130429
	CodeAccessDenied  = 131005
	CodeLocked        = 131031
	CodeOptedOut      = 131050
	CodeNotRegistered = 133010
)

// titles are the provider's words for them.
var titles = map[int]string{
	CodeMethod:         "API Unknown",
	CodeService:        "Service temporarily unavailable",
	CodeCallLimit:      "Application request limit reached",
	CodePermission:     "Permission denied",
	CodeParameter:      "Invalid parameter",
	CodeToken:          "Invalid OAuth access token",
	CodePolicy:         "Temporarily blocked for policies violations",
	CodeRateLimit:      "Rate limit hit",
	CodeSomethingWrong: "Something went wrong",
	CodeAccessDenied:   "Access denied",
	CodeLocked:         "Account has been locked",
	CodeOptedOut:       "User has stopped marketing messages from your business",
	CodeNotRegistered:  "Account not registered",
}

// Refusal is an error of ours in the provider's shape.
type Refusal struct {
	Status, Code, Subcode int
	Message               string // "" for that of the code
	Details               string
	IsTransient           bool
	Trace                 string
}

// Answer is the refusal as the provider would answer it.
func (r Refusal) Answer() Answer {
	type data struct {
		Product string `json:"messaging_product"`
		Details string `json:"details"`
	}
	type wire struct {
		Message     string `json:"message"`
		Type        string `json:"type"`
		Code        int    `json:"code"`
		Data        data   `json:"error_data"`
		Subcode     int    `json:"error_subcode,omitempty"`
		IsTransient bool   `json:"is_transient"`
		Trace       string `json:"fbtrace_id"`
	}

	kind := "OAuthException"
	if r.Subcode == SubcodeMissingObject {
		kind = "GraphMethodException"
	}
	if r.Message == "" {
		r.Message = fmt.Sprintf("(#%d) %s", r.Code, titles[r.Code])
	}
	body, err := json.Marshal(map[string]wire{"error": {
		r.Message, kind, r.Code, data{theirProduct, r.Details}, r.Subcode, r.IsTransient, r.Trace,
	}})
	if err != nil {
		panic(err) // strings always encode
	}
	return Answer{r.Status, "application/json; charset=UTF-8", body}
}

// Accepted is the answer to a send whose id only a callback has told.
func Accepted(to, id string) Answer {
	contact := map[string]string{"input": to}
	if e164, ok := ParsePhone(to); ok {
		contact["wa_id"] = e164[1:]
	} else {
		contact["user_id"] = to
	}

	body, err := json.Marshal(struct {
		Product  string              `json:"messaging_product"`
		Contacts []map[string]string `json:"contacts"`
		Messages []map[string]string `json:"messages"`
	}{theirProduct, []map[string]string{contact}, []map[string]string{{"id": id}}})
	if err != nil {
		panic(err) // strings always encode
	}
	return Answer{http.StatusOK, "application/json; charset=UTF-8", body}
}
