package api

import (
	"net/http"

	"confab/storage"
)

// Refuse answers a request outside of /v1 in the envelope that all errors have.
func (s *Server) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	x := &exchange{ResponseWriter: w, request: &request{http: r, id: s.DB.NewID(storage.PrefixRequest)}}
	x.Header().Set("X-Request-Id", x.request.id)
	e := asError(err)
	if e.status() >= 500 {
		s.Log.Error("request refused", "request_id", x.request.id, "method", r.Method, "error", err)
	}
	sendError(x, e)
}
