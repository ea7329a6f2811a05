package app

import (
	"errors"
	"net/http"
	"time"

	"confab/app/api/rest"
	"confab/app/pages"
	"confab/jobs/guard"
	"confab/storage"
)

// fetchTimeout limits the download of a file that an API client names by URL.
const fetchTimeout = 60 * time.Second

// openMedia opens the directories of media and of imported files, and makes what serves them and what
// downloads them.
func (a *App) openMedia() (err error) {
	if a.files, err = storage.OpenFiles(a.dir.File(storage.MediaDir)); err != nil {
		return err
	}
	if a.imports, err = storage.OpenImportFiles(a.dir.File(storage.ImportsDir)); err != nil {
		return err
	}

	a.fetch = guard.New(guard.Options{
		Allow:         a.Config.Security.AllowCIDRs,
		AllowInsecure: a.Config.Security.AllowInsecureURLs,
		AllowLocal:    a.AllowLocalURLs,
		Redirects:     guard.MaxRedirects,
		Timeout:       fetchTimeout,
	})
	a.media = &pages.Media{DB: a.DB, Files: a.files, WriteError: a.refusePage}
	return nil
}

// refusePage answers a request for a page or a file that cannot be shown, in the form
// of the API's errors.
func (a *App) refusePage(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, pages.ErrMethodNotAllowed):
		err = &rest.Error{Code: rest.MethodNotAllowed, Message: "This path accepts GET and HEAD.", Allow: "GET, HEAD"}
	case errors.Is(err, pages.ErrPageNotFound):
		err = &rest.Error{Code: rest.ResourceNotFound, Message: "There is no such page."}
	}
	a.api.WriteError(w, r, err)
}
