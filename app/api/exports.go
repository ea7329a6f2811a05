package api

import (
	"net/http"

	"confab/app/api/rest"
	"confab/storage"
)

// errExportEnded means that the caller may no longer have what it is sent: the person was
// disabled, signed out or is no admin any more, or the key was revoked.
func errExportEnded() error {
	return rest.Fail(rest.PermissionDenied, "You no longer have access to this export.")
}

// auditExport records that somebody takes a copy of what the organization has.
func (s *Server) auditExport(r *rest.Request) error {
	if r.HTTP.Method != http.MethodGet {
		return nil
	}
	return s.DB.Update(r.HTTP.Context(), func(tx *storage.Tx) error { return s.Audit(tx, r, &rest.Reply{}) })
}

// beginExport writes the headers of a CSV file, and reports whether its lines are wanted too.
func beginExport(x *rest.Exchange, filename string) bool {
	h := x.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="`+filename+`"`)
	h.Set("Cache-Control", "no-store")
	h["X-Content-Type-Options"] = rest.NoSniff
	x.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(x.ResponseWriter).Flush() // its length is not known, however short it is
	return x.Request.HTTP.Method != http.MethodHead
}
