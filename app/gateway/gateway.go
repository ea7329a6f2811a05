// Package gateway speaks the provider's own dialect to the provider's own clients, under /graph:
// the base URL and the token, which is an API key of ours, are all that a client changes.
//
// It is no second way to do anything. Requests take the way of package rest, with its checks,
// limits and logs; a message is accepted by the steps of app/api and sent by the queue; everything
// else is passed on to the provider with the account's own token. What the provider answers is
// answered as it came. Only our own refusals are written here, in the provider's shape
// (refusals.go).
//
//	gateway.go   the table of routes, and whose token it is
//	objects.go   what an id in a path stands for; numbers, templates, subscriptions
//	messages.go  reads and accepts a message, or a receipt
//	wait.go      waits for what becomes of a message
//	media.go     files
package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/app/limit"
	"confab/jobs"
	"confab/jobs/provider"
)

// Path is where everything of the gateway is below.
const Path = "/graph"

// Clients that wait for an answer are bounded in number: all, and those of one organization.
const (
	maxWaiting      = 4096
	maxWaitingOfOne = 2048
)

// Options configure a Server.
type Options struct {
	API     *api.Server
	Answers *jobs.Answers
	// Wait is how long a client waits for the answer to its message.
	Wait time.Duration
	// PublicURL begins the URLs of files.
	PublicURL string
	AppID     string
	// Draining is closed when the server begins to stop.
	Draining <-chan struct{}
}

// Server answers everything under /graph.
type Server struct {
	Options
	table   *rest.Table
	waiting *limit.Semaphore
	urlKey  []byte // signs the URLs of files
}

// New makes a server.
func New(o Options) *Server {
	g := &Server{
		Options: o,
		waiting: limit.NewSemaphore(limit.SemaphoreOptions{Total: maxWaiting, Share: maxWaitingOfOne}),
		urlKey:  o.API.DB.DeriveKey("gateway media"),
	}
	g.table = rest.NewTable(g.routes())
	g.table.Fallback = &rest.Route{Path: "/", Needs: rest.AnyScope | rest.OfNumbers, Find: notOffered}
	return g
}

// routes is the table of what is offered. What an id stands for decides too: see on.
func (g *Server) routes() []rest.Route {
	send := rest.At("POST", "/:object/messages", g.postMessage, rest.Send, on(number))
	send.Convert, send.Finish = asJSON, g.finish

	return []rest.Route{
		send,
		rest.At("POST", "/:object/media", g.uploadMedia, rest.Send|rest.Uploads|rest.Creates, on(number)),
		rest.At("GET", "/media/:id", g.downloadMedia, rest.Read|rest.OfNumbers, nil),

		rest.At("GET", "/:object", g.getObject, rest.Read, on(number, media, template)),
		converted(rest.At("POST", "/:object", g.writeTemplates, rest.Campaigns, on(template))).
			Audited("template.updated", "template", "object"),
		rest.At("DELETE", "/:object", g.deleteMedia, rest.Send, on(media)).Audited("media.deleted", "media", "object"),

		rest.At("GET", "/:object/phone_numbers", g.listNumbers, rest.Read, on(business)),
		rest.At("GET", "/:object/message_templates", g.listTemplates, rest.Read, on(business)),
		rest.At("GET", "/:object/message_templates/:id", g.passRead, rest.Read, findTemplate),
		converted(rest.At("POST", "/:object/message_templates", g.createTemplate, rest.Campaigns|rest.Creates, on(business))).
			Audited("template.created", "template", ""),
		rest.At("DELETE", "/:object/message_templates", g.deleteTemplates, rest.Campaigns, on(business)).
			Audited("template.deleted", "template", ""),

		rest.At("GET", "/:object/subscribed_apps", g.listSubscribedApps, rest.Read, on(business)),
		converted(rest.At("POST", "/:object/subscribed_apps", g.subscribeApp, rest.AnyScope, on(business))),
		rest.At("DELETE", "/:object/subscribed_apps", succeed, rest.AnyScope, on(business)),
	}
}

// converted is a route that takes forms too.
func converted(rt rest.Route) rest.Route {
	rt.Convert = asJSON
	return rt
}

// call is what the gateway knows of a request besides what package rest does.
type call struct {
	kind   kind
	permit *limit.Permit
	await
}

type callKey struct{}

func callOf(r *rest.Request) *call { return r.HTTP.Context().Value(callKey{}).(*call) }

// version is the first part of a path that names a version, which may be absent.
var version = regexp.MustCompile(`^/v[0-9]{1,3}\.[0-9]{1,2}(?:/|$)`)

// ServeHTTP answers one request under /graph.
func (g *Server) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	prefix := Path
	if found := version.FindString(strings.TrimPrefix(hr.URL.Path, Path)); found != "" {
		prefix += strings.TrimSuffix(found, "/")
	}

	c := new(call)
	defer c.release()
	hr = withToken(hr.WithContext(context.WithValue(hr.Context(), callKey{}, c)))
	g.API.Serve(w, &rest.Request{HTTP: hr, Prefix: prefix, Table: g.table, Refuse: refuse})
}

func (c *call) release() {
	if c.leave != nil {
		c.leave()
	}
	if c.permit != nil {
		c.permit.Release()
	}
}

const tokenName = "access_token"

// tokenWithin is how much of a body is looked through for a token, before it is known whose it is.
const tokenWithin = 64 << 10

// withToken puts a token that comes in the query or in the body where all others come.
func withToken(hr *http.Request) *http.Request {
	if len(hr.Header.Values("Authorization")) > 0 {
		return hr
	}

	token := hr.URL.Query().Get(tokenName)
	if token == "" && hr.Body != nil && hr.Body != http.NoBody {
		from := bufio.NewReaderSize(hr.Body, tokenWithin)
		begin, _ := from.Peek(tokenWithin)
		token = tokenIn(hr.Header.Get("Content-Type"), begin)
		hr.Body = struct {
			io.Reader
			io.Closer
		}{from, hr.Body}
	}

	if token != "" {
		hr.Header = hr.Header.Clone()
		hr.Header.Set("Authorization", "Bearer "+token)
	}
	return hr
}

// tokenIn finds the token in the beginning of a body, "" if there is none.
func tokenIn(contentType string, begin []byte) string {
	kind, attributes, _ := mime.ParseMediaType(contentType)
	switch trimmed := bytes.TrimSpace(begin); {
	case kind == "multipart/form-data":
		return tokenPart(multipart.NewReader(bytes.NewReader(begin), attributes["boundary"]))
	case bytes.HasPrefix(trimmed, []byte("{")):
		return tokenMember(json.NewDecoder(bytes.NewReader(trimmed)))
	default:
		form, _ := url.ParseQuery(string(trimmed))
		return form.Get(tokenName)
	}
}

// tokenMember finds the token in a JSON object, which may be cut off.
func tokenMember(object *json.Decoder) (token string) {
	_, err := object.Token() // the brace
	for err == nil && object.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = object.Token(); err == nil {
			err = object.Decode(&value)
		}

		if err == nil && name == tokenName {
			_ = json.Unmarshal(value, &token) // stays empty if it is no text
			return token
		}
	}
	return ""
}

// tokenPart finds the token in the parts of a form, which may be cut off.
func tokenPart(form *multipart.Reader) string {
	for {
		part, err := form.NextPart()
		if err != nil {
			return ""
		}
		if part.FormName() == tokenName {
			text, _ := io.ReadAll(part) // what is there of it
			return string(text)
		}
	}
}

// asJSON makes JSON of a form, in which objects and lists are JSON themselves. The parameters of
// the query count where the body does not have them. What is neither stays as it is.
func asJSON(hr *http.Request, raw []byte) []byte {
	form := url.Values{}
	kind, attributes, _ := mime.ParseMediaType(hr.Header.Get("Content-Type"))
	trimmed := bytes.TrimSpace(raw)
	body := map[string]json.RawMessage{}

	switch {
	case kind == "multipart/form-data":
		read, err := multipart.NewReader(bytes.NewReader(raw), attributes["boundary"]).ReadForm(rest.MaxBody)
		if err != nil {
			return raw
		}
		form = read.Value
	case bytes.HasPrefix(trimmed, []byte("{")):
		if hr.URL.RawQuery == "" || json.Unmarshal(trimmed, &body) != nil {
			return raw
		}
	case len(trimmed) > 0 && kind == "application/x-www-form-urlencoded":
		form, _ = url.ParseQuery(string(trimmed))
	case len(trimmed) > 0:
		return raw
	}

	return withParameters(trimmed, body, form, hr.URL.Query())
}

// parameter is a parameter as JSON: an object or a list as it is, all else a text. A tag is a text,
// whatever it says.
func parameter(name, value string) json.RawMessage {
	first := strings.TrimSpace(value)
	isNested := strings.HasPrefix(first, "{") || strings.HasPrefix(first, "[")
	if isNested && name != provider.TagMember && json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	text, _ := json.Marshal(value)
	return text
}

// withParameters adds parameters to a JSON object, those that are not in it yet.
func withParameters(object []byte, has map[string]json.RawMessage, sources ...url.Values) []byte {
	more := map[string]json.RawMessage{}
	for _, source := range sources {
		for name, values := range source {
			name = strings.TrimSuffix(name, "[]")
			if has[name] != nil || more[name] != nil || name == tokenName || name == proofName {
				continue
			}
			more[name] = parameter(name, values[len(values)-1])
		}
	}

	added, _ := json.Marshal(more)
	switch {
	case len(has) == 0:
		return added
	case len(more) == 0:
		return object
	}
	return append(append(added[:len(added)-1], ','), bytes.TrimPrefix(object, []byte("{"))...)
}
