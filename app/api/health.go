package api

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"time"

	"confab/storage"
)

//go:embed openapi.json
var openAPIDocument []byte

// OpenAPIDocument is openapi.json. Callers must not change it.
func OpenAPIDocument() []byte { return openAPIDocument }

type healthView struct {
	Status  string `json:"status"`
	Version string `json:"version"`
}

// getHealth handles GET /v1/health.
func (s *Server) getHealth(r *request) (reply, error) {
	if err := s.view(r, (*storage.Rx).Ping); err != nil {
		return reply{}, &Error{
			Code:       ServiceUnavailable,
			Message:    "The database cannot be read.",
			RetryAfter: time.Second,
			cause:      err,
		}
	}
	return ok(healthView{Status: "ok", Version: s.Version}), nil
}

// getOpenAPI handles GET /v1/openapi.json.
func (s *Server) getOpenAPI(*request) (reply, error) {
	sum := sha256.Sum256(openAPIDocument)
	return reply{status: http.StatusOK, body: openAPIDocument, etag: `W/"` + hex.EncodeToString(sum[:8]) + `"`}, nil
}
