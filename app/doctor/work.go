package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"confab/storage"
)

const (
	// stuckAfter is how long a job may be due while a server runs.
	stuckAfter = 10 * time.Minute
	// orphanAfter is how old a file without a row must be to be reported. A younger
	// one may get its row any moment, or the server's sweep deletes it.
	orphanAfter = 12 * time.Hour
	// maxNamedFiles is how many files a message names.
	maxNamedFiles = 5
)

// checkJobs checks for jobs that were given up or are late.
func (e *examination) checkJobs(ctx context.Context) {
	var counts []storage.JobCount
	if !e.view(ctx, "jobs", func(rx *storage.Rx) (err error) {
		counts, err = rx.JobCounts()
		return err
	}) {
		return
	}

	clean, now := true, storage.Now()
	for _, n := range counts {
		late := now.Sub(n.Oldest)
		switch {
		case n.State == storage.JobFailed:
			clean = false
			e.warn("jobs", "See why: confab jobs list --state failed. Then: confab jobs retry ID, or confab jobs cancel ID.",
				"%d jobs of the kind %s were given up.", n.Count, n.Kind)
		case n.State == storage.JobDue && late > stuckAfter && e.served:
			clean = false
			e.broken("jobs", "See what the server's log says, then restart it. confab jobs list --kind "+n.Kind,
				"Jobs of the kind %s have been due for %s, and the server does not do them.", n.Kind, late.Round(time.Minute))
		case n.State == storage.JobDue && late > stuckAfter:
			clean = false
			e.warn("jobs", "Start the server: confab serve.",
				"%d jobs of the kind %s wait, the oldest for %s, and no server runs.", n.Count, n.Kind, late.Round(time.Minute))
		}
	}

	if clean {
		e.ok("jobs", "None was given up, and none is late.")
	}
}

// checkEndpoints checks for webhook subscriptions that are disabled or fail.
func (e *examination) checkEndpoints(ctx context.Context) {
	var troubles []storage.EndpointTrouble
	if !e.view(ctx, "webhooks", func(rx *storage.Rx) (err error) {
		troubles, err = rx.EndpointTroubles()
		return err
	}) {
		return
	}

	for _, t := range troubles {
		why := ""
		if t.DisabledReason != nil {
			why = " (" + *t.DisabledReason + ")"
		}

		switch {
		case t.Status == "disabled":
			e.warn("webhooks",
				"When the endpoint is well: confab webhooks enable "+t.ID+", then: confab deliveries replay --subscription "+t.ID,
				"%s is disabled%s; %d events were not delivered to %s.", t.ID, why, t.Dead, t.URL)
		case t.Dead > 0:
			e.warn("webhooks", "Run: confab deliveries replay --subscription "+t.ID, "%d events were given up for %s.", t.Dead, t.URL)
		case t.Failures > 0:
			e.warn("webhooks", "See what it answers: confab deliveries list --status failed",
				"%s has failed %d times in a row (%s).", t.URL, t.Failures, t.ID)
		}

		if t.AllExpire {
			e.warn("webhooks", "Mint one without an end: POST /v1/webhook_subscriptions/"+t.ID+"/secrets.",
				"%s has no signing secret that lasts; once the last one has expired, every delivery fails with no_signing_secret.", t.ID)
		}
	}

	if len(troubles) == 0 {
		e.ok("webhooks", "Every endpoint takes its events.")
	}
}

// checkMedia compares the media files with the rows: every row must have its file, and
// every file a row.
func (e *examination) checkMedia(ctx context.Context) {
	var missing, wrong []string
	files := 0
	if !e.view(ctx, "media", func(rx *storage.Rx) error {
		return rx.EachFile(func(sum string, size int64) error {
			files++
			info, err := os.Stat(filepath.Join(string(e.dir), storage.MediaDir, sum[:2], sum))
			switch {
			case errors.Is(err, fs.ErrNotExist):
				missing = append(missing, sum)
			case err == nil && info.Size() != size:
				wrong = append(wrong, sum)
			}
			return ctx.Err()
		})
	}) {
		return
	}

	const advice = "Take them out of a backup: in the archive they are media/XX/HASH, and in the data directory too."
	if len(missing) > 0 {
		e.broken("media", advice, "%d of %d files are missing: %s.", len(missing), files, firstFew(missing))
	}
	if len(wrong) > 0 {
		e.broken("media", advice, "%d files have another size than they should: %s.", len(wrong), firstFew(wrong))
	}

	orphans, err := e.findOrphans(ctx)
	switch {
	case err != nil:
		e.warn("media", "Check the owner and mode of the media directory.", "The files cannot be listed: %v.", err)
	case len(orphans) > 0:
		e.warn("media", "The server sweeps them away every 6 hours; if it runs and they stay, look into its log for media.sweep.",
			"%d files belong to no row: %s.", len(orphans), firstFew(orphans))
	case len(missing)+len(wrong) == 0:
		e.ok("media", "%d files, each in its place.", files)
	}
}

// findOrphans lists files that no row names.
func (e *examination) findOrphans(ctx context.Context) (all []string, err error) {
	root := filepath.Join(string(e.dir), storage.MediaDir)
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // no media yet, or taken away meanwhile
		}
		if err != nil || entry.IsDir() || !storage.ValidSum(entry.Name()) {
			return err
		}

		info, err := entry.Info()
		if err != nil || time.Since(info.ModTime()) < orphanAfter {
			return nil
		}

		var used bool
		err = e.db.View(ctx, func(rx *storage.Rx) (err error) {
			used, err = rx.MediaUses(entry.Name())
			return err
		})

		if err == nil && !used {
			all = append(all, entry.Name())
		}
		return err
	})
	return all, err
}

// firstFew lists the first few hashes, shortened, and says how many more there are.
func firstFew(sums []string) string {
	text := ""

	for i, sum := range sums {
		if i == maxNamedFiles {
			return fmt.Sprintf("%s and %d more", text, len(sums)-i)
		}
		if i > 0 {
			text += ", "
		}
		text += sum[:12] + "…"
	}
	return text
}
