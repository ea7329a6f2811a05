package api

import (
	_ "embed"
	"net/http"
	"sync"
	"time"

	"confab/app/api/rest"
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
func (s *Server) getHealth(r *rest.Request) (rest.Reply, error) {
	if err := s.View(r, (*storage.Rx).Ping); err != nil {
		return rest.Reply{}, rest.Fail(rest.ServiceUnavailable, "The database cannot be read.").RetryIn(time.Second).Because(err)
	}
	return rest.OK(healthView{Status: "ok", Version: s.Version}), nil
}

// getOpenAPI handles GET /v1/openapi.json.
func (s *Server) getOpenAPI(*rest.Request) (rest.Reply, error) {
	return rest.Reply{Status: http.StatusOK, Body: openAPIDocument, ETag: openAPITag()}, nil
}

var openAPITag = sync.OnceValue(func() string { return rest.WeakETag(openAPIDocument) })
