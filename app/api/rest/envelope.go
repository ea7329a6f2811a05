package rest

import (
	"net/http"

	"confab/storage"
)

// EnsureRequestID gives a response outside of /v1 a request id, if it has none, and returns
// it.
func (s *Server) EnsureRequestID(w http.ResponseWriter) string {
	id := w.Header().Get("X-Request-Id")
	if id == "" {
		id = s.DB.NewID(storage.PrefixRequest)
		w.Header().Set("X-Request-Id", id)
	}
	return id
}

// FailureRecorder is a ResponseWriter whose owner logs the request and wants to know why it
// failed.
type FailureRecorder interface{ RecordFailure(failure error) }

// WriteError answers a request outside of /v1 with the API's error envelope. The error
// goes to the writer's owner if it is a FailureRecorder; otherwise it is logged here if the
// fault is our own.
func (s *Server) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	x := &Exchange{ResponseWriter: w, Request: &Request{HTTP: r, ID: s.EnsureRequestID(w)}}

	e := AsError(err)
	if owner, ok := w.(FailureRecorder); ok {
		owner.RecordFailure(err)
	} else if e.Status() >= 500 {
		s.Log.Error("request refused", "request_id", x.Request.ID, "method", LoggedMethod(r.Method), "error", err)
	}

	sendError(x, e)
}

// ClientIP is the address of the client, also behind trusted proxies.
func (s *Server) ClientIP(r *http.Request) string { return clientIP(r, s.TrustedProxies) }

// ClientNetwork is what counts as one client where clients are counted.
func (s *Server) ClientNetwork(r *http.Request) string { return networkOf(s.ClientIP(r)) }
