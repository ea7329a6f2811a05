package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/julienschmidt/httprouter"

	"confab/storage"
)

// Handler answers one request that passed every check of its route.
type Handler func(*Request) (Reply, error)

// Route is one endpoint with its conditions.
type Route struct {
	Method string
	Path   string // relative to /v1, or to /console/api
	Handle Handler
	Needs  Needs
	// Find returns an error if the resource in the path does not exist. It runs before
	// the body is read, so a missing resource is reported before a bad body.
	Find func(*storage.Rx, *Request) error
	// Convert makes JSON of a body in another form, where the route takes one.
	Convert func(*http.Request, []byte) []byte
	// Finish makes the answer of what the handler replied, or of what it had replied to an
	// earlier request with the same Idempotency-Key.
	Finish func(*Request, Reply) (Reply, error)
	// Audit is what the audit log says of it.
	Audit AuditRule
	table tableParts // of a route that takes a table
}

// At makes a route.
func At(method, path string, handle Handler, needs Needs, find func(*storage.Rx, *Request) error) Route {
	return Route{Method: method, Path: path, Handle: handle, Needs: needs, Find: find}
}

// Needs are the conditions of a route. One of /v1 that is not Public has a scope, which keys
// need: one of Read to Platform, or AnyScope.
type Needs uint32

const (
	Public      Needs = 1 << iota // no key
	Creates                       // answers 201: refused while the subscription is inactive
	Customers                     // a plan that includes end-customers
	Uploads                       // also takes a file, as a multipart body
	NamedAction                   // ends in a name where its sibling paths have an id
	Agents                        // in the console agents may do it too, and not only admins
	Quiet                         // browsers call it all the time: in no log, but for failures
	Sheets                        // its file is a CSV, and no media
	NamedInBody                   // a DELETE whose body names what is deleted

	Read      // scope: every GET, events and streams
	Send      // scope: messages, receipts and media
	Inbox     // scope: writes to conversations, contacts, labels and quick replies
	Campaigns // scope: writes to templates and broadcasts
	Webhooks  // scope: writes to subscriptions, their secrets, tests and replays
	Platform  // scope: writes to customers, setup links and numbers
	AnyScope  // every key may do it
	OfNumbers // has no number in its path, but keys that are bound to numbers see theirs in it
)

func (rt *Route) Has(n Needs) bool { return rt.Needs&n != 0 }

// Scope is the name of the scope that keys need for the route; "" if they need none.
func (rt *Route) Scope() string {
	return scopes[rt.Needs&(Read|Send|Inbox|Campaigns|Webhooks|Platform)]
}

var scopes = map[Needs]string{
	Read: storage.ScopeRead, Send: storage.ScopeSend, Inbox: storage.ScopeInbox,
	Campaigns: storage.ScopeCampaigns, Webhooks: storage.ScopeWebhooks, Platform: storage.ScopePlatform,
}

// isOfNumber reports whether the route is one of the number in its path.
func (rt *Route) isOfNumber() bool { return strings.IndexByte(rt.Path, ':') == 1 }

// Methods are all that any route uses, in the order of an Allow header.
var Methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}

// Table finds the route of a request. Its routes are spread over two routers, because
// httprouter cannot hold /:phone_number_id beside /labels. The routers are only used for
// lookups: their own redirects and errors would not be in the API's envelope.
type Table struct {
	organization *httprouter.Router  // paths of the organization
	number       *httprouter.Router  // paths of one business number
	publicPaths  []string            // paths that need no key
	words        map[string]struct{} // of the paths, which logs may show

	// Fallback answers what no route is for; nil for the usual 404 and 405.
	Fallback *Route
}

// NewTable makes the table of some routes.
func NewTable(routes []Route) *Table {
	t := &Table{organization: httprouter.New(), number: httprouter.New(), words: wordsOf(routes)}
	places := make(map[string]*place)
	for _, rt := range routes {
		path, only := rt.Path, ""
		if rt.Has(NamedAction) {
			path, only = rt.routerPath()
		}

		at := places[rt.Method+path]
		if at == nil {
			at = &place{named: make(map[string]*Route)}
			places[rt.Method+path] = at
			router := t.routerOf(rt.Path)
			router.Handle(rt.Method, path, at.setRoute)
			if rt.Method == http.MethodGet {
				router.Handle(http.MethodHead, path, at.setRoute)
			}
		}

		if only == "" {
			at.other = &rt
		} else {
			at.named[only] = &rt
		}
		if rt.Has(Public) {
			t.publicPaths = append(t.publicPaths, rt.Path)
		}
	}
	return t
}

// place is what the router holds under a path: a route, and named actions in the place
// of its id.
type place struct {
	named map[string]*Route
	other *Route // nil if there are only named ones
}

// setRoute is the router's handle. It only records the route; pipeline.go runs the
// handler.
func (p *place) setRoute(w http.ResponseWriter, _ *http.Request, params httprouter.Params) {
	rt := p.other
	if named := p.named[params.ByName("id")]; named != nil {
		rt = named
	}
	if rt != nil {
		r := w.(*Exchange).Request
		r.route, r.params = rt, params
	}
}

// routerPath is the path under which the router holds a named action: with :id in the
// place of the name. httprouter cannot hold /contacts/bulk_label beside
// /contacts/:id/labels.
func (rt *Route) routerPath() (path, only string) {
	cut := strings.LastIndexByte(rt.Path, '/') + 1
	return rt.Path[:cut] + ":id", rt.Path[cut:]
}

// routerOf chooses the router of a path. A business number is all digits and no
// resource name starts with a digit, so the first character decides.
func (t *Table) routerOf(path string) *httprouter.Router {
	if len(path) > 1 && ('0' <= path[1] && path[1] <= '9' || path[1] == ':') {
		return t.number
	}
	return t.organization
}

// match finds the request's route. Without one it is 404, or 405 if the path has other
// methods.
func (t *Table) match(x *Exchange) error {
	path := x.Request.path
	if strings.Contains(strings.ToLower(x.Request.HTTP.URL.RawPath), "%2f") {
		path = "" // an encoded slash is part of a name, and no name here has one
	}

	if t.lookUp(x, x.Request.HTTP.Method, path) {
		return nil
	}
	if t.Fallback != nil {
		x.Request.route = t.Fallback
		return nil
	}

	// Not found, or found with other methods, which the answer must list.
	var allow []string
	for _, method := range Methods {
		if t.lookUp(x, method, path) {
			allow = append(allow, method)
			x.Request.route = nil
		}
	}
	if len(allow) == 0 {
		return Fail(ResourceNotFound, "This path does not exist.")
	}

	list := strings.Join(allow, ", ")
	return &Error{Code: MethodNotAllowed, Message: "This path accepts " + list + ".", Allow: list}
}

// lookUp finds the route of a method and path, and sets it in the request.
func (t *Table) lookUp(x *Exchange, method, path string) bool {
	if setRoute, params, _ := t.routerOf(path).Lookup(method, path); setRoute != nil {
		setRoute(x, x.Request.HTTP, params)
	}
	return x.Request.route != nil
}

// isPublic reports whether a path needs no key, with any method.
func (t *Table) isPublic(path string) bool {
	return slices.Contains(t.publicPaths, path)
}
