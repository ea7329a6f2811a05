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

// Refuse answers a request outside of /v1 in the envelope that all errors have.
func (s *Server) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	x := &exchange{ResponseWriter: w, request: &request{http: r, id: s.Identify(w)}}
	e := asError(err)
	if e.status() >= 500 {
		s.Log.Error("request refused", "request_id", x.request.id, "method", r.Method, "error", err)
	}
	sendError(x, e)
}
