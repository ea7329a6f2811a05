package api

import (
	"net/http"
	"time"

	"confab/app/api/rest"
	"confab/storage"
)

// exportBatch is how many rows of an export are read at once. Each read is a snapshot
// of its own, so that a long export does not keep the log of writes from being shortened.
const exportBatch = 500

// export replies with a CSV file, and records that somebody takes a copy of what the
// organization has. write writes its lines in parts, and calls check before each. When it
// cannot go on, the connection is cut, so that no client takes a part for the whole.
func (s *Server) export(r *rest.Request, filename string, write func(x *rest.Exchange, check func() error) error) (rest.Reply, error) {
	if r.HTTP.Method == http.MethodGet {
		err := s.DB.Update(r.HTTP.Context(), func(tx *storage.Tx) error { return s.Audit(tx, r, &rest.Reply{}) })
		if err != nil {
			return rest.Reply{}, err
		}
	}

	mayGoOn := s.checkExport(r)
	return rest.Reply{Stream: func(x *rest.Exchange) {
		control := http.NewResponseController(x.ResponseWriter)
		h := x.Header()
		h.Set("Content-Type", "text/csv; charset=utf-8")
		h.Set("Content-Disposition", `attachment; filename="`+filename+`"`)
		h.Set("Cache-Control", "no-store")
		h["X-Content-Type-Options"] = rest.NoSniff
		x.WriteHeader(http.StatusOK)
		_ = control.Flush() // its length is not known, however short it is
		if r.HTTP.Method == http.MethodHead {
			return
		}

		x.Failure = write(x, func() error {
			_ = control.SetWriteDeadline(time.Now().Add(rest.UploadTime)) // the whole may take longer than any answer
			return mayGoOn()
		})
		if x.Failure != nil {
			panic(http.ErrAbortHandler)
		}
	}}, nil
}

// checkExport returns an error once the caller may no longer have what it is sent: the person
// was disabled, signed out or is no admin any more, or the key was revoked.
func (s *Server) checkExport(r *rest.Request) func() error {
	mayGoOn := s.mayGoOn(r)
	return func() error {
		if !mayGoOn(r.HTTP.Context()) {
			return rest.Fail(rest.PermissionDenied, "You no longer have access to this export.")
		}
		return nil
	}
}
