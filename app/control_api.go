package app

import (
	"net/http"

	"confab/app/datadir"
	"confab/storage"
)

// serveAPI answers a call of the API that a command makes for an organization.
func (a *App) serveAPI(w http.ResponseWriter, r *http.Request) {
	var found storage.Organization
	id := r.PathValue("organization")
	err := a.DB.View(r.Context(), func(rx *storage.Rx) (err error) {
		found, err = rx.Organization(id)
		return err
	})
	if err != nil {
		a.api.WriteError(w, r, err)
		return
	}

	call := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.api.ServeOperator(w, r, found) })
	http.StripPrefix(datadir.APIOf(id), call).ServeHTTP(w, r)
}
