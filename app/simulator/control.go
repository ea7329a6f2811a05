package simulator

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strings"
)

type controlError struct {
	status  int
	message string
	param   string
}

func (e *controlError) Error() string { return e.message }

func missing(param string) error {
	return &controlError{http.StatusBadRequest, param + " is required.", param}
}

func invalid(param, why string) error {
	return &controlError{http.StatusBadRequest, param + " " + why + ".", param}
}

// refused is a refusal that no parameter is to blame for.
func refused(status int, message string) *controlError { return &controlError{status, message, ""} }

func notFound(message string) error { return refused(http.StatusNotFound, message) }

func badBody(err error) error {
	return refused(http.StatusBadRequest, "The body cannot be read: "+err.Error())
}

type controlCall struct {
	r    *http.Request
	body []byte
	in   object
}

func (c *controlCall) key() string { return c.r.PathValue("id") }

// decode reads the body into a struct; without a body it stays as it is.
func (c *controlCall) decode(v any) error {
	if len(c.body) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.body, v); err != nil {
		return badBody(err)
	}
	return nil
}

type controlHandler func(*Server, *controlCall) (any, error)

// controls holds every request of the control surface that is answered with JSON.
var controls = map[string]controlHandler{
	"POST /_sim/inbound": func(s *Server, c *controlCall) (any, error) {
		id, err := s.receiveInbound(c.in)
		return object{"id": id}, err
	},
	"POST /_sim/echo": (*Server).controlEcho,

	"GET /_sim/messages":              reading((*Server).controlMessages),
	"DELETE /_sim/messages":           writing((*Server).controlDeleteMessages),
	"POST /_sim/messages/{id}/status": writing((*Server).controlStatus),
	"POST /_sim/messages/{id}/edit":   writing((*Server).controlEdit),
	"POST /_sim/messages/{id}/revoke": writing((*Server).controlRevoke),

	"GET /_sim/people":               reading((*Server).controlPeople),
	"POST /_sim/people":              writing((*Server).controlAddPerson),
	"PATCH /_sim/people/{id}":        writing((*Server).controlPatchPerson),
	"GET /_sim/people/{id}/messages": reading((*Server).controlPhone),
	"POST /_sim/people/{id}/read":    writing((*Server).controlReadAll),

	"GET /_sim/templates":              reading((*Server).controlTemplates),
	"POST /_sim/templates/{id}/review": writing((*Server).controlReview),

	"POST /_sim/templates/{id}/category": writing((*Server).controlCategory),

	"GET /_sim/numbers":  func(s *Server, _ *controlCall) (any, error) { return object{"data": s.Numbers()}, nil },
	"POST /_sim/numbers": (*Server).controlAddNumber,
	"POST /_sim/signup": func(s *Server, c *controlCall) (any, error) {
		return s.Signup(c.in.text("name"), c.in.text("phone_number"))
	},
	"POST /_sim/tokens": writing((*Server).controlToken),

	"POST /_sim/contacts/{id}/preferences": writing((*Server).controlPreferences),
	"POST /_sim/contacts/{id}/identity":    writing((*Server).controlIdentity),
	"POST /_sim/contacts/{id}/window":      (*Server).controlWindow,

	"GET /_sim/faults":         reading((*Server).controlFaults),
	"POST /_sim/faults":        writing((*Server).controlAddFault),
	"DELETE /_sim/faults":      writing((*Server).controlClearFaults),
	"DELETE /_sim/faults/{id}": writing((*Server).controlClearFaults),

	"GET /_sim/settings":   func(s *Server, _ *controlCall) (any, error) { return s.Settings(), nil },
	"PATCH /_sim/settings": writing((*Server).controlPatchSettings),

	"GET /_sim/clock":  func(s *Server, _ *controlCall) (any, error) { return s.viewClock(), nil },
	"POST /_sim/clock": (*Server).controlMoveClock,

	"GET /_sim/calls":      (*Server).controlCalls,
	"GET /_sim/codes":      (*Server).controlCodes,
	"POST /_sim/callbacks": (*Server).controlCallback,
	"POST /_sim/reset":     writing((*Server).controlReset),
}

// newControl builds the control surface. It refuses other origins, other host
// names, what the options refuse and, where a control token is set, requests without it.
func (s *Server) newControl() http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range controls {
		mux.Handle(pattern, s.handleControl(h))
	}
	mux.HandleFunc("GET /_sim/media/{id}", s.serveControlMedia)
	mux.HandleFunc("GET /_sim/stream", s.serveStream)

	// Any other path below /_sim is answered here: it must not reach the Graph API.
	mux.Handle("/_sim/", s.handleControl(func(_ *Server, c *controlCall) (any, error) {
		return nil, notFound("There is no " + c.r.Method + " " + c.r.URL.Path + ".")
	}))

	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeControlError(w, refused(http.StatusForbidden, "Requests of other origins are refused."))
	}))
	guarded := origins.Handler(mux)

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.authorizeControl(r); err != nil {
			writeControlError(w, err)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// authorizeControl checks who is asking, before anything is read.
func (s *Server) authorizeControl(r *http.Request) error {
	switch {
	case !s.AllowsHost(r.Host):
		return refused(http.StatusForbidden, "The host name is not one of the simulator's.")
	case s.opt.Refuses != nil && s.opt.Refuses(r):
		return refused(http.StatusForbidden, "A link or a webhook must not lead here.")
	case s.opt.ControlToken == "":
		return nil
	}

	given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if subtle.ConstantTimeCompare([]byte(given), []byte(s.opt.ControlToken)) != 1 {
		return refused(http.StatusUnauthorized, "The control token is missing or wrong.")
	}
	return nil
}

// AllowsHost accepts loopback names, the listen address and configured names.
// That stops DNS rebinding: a web page whose own host name resolves to us.
func (s *Server) AllowsHost(hostport string) bool {
	host := hostOf(hostport)
	isHost := func(name string) bool { return name != "" && strings.EqualFold(name, host) }
	return loopbackName(host) || isHost(hostOf(s.opt.Listen)) || slices.ContainsFunc(s.opt.Hosts, isHost)
}

// handleControl decodes the body, calls the handler and encodes its answer.
func (s *Server) handleControl(h controlHandler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := readControl(r)
		var view any
		if err == nil {
			view, err = h(s, c)
		}
		if err == nil {
			writeControl(w, http.StatusOK, view)
			return
		}

		if _, ok := errors.AsType[*controlError](err); !ok {
			s.log.Error("control", "route", r.Pattern, "error", err)
		}
		writeControlError(w, err)
	})
}

func readControl(r *http.Request) (*controlCall, error) {
	c := &controlCall{r: r, in: object{}}
	if r.Method == http.MethodGet || r.Method == http.MethodDelete {
		return c, nil
	}

	var err error
	// Media may come as base64, which is a third longer.
	if c.body, err = readAll(r.Body, maxMedia/3*4+maxBody); err != nil {
		return nil, badBody(err)
	}
	if len(c.body) == 0 {
		return c, nil
	}

	// Web pages of other origins can post forms, but not JSON, without a preflight.
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "application/json" {
		return nil, refused(http.StatusUnsupportedMediaType, "The control surface takes application/json only.")
	}

	if c.in, err = decodeObject(c.body); err != nil {
		return nil, badBody(err)
	}
	return c, nil
}

func writeControl(w http.ResponseWriter, status int, view any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(append(marshal(view), '\n'))
}

func writeControlError(w http.ResponseWriter, err error) {
	e, ok := errors.AsType[*controlError](err)
	if !ok {
		e = refused(http.StatusInternalServerError, "Something went wrong: "+err.Error())
	}

	content := object{"message": e.message}
	content.put("param", e.param)
	writeControl(w, e.status, object{"error": content})
}
