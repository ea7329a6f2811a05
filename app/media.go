package app

import (
	"time"

	"confab/app/config"
	"confab/app/datadir"
	"confab/jobs/guard"
	"confab/storage"
)

// fetchTimeout limits the download of a file that an API client names by URL.
const fetchTimeout = 60 * time.Second

// openMedia opens the directories of media and of imports, and what downloads files.
func (a *App) openMedia() (err error) {
	if a.files, err = OpenMediaFiles(a.dir, a.Config.Media); err != nil {
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
	return nil
}

// OpenMediaFiles opens the files of media where the settings have them. The process must be
// the only one that has the directory open.
func OpenMediaFiles(dir datadir.Dir, c config.Media) (*storage.Files, error) {
	store, err := c.Open()
	if err != nil {
		return nil, err
	}
	return storage.OpenFiles(dir.File(storage.MediaDir), store, int64(c.CacheBytes))
}

// objectsKept is how long an object of media stays after its last row is gone: as long as a
// restore of the database can bring that row back.
func (a *App) objectsKept() time.Duration {
	if a.Config.Replica.URL == "" {
		return 0
	}
	return a.Config.Replica.Keep + a.Config.Replica.SnapshotEvery
}
