package provider

import (
	"cmp"
	"context"
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

// PassedCall is a call that a client of the provider makes through us.
type PassedCall struct {
	Method   string
	ID, Edge string
	Query    url.Values
	Body     []byte // JSON, when not empty
}

// Pass makes a call of a client of the provider. The answer is there whenever the provider gave
// one, also with an error.
func (c *Client) Pass(ctx context.Context, tok Token, p PassedCall) (answer Answer, err error) {
	rq := call{
		op: "pass a call on", method: p.Method, id: p.ID, edge: p.Edge, query: p.Query, auth: bearer, limit: pageLimit, body: p.Body,
		reclassify: reclassifyMissing, keep: &answer,
	}
	err = c.do(ctx, tok, rq, new(envelope))
	return answer, err
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

// titles are the words for them that differ from those of their rows.
var titles = map[int]string{
	CodeService:    "Service temporarily unavailable",
	CodeCallLimit:  "Application request limit reached",
	CodePermission: "Permission denied",
	CodeToken:      "Invalid OAuth access token",
	CodeOptedOut:   "User has stopped marketing messages from your business",
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
	kind := "OAuthException"
	if r.Subcode == SubcodeMissingObject {
		kind = "GraphMethodException"
	}
	if r.Message == "" {
		row, _ := Lookup(r.Code, 0)
		r.Message = fmt.Sprintf("(#%d) %s", r.Code, cmp.Or(titles[r.Code], row.Title))
	}

	refused := map[string]any{
		"message": r.Message, "type": kind, "code": r.Code, "is_transient": r.IsTransient, "fbtrace_id": r.Trace,
		"error_data": map[string]string{"messaging_product": theirProduct, "details": r.Details},
	}
	if r.Subcode != 0 {
		refused["error_subcode"] = r.Subcode
	}
	return Answer{r.Status, answerType, encode(map[string]any{"error": refused})}
}

const answerType = "application/json; charset=UTF-8"

// Accepted is the answer to a send whose id only a callback has told.
func Accepted(to, id string) Answer {
	contact := map[string]string{"input": to}
	if e164, ok := ParsePhone(to); ok {
		contact["wa_id"] = e164[1:]
	} else {
		contact["user_id"] = to
	}

	return Answer{http.StatusOK, answerType, encode(map[string]any{
		"messaging_product": theirProduct, "contacts": []any{contact}, "messages": []any{map[string]string{"id": id}},
	})}
}
