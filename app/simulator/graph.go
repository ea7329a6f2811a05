package simulator

import (
	"crypto/rand"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// call is one Graph request that is being answered.
type call struct {
	s *Server
	w http.ResponseWriter
	r *http.Request

	version string // "v23.0", or empty
	path    string // without the version
	id      string
	edge    string
	member  string // of the edge, where the path names one
	account string // of the object
	route   string // its name in the table of edges, for the log: a path may hold secrets

	*input
	token *token

	failLater *int // the code to report by callback after a 200

	answerStatus int // what was answered, for the log of calls
	answerBody   []byte
}

// edge answers a call with a value to encode.
type edge func(*Server, *call) (any, error)

// reading makes a handler run under the lock.
func reading[C any](h func(*Server, C) (any, error)) func(*Server, C) (any, error) {
	return func(s *Server, c C) (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return h(s, c)
	}
}

// writing makes a handler run under the lock, and asks for a save: also where it refuses,
// since attempts are counted then.
func writing[C any](h func(*Server, C) (any, error)) func(*Server, C) (any, error) {
	return reading(func(s *Server, c C) (any, error) {
		s.markDirty()
		return h(s, c)
	})
}

// edges holds every implemented edge by method, kind of object and name, with
// a star where the path goes on to a member of the edge. The group is what faults
// call it; without one only those for all calls apply.
var edges = map[string]struct {
	group  string
	handle edge
}{
	"POST number/messages": {"messages", withProduct(writing((*Server).postMessages))},

	"POST number/media": {"media", withProduct((*Server).uploadMedia)},
	"GET media/":        {"media", reading((*Server).getMedia)},
	"DELETE media/":     {"media", writing((*Server).deleteMedia)},

	"POST app/uploads": {"", writing((*Server).startUpload)},
	"POST upload/":     {"media", (*Server).continueUpload},
	"GET upload/":      {"media", reading((*Server).getUpload)},

	"GET account/message_templates":    {"templates", reading((*Server).listTemplates)},
	"GET account/message_templates/*":  {"templates", reading((*Server).getTemplate)},
	"POST account/message_templates":   {"templates", writing((*Server).createTemplate)},
	"DELETE account/message_templates": {"templates", writing((*Server).deleteTemplates)},
	"GET template/":                    {"templates", reading((*Server).getTemplate)},
	"POST template/":                   {"templates", writing((*Server).editTemplate)},
	"POST template/unpause":            {"templates", writing((*Server).unpauseTemplate)},

	"GET account/phone_numbers":  {"", reading((*Server).listNumbers)},
	"POST account/phone_numbers": {"", (*Server).createNumber},
	"GET number/":                {"", reading((*Server).getNumber)},
	"POST number/":               {"", (*Server).updateNumber},
	"POST number/request_code":   {"", writing((*Server).requestCode)},
	"POST number/verify_code":    {"", writing((*Server).verifyCode)},
	"POST number/register":       {"register", withProduct(writing((*Server).register))},
	"POST number/deregister":     {"", writing((*Server).deregister)},
	"POST number/smb_app_data":   {"", withProduct(writing((*Server).requestSync))},

	"GET number/whatsapp_business_profile":  {"", reading((*Server).getProfile)},
	"POST number/whatsapp_business_profile": {"", withProduct(writing((*Server).updateProfile))},

	"GET account/":                   {"", reading((*Server).getAccount)},
	"GET account/subscribed_apps":    {"", reading((*Server).listSubscribedApps)},
	"POST account/subscribed_apps":   {"", (*Server).subscribeApp},
	"DELETE account/subscribed_apps": {"", writing((*Server).unsubscribeApp)},

	"GET business/": {"", reading((*Server).getBusiness)},
	"POST business/system_user_access_tokens": {"", writing((*Server).systemUserToken)},

	"GET app/":               {"", reading((*Server).getApp)},
	"GET app/subscriptions":  {"", reading((*Server).listSubscriptions)},
	"POST app/subscriptions": {"", (*Server).subscribeFields},
}

// tokenEdges are the paths that belong to no object. Their handlers check
// tokens themselves.
var tokenEdges = map[string]edge{
	"GET /oauth/access_token":  writing((*Server).exchangeToken),
	"POST /oauth/access_token": writing((*Server).exchangeToken),
	"GET /oauth/revoke":        (*Server).revokeToken,
	"GET /debug_token":         (*Server).debugToken,
}

var versionSegment = regexp.MustCompile(`^v[0-9]{1,3}\.[0-9]{1,2}$`)

// serveGraph answers one request as the provider would.
func (s *Server) serveGraph(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	c := &call{s: s, w: w, r: r}
	c.split(r.URL.EscapedPath())
	view, err := s.answer(c)
	c.discard()

	// This makes net/http close the connection without an answer.
	if err != nil && errors.Is(err, errHangUp) {
		s.recordCall(c.record(), began, err)
		panic(http.ErrAbortHandler)
	}
	defer func() { s.recordCall(c.record(), began, nil) }()
	if err != nil {
		c.fail(err)
		return
	}
	c.write(http.StatusOK, view)
}

// split takes the path apart: an optional version, an id, an edge, a member.
func (c *call) split(path string) {
	path = strings.Trim(path, "/")
	first, rest, _ := strings.Cut(path, "/")
	if versionSegment.MatchString(first) {
		c.version, path = first, strings.TrimLeft(rest, "/")
		first, rest, _ = strings.Cut(path, "/")
	}

	c.path, c.id = "/"+path, decodeSegment(first)
	c.edge, c.member, _ = strings.Cut(strings.Trim(rest, "/"), "/")
}

// answer checks a call in the provider's order: the token first, then the
// object, then whether the edge exists, then faults.
func (s *Server) answer(c *call) (any, error) {
	// A token in header or query is checked before the body is read, so that
	// a large file cannot be uploaded without one.
	tokenEdge := tokenEdges[c.r.Method+" "+c.path]
	if tokenEdge == nil && c.givenToken() != "" {
		if err := c.authenticate(); err != nil {
			return nil, err
		}
	}

	if err := c.read(); err != nil {
		return nil, unreadable(err)
	}
	if tokenEdge != nil {
		c.route = c.r.Method + " " + c.path
		return s.withFaults(c, "token", tokenEdge) // only faults for "all" apply here
	}

	// The token may also come in the body.
	if c.token == nil {
		if err := c.authenticate(); err != nil {
			return nil, err
		}
	}
	if err := c.checkProof(); err != nil {
		return nil, err
	}
	return s.dispatch(c)
}

// dispatch finds the object and the handler of the edge, and calls it.
func (s *Server) dispatch(c *call) (any, error) {
	if c.id == "" || c.id == "oauth" {
		return nil, badRequest(2500, 0, "Unknown path components: "+c.path)
	}

	// An object that the token may not access is answered like one that does not exist.
	s.mu.Lock()
	kind, accountID := s.world.kindOf(c.id)
	s.mu.Unlock()
	if kind == "" || !c.token.mayAccess(accountID) {
		return nil, noObject(c.r.Method, c.id)
	}
	c.account = accountID

	// HEAD is answered as GET; net/http leaves the body out.
	method := c.r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	name := method + " " + kind + "/" + c.edge
	if c.member != "" {
		name += "/*"
	}

	found, isPlayed := edges[name]
	if !isPlayed {
		return nil, notImplemented(c.r.Method, c.path)
	}
	c.route = name
	return s.withFaults(c, found.group, found.handle)
}

func unreadable(err error) error {
	if errors.Is(err, errTooLarge) {
		return newGraphError(http.StatusRequestEntityTooLarge, codeInvalidParameter, 0, "(#100) The request body is too large.")
	}
	return badParameter("The request body could not be read: %s.", err)
}

func (c *call) write(status int, view any) {
	c.w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	if c.version != "" {
		c.w.Header().Set("Facebook-Api-Version", c.version)
	}

	c.answerStatus, c.answerBody = status, marshal(view)
	c.w.WriteHeader(status)
	c.w.Write(c.answerBody)
}

func (c *call) fail(err error) {
	e, ok := errors.AsType[*graphError](err)
	if !ok {
		c.s.log.Error("simulator", "route", c.route, "error", err)
		e = refuse(codeSomethingWrong)
	}

	e.Trace = "A" + rand.Text()
	c.w.Header().Set("X-Fb-Trace-Id", e.Trace)
	if e.status == http.StatusUnauthorized {
		c.w.Header().Set("WWW-Authenticate", `OAuth "Facebook Platform" "invalid_token" "`+strings.ReplaceAll(e.Message, `"`, "'")+`"`)
	}
	c.write(e.status, map[string]*graphError{"error": e})
}

// withProduct makes a handler demand the parameter that nearly every WhatsApp call needs.
func withProduct(h edge) edge {
	return func(s *Server, c *call) (any, error) {
		switch product := c.params.text("messaging_product"); product {
		case "whatsapp":
			return h(s, c)
		case "":
			return nil, requiredParameter("messaging_product")
		default:
			return nil, badParameter("Param messaging_product must be one of {WHATSAPP} - got \"%s\".", product)
		}
	}
}
