package rest

import (
	"net/http"
	"slices"
	"strings"
)

// exposedHeaders are those that a script in a browser may read.
var exposedHeaders = strings.Join([]string{
	"X-Request-Id", "ETag", "Retry-After", "Idempotent-Replayed",
	"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
}, ", ")

// cors lets the origins of server.cors_origins call from a browser. It answers
// preflight requests itself, which carry no key, and then returns true.
func (s *Server) cors(x *Exchange) bool {
	if len(s.CORSOrigins) == 0 {
		return false
	}

	hr := x.Request.HTTP
	h := x.Header()
	h.Add("Vary", "Origin")

	origin := hr.Header.Get("Origin")
	if origin == "" || !(slices.Contains(s.CORSOrigins, origin) || slices.Contains(s.CORSOrigins, "*")) {
		return false
	}

	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", exposedHeaders)

	if hr.Method != http.MethodOptions || hr.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}

	h.Set("Access-Control-Allow-Methods", strings.Join(Methods, ", "))
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID")
	h.Set("Access-Control-Max-Age", "7200")
	x.WriteHeader(http.StatusNoContent)
	return true
}
