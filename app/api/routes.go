package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/julienschmidt/httprouter"

	"confab/storage"
)

// handler answers one request that passed every check of its route.
type handler func(*request) (reply, error)

// route is one endpoint with its conditions.
type route struct {
	method string
	path   string // relative to /v1, or to /console/api
	handle handler
	needs  needs
	// find returns an error if the resource in the path does not exist. It runs before
	// the body is read, so a missing resource is reported before a bad body.
	find func(*storage.Rx, *request) error
}

// needs are the conditions of a route.
type needs uint16

const (
	public      needs = 1 << iota // no key
	creates                       // answers 201: refused while the subscription is inactive
	customers                     // a plan that includes end-customers
	uploads                       // also takes a file, as a multipart body
	namedAction                   // ends in a name where its sibling paths have an id
	tables                        // takes much: JSON of 10 MiB, or a multipart body with a CSV file
	agents                        // in the console agents may do it too, and not only admins
	quiet                         // browsers call it all the time: in no log, but for failures
	sheets                        // its file is a CSV, and no media
)

func (rt *route) has(n needs) bool { return rt.needs&n != 0 }

// routes is the table of the API: one line for each endpoint. In the console the same
// endpoints are below /console/api/v1, for people instead of keys.
func (s *Server) routes() []route {
	return []route{
		{"GET", "/health", s.getHealth, public, nil},
		{"GET", "/openapi.json", s.getOpenAPI, public, nil},
		{"GET", "/me", s.getMe, agents, nil},

		{"GET", "/labels", s.listLabels, agents, nil},
		{"POST", "/labels", s.createLabel, creates, nil},
		{"GET", "/labels/:id", s.getLabel, agents, nil},
		{"PATCH", "/labels/:id", s.updateLabel, 0, exists(labelIn)},
		{"DELETE", "/labels/:id", s.deleteLabel, 0, nil},

		{"GET", "/quick_replies", s.listQuickReplies, agents, nil},
		{"POST", "/quick_replies", s.createQuickReply, agents | creates, nil},
		{"GET", "/quick_replies/:id", s.getQuickReply, agents, nil},
		{"PATCH", "/quick_replies/:id", s.updateQuickReply, agents, exists(quickReplyIn)},
		{"DELETE", "/quick_replies/:id", s.deleteQuickReply, agents, nil},

		{"GET", "/accounts", s.listAccounts, agents, nil},
		{"POST", "/:phone_number_id/register", s.registerNumber, 0, nil},

		{"GET", "/webhook_subscriptions", s.listSubscriptions, 0, nil},
		{"POST", "/webhook_subscriptions", s.createSubscription, creates, nil},
		{"GET", "/webhook_subscriptions/:id", s.getSubscription, 0, nil},
		{"PATCH", "/webhook_subscriptions/:id", s.updateSubscription, 0, exists(subscriptionIn)},
		{"DELETE", "/webhook_subscriptions/:id", s.deleteSubscription, 0, nil},
		{"POST", "/webhook_subscriptions/:id/secrets", s.createSecret, creates, exists(subscriptionIn)},
		{"DELETE", "/webhook_subscriptions/:id/secrets/:secret_id", s.deleteSecret, 0, nil},
		{"POST", "/webhook_subscriptions/:id/test", s.testSubscription, 0, exists(subscriptionIn)},
		{"GET", "/webhook_subscriptions/:id/stats", s.getSubscriptionStats, 0, exists(subscriptionIn)},

		{"GET", "/webhook_deliveries", s.listDeliveries, 0, nil},
		{"POST", "/webhook_deliveries/bulk_replay", s.bulkReplayDeliveries, namedAction, nil},
		{"GET", "/webhook_deliveries/:id", s.getDelivery, 0, nil},
		{"GET", "/webhook_deliveries/:id/attempts", s.listAttempts, 0, nil},
		{"POST", "/webhook_deliveries/:id/replay", s.replayDelivery, 0, exists(deliveryIn)},

		{"GET", "/events", s.listEvents, 0, nil},
		{"GET", "/events/stream", s.streamEvents, namedAction, nil},
		{"GET", "/events/:id", s.getEvent, 0, nil},

		{"GET", "/customers", s.listCustomers, customers, nil},
		{"POST", "/customers", s.createCustomer, creates | customers, nil},
		{"GET", "/customers/:id", s.getCustomer, customers, nil},
		{"PATCH", "/customers/:id", s.updateCustomer, customers, exists(customerIn)},
		{"DELETE", "/customers/:id", s.archiveCustomer, customers, nil},
		{"GET", "/customers/:id/setup_links", s.listSetupLinks, customers, exists(customerIn)},
		{"POST", "/customers/:id/setup_links", s.createSetupLink, creates | customers, exists(customerIn)},
		{"GET", "/customers/:id/setup_links/:setup_link_id", s.getSetupLink, customers, nil},
		{"PATCH", "/customers/:id/setup_links/:setup_link_id", s.updateSetupLink, customers, exists(setupLinkIn)},
		{"DELETE", "/customers/:id/setup_links/:setup_link_id", s.revokeSetupLink, customers, nil},
		{"DELETE", "/customers/:id/whatsapp_accounts/:phone_number_id", s.disconnectAccount, customers, nil},

		{"GET", "/:phone_number_id/messages", s.listMessages, agents, nil},
		{"POST", "/:phone_number_id/messages", s.createMessage, agents, nil},
		{"GET", "/:phone_number_id/messages/:id", s.getMessage, agents, nil},
		{"DELETE", "/:phone_number_id/messages/:id", s.cancelMessage, agents, nil},
		{"GET", "/:phone_number_id/messages/:id/media", s.getMessageMedia, agents, nil},

		{"GET", "/:phone_number_id/conversations", s.listConversations, agents, nil},
		{"GET", "/:phone_number_id/conversations/:id", s.getConversation, agents, nil},
		{"PATCH", "/:phone_number_id/conversations/:id", s.updateConversation, agents, exists(conversationIn)},
		{"POST", "/:phone_number_id/conversations/:id/labels", s.attachToConversation, agents, exists(conversationIn)},
		{"DELETE", "/:phone_number_id/conversations/:id/labels/:label_id", s.detachFromConversation, agents, nil},

		{"GET", "/:phone_number_id/contacts", s.listContacts, agents, nil},
		{"POST", "/:phone_number_id/contacts", s.createContact, agents | creates, nil},
		{"GET", "/:phone_number_id/contacts/:id", s.getContact, agents, nil},
		{"PATCH", "/:phone_number_id/contacts/:id", s.updateContact, agents, exists(contactIn)},
		{"DELETE", "/:phone_number_id/contacts/:id", s.deleteContact, 0, nil},
		{"POST", "/:phone_number_id/contacts/bulk_label", s.bulkLabelContacts, agents | namedAction, nil},
		{"POST", "/:phone_number_id/contacts/:id/labels", s.attachToContact, agents, exists(contactIn)},
		{"DELETE", "/:phone_number_id/contacts/:id/labels/:label_id", s.detachFromContact, agents, nil},
		{"GET", "/:phone_number_id/contacts.csv", s.exportContacts, 0, nil},
		{"POST", "/:phone_number_id/contact_imports", s.importContacts, uploads | sheets, nil},
		{"GET", "/:phone_number_id/contact_imports/:id", s.getContactImport, 0, nil},

		{"GET", "/:phone_number_id/broadcasts", s.listBroadcasts, 0, nil},
		{"POST", "/:phone_number_id/broadcasts", s.createBroadcast, creates | tables, nil},
		{"GET", "/:phone_number_id/broadcasts/:id", s.getBroadcast, 0, nil},
		{"POST", "/:phone_number_id/broadcasts/:id/pause", s.pauseBroadcast, 0, exists(broadcastIn)},
		{"POST", "/:phone_number_id/broadcasts/:id/resume", s.resumeBroadcast, 0, exists(broadcastIn)},
		{"POST", "/:phone_number_id/broadcasts/:id/cancel", s.cancelBroadcast, 0, exists(broadcastIn)},
		{"GET", "/:phone_number_id/broadcasts/:id/recipients", s.listBroadcastRecipients, 0, nil},
		{"GET", "/:phone_number_id/broadcasts/:id/recipients.csv", s.exportBroadcastRecipients, 0, nil},

		{"GET", "/:phone_number_id/templates", s.listTemplates, agents, nil},
		{"POST", "/:phone_number_id/templates", s.createTemplate, creates, nil},
		{"POST", "/:phone_number_id/templates/sync", s.syncTemplates, 0, nil},
		{"GET", "/:phone_number_id/templates/:name", s.getTemplate, agents, nil},
		{"PATCH", "/:phone_number_id/templates/:name", s.updateTemplate, 0, exists(templateIn)},

		{"POST", "/:phone_number_id/media", s.createMedia, agents | creates | uploads, nil},
		{"GET", "/:phone_number_id/media/:id", s.getMedia, agents, nil},
		{"DELETE", "/:phone_number_id/media/:id", s.deleteMedia, 0, nil},
	}
}

// methods are all that any route uses, in the order of an Allow header.
var methods = []string{"GET", "HEAD", "POST", "PATCH", "DELETE"}

// table finds the route of a request. Its routes are spread over two routers, because
// httprouter cannot hold /:phone_number_id beside /labels. The routers are only used for
// lookups: their own redirects and errors would not be in the API's envelope.
type table struct {
	organization *httprouter.Router // paths of the organization
	number       *httprouter.Router // paths of one business number
	publicPaths  []string           // paths that need no key
}

// mount makes routes the table of /v1.
func (s *Server) mount(routes []route) { s.v1 = newTable(routes) }

func newTable(routes []route) *table {
	t := &table{organization: httprouter.New(), number: httprouter.New()}
	places := make(map[string]*place)
	for _, rt := range routes {
		path, only := rt.path, ""
		if rt.has(namedAction) {
			path, only = rt.routerPath()
		}

		at := places[rt.method+path]
		if at == nil {
			at = &place{named: make(map[string]*route)}
			places[rt.method+path] = at
			router := t.routerOf(rt.path)
			router.Handle(rt.method, path, at.setRoute)
			if rt.method == http.MethodGet {
				router.Handle(http.MethodHead, path, at.setRoute)
			}
		}

		if only == "" {
			at.other = &rt
		} else {
			at.named[only] = &rt
		}
		if rt.has(public) {
			t.publicPaths = append(t.publicPaths, rt.path)
		}
	}
	return t
}

// place is what the router holds under a path: a route, and named actions in the place
// of its id.
type place struct {
	named map[string]*route
	other *route // nil if there are only named ones
}

// setRoute is the router's handle. It only records the route; pipeline.go runs the
// handler.
func (p *place) setRoute(w http.ResponseWriter, _ *http.Request, params httprouter.Params) {
	rt := p.other
	if named := p.named[params.ByName("id")]; named != nil {
		rt = named
	}
	if rt != nil {
		r := w.(*exchange).request
		r.route, r.params = rt, params
	}
}

// routerPath is the path under which the router holds a named action: with :id in the
// place of the name. httprouter cannot hold /contacts/bulk_label beside
// /contacts/:id/labels.
func (rt *route) routerPath() (path, only string) {
	cut := strings.LastIndexByte(rt.path, '/') + 1
	return rt.path[:cut] + ":id", rt.path[cut:]
}

// routerOf chooses the router of a path. A business number is all digits and no
// resource name starts with a digit, so the first character decides.
func (t *table) routerOf(path string) *httprouter.Router {
	if len(path) > 1 && ('0' <= path[1] && path[1] <= '9' || path[1] == ':') {
		return t.number
	}
	return t.organization
}

// match finds the request's route. Without one it is 404, or 405 if the path has other
// methods.
func (t *table) match(x *exchange) error {
	path := x.request.path
	if strings.Contains(strings.ToLower(x.request.http.URL.RawPath), "%2f") {
		path = "" // an encoded slash is part of a name, and no name here has one
	}

	if t.lookUp(x, x.request.http.Method, path) {
		return nil
	}

	// Not found, or found with other methods, which the answer must list.
	var allow []string
	for _, method := range methods {
		if t.lookUp(x, method, path) {
			allow = append(allow, method)
			x.request.route = nil
		}
	}
	if len(allow) == 0 {
		return fail(ResourceNotFound, "There is nothing at this path.")
	}

	list := strings.Join(allow, ", ")
	return &Error{Code: MethodNotAllowed, Message: "This path takes " + list + ".", Allow: list}
}

// lookUp finds the route of a method and path, and sets it in the request.
func (t *table) lookUp(x *exchange, method, path string) bool {
	if setRoute, params, _ := t.routerOf(path).Lookup(method, path); setRoute != nil {
		setRoute(x, x.request.http, params)
	}
	return x.request.route != nil
}

// isPublic tells whether a path needs no key, whatever the method.
func (t *table) isPublic(path string) bool {
	return slices.Contains(t.publicPaths, path)
}
