package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/matryer/is"

	"confab/storage/storagetest"
)

// openAPI is the description as the tests hold everybody to it.
type openAPI struct {
	doc      *openapi3.T
	router   routers.Router
	anywhere *openapi3.Operation // the errors that a path without an operation can answer
	bodies   *bodySchemas
}

// described loads openapi.json once. The file leaves the shapes of answers
// open, because a new field is no breaking change; here they are closed, so that
// no field goes out that the file does not have.
var described = sync.OnceValue(func() openAPI {
	for _, kind := range []string{"text/event-stream", "application/x-ndjson"} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.FileBodyDecoder)
	}
	var raw map[string]any
	if err := json.Unmarshal(openAPIDocument, &raw); err != nil {
		panic(err)
	}
	schemas := raw["components"].(map[string]any)["schemas"].(map[string]any)
	for name, schema := range schemas {
		if !isBody(name) {
			closeObjects(schema)
		}
	}
	closed, err := json.Marshal(raw)
	if err != nil {
		panic(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(closed)
	if err != nil {
		panic(err)
	}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		panic(err)
	}
	// Bodies are checked by bodySchemas. Headers and parameters are left, and for
	// 3.1 kin-openapi would compile the schema of each header of each answer.
	doc.OpenAPI = "3.0.3"
	anywhere := openapi3.NewResponses()
	for _, name := range []string{"Unauthorized", "NotFound", "MethodNotAllowed", "Forbidden", "TooManyRequests", "PaymentRequired", "BadRequest",
		"Conflict", "PayloadTooLarge", "UnprocessableEntity", "InternalError", "ServiceUnavailable"} {
		anywhere.Set(statusOf[name], doc.Components.Responses[name])
	}
	return openAPI{doc, router, &openapi3.Operation{Responses: anywhere}, newBodySchemas(closed)}
})

// statusOf are the statuses of the shared error responses.
var statusOf = map[string]string{
	"BadRequest": "400", "Unauthorized": "401", "PaymentRequired": "402", "Forbidden": "403", "NotFound": "404",
	"MethodNotAllowed": "405", "Conflict": "409", "PayloadTooLarge": "413", "UnprocessableEntity": "422",
	"TooManyRequests": "429", "InternalError": "500", "BadGateway": "502", "ServiceUnavailable": "503",
}

// isBody reports whether a schema is that of a request's body, by its name.
func isBody(name string) bool {
	return strings.HasPrefix(name, "New") || strings.HasSuffix(name, "Changes")
}

// conforming is a transport that fails the test when an answer is not as
// openapi.json has it, or when the server takes a request that it forbids.
type conforming struct {
	t     testing.TB
	next  http.RoundTripper
	extra *[]string
}

func (c conforming) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent []byte
	if req.Body != nil {
		var err error
		if sent, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(sent))
	}
	res, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(got))
	if err := described().Check(req, sent, res, got, *c.extra); err != nil {
		c.t.Errorf("%s %s -> %d is not as openapi.json says: %v", req.Method, req.URL, res.StatusCode, err)
	}
	return res, nil
}

// Check holds one exchange against the description.
func (d openAPI) Check(req *http.Request, sent []byte, res *http.Response, got []byte, extra []string) error {
	if res.StatusCode == http.StatusNoContent && req.Method == http.MethodOptions {
		return nil // a preflight request is the browser's, not the API's
	}
	in, err := d.input(req, sent)
	if err != nil {
		own := func(path string) bool { return strings.HasPrefix(req.URL.Path, path) }
		if slices.ContainsFunc(extra, own) && res.StatusCode < 400 {
			return nil
		}
		in.Route = &routers.Route{Spec: d.doc, Operation: d.anywhere}
	}
	headless := req.Method == http.MethodHead || res.StatusCode == http.StatusNotModified
	if headless && len(got) > 0 && res.Request != nil {
		return fmt.Errorf("it has a body: %s", got)
	}
	schema := d.schemaOf(in, res)
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: res.StatusCode, Header: res.Header, Body: io.NopCloser(bytes.NewReader(got)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, ExcludeResponseBody: headless || schema != ""},
	}
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		return err
	}
	if schema != "" && !headless {
		if err := d.bodies.Check(schema, got); err != nil {
			return err
		}
	}
	if err := checkRequestID(res.Header.Get("X-Request-Id"), got); err != nil {
		return err
	}
	if res.StatusCode < 400 { // what was taken must have been allowed
		return d.allows(in, sent)
	}
	return nil
}

// input prepares a request for kin-openapi, which knows neither HEAD nor our host.
func (d openAPI) input(req *http.Request, sent []byte) (*openapi3filter.RequestValidationInput, error) {
	copied := req.Clone(context.Background())
	copied.URL.Scheme, copied.URL.Host = "", ""
	copied.Body = io.NopCloser(bytes.NewReader(sent))
	if copied.Method == http.MethodHead {
		copied.Method = http.MethodGet
	}
	options := &openapi3filter.Options{
		AuthenticationFunc: func(_ context.Context, in *openapi3filter.AuthenticationInput) error {
			scheme, _, _ := strings.Cut(in.RequestValidationInput.Request.Header.Get("Authorization"), " ")
			if !strings.EqualFold(scheme, in.SecurityScheme.Scheme) {
				return fmt.Errorf("the scheme is %q", scheme)
			}
			return nil
		},
		SkipSettingDefaults: true,
	}
	in := &openapi3filter.RequestValidationInput{Request: copied, Options: options}
	if !strings.Contains(strings.ToLower(copied.URL.RawPath), "%2f") {
		copied.URL.RawPath = ""
	}
	route, params, err := d.router.FindRoute(copied)
	if err == nil && strings.Count("/v1"+route.Path, "/") != strings.Count(copied.URL.Path, "/") {
		err = routers.ErrPathNotFound // it overlooks slashes at the end
	}
	in.Route, in.PathParams = route, params
	return in, err
}

// refuses reports whether the description forbids a request.
func (d openAPI) refuses(method, path, body string) bool {
	req, _ := http.NewRequest(method, "/v1"+path, nil)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer x")
	in, err := d.input(req, []byte(body))
	return err != nil || d.allows(in, []byte(body)) != nil
}

// checkRequestID compares the header with the body, where the body has one.
func checkRequestID(header string, body []byte) error {
	var ids struct {
		RequestID string `json:"request_id"`
		Error     struct {
			RequestID string `json:"request_id"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &ids) != nil {
		return nil
	}
	if id := ids.RequestID + ids.Error.RequestID; id != "" && id != header {
		return fmt.Errorf("request_id is %s, X-Request-Id %s", id, header)
	}
	return nil
}

func TestTheConformanceLayerCatchesDrift(t *testing.T) {
	is := is.New(t)
	d := described()
	is.True(d.refuses("POST", "/labels", `{}`))
	is.True(d.refuses("GET", "/labels?limit=0", ""))
	is.True(!d.refuses("POST", "/labels", `{"name":"VIP","unknown":1}`))

	exchange := func(status int, body string) error {
		req, _ := http.NewRequest("GET", "/v1/health", nil)
		header := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"req_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"}}
		return d.Check(req, nil, &http.Response{StatusCode: status, Header: header}, []byte(body), nil)
	}
	good := `{"data":{"status":"ok","version":"1"},"request_id":"req_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"}`
	is.NoErr(exchange(200, good))
	is.True(exchange(202, good) != nil)                                                   // an undocumented status
	is.True(exchange(200, storagetest.Swap(t, good, `"ok"`, `"fine"`)) != nil)            // another value
	is.True(exchange(200, storagetest.Swap(t, good, `"data"`, `"more":1,"data"`)) != nil) // another field
	is.True(exchange(200, storagetest.Swap(t, good, "C9D", "C9E")) != nil)                // another request id
}

// closeObjects forbids properties that a schema does not list, in it and in every
// schema inside of it, unless it sets additionalProperties itself. So a field that is
// sent but not described fails the test.
func closeObjects(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, ok := s["properties"]; ok && s["additionalProperties"] == nil {
			s["additionalProperties"] = false
		}
		for _, part := range s {
			closeObjects(part)
		}
	case []any:
		for _, part := range s {
			closeObjects(part)
		}
	}
}
