package api

import (
	"net/http"

	"confab/storage"
)

// Identify gives a response outside of /v1 the request id that every one has.
func (s *Server) Identify(w http.ResponseWriter) string {
	id := w.Header().Get("X-Request-Id")
	if id == "" {
		id = s.DB.NewID(storage.PrefixRequest)
		w.Header().Set("X-Request-Id", id)
	}
	return id
}

// Noter is a ResponseWriter whose owner logs the request, and wants to know what
// was wrong with it.
type Noter interface{ Note(failure error) }

// Refuse answers a request outside of /v1 in the envelope that all errors have.
// What was our own fault is told to the writer's owner, or else logged.
func (s *Server) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	x := &exchange{ResponseWriter: w, request: &request{http: r, id: s.Identify(w)}}

	e := asError(err)
	if owner, ok := w.(Noter); ok {
		owner.Note(err)
	} else if e.status() >= 500 {
		s.Log.Error("request refused", "request_id", x.request.id, "method", r.Method, "error", err)
	}

	sendError(x, e)
}

// ClientIP is the address of whoever makes a request, behind trusted proxies too.
func (s *Server) ClientIP(r *http.Request) string { return clientIP(r, s.TrustedProxies) }
