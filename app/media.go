package app

import (
	"errors"
	"net/http"
	"time"

	"confab/app/api"
	"confab/app/pages"
	"confab/jobs/guard"
	"confab/storage"
)

// fetchTime is what a link into the media library may take to be fetched.
const fetchTime = 60 * time.Second

// openMedia opens the directory of files and what serves and fills it.
func (a *App) openMedia() (err error) {
	if a.files, err = storage.OpenFiles(a.dir.file(storage.MediaDir)); err != nil {
		return err
	}
	a.fetch = guard.New(guard.Options{
		Allow: a.Config.Security.AllowCIDRs, AllowInsecure: a.Config.Security.AllowInsecureURLs, AllowLocal: a.AllowLocalURLs, Redirects: guard.MaxRedirects, Timeout: fetchTime,
	})
	a.media = pages.NewMedia(pages.MediaOptions{DB: a.DB, Files: a.files, WriteError: a.refusePage})
	return nil
}

// closeMedia lets go of what openMedia opened, as far as it got.
func (a *App) closeMedia() error {
	if a.fetch != nil {
		a.fetch.Close()
	}
	if a.files == nil {
		return nil
	}
	return a.files.Close()
}

// refusePage answers whoever asks for a page or a file that is not there.
func (a *App) refusePage(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, pages.ErrMethod):
		err = &api.Error{Code: api.MethodNotAllowed, Message: "This path takes GET and HEAD.", Allow: "GET, HEAD"}
	case errors.Is(err, pages.ErrNoPage):
		err = &api.Error{Code: api.ResourceNotFound, Message: "There is no such page."}
	}
	a.api.WriteError(w, r, err)
}
