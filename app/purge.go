package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"confab/app/config"
	"confab/jobs"
	"confab/storage"
)

// purgeReportInterval is how often a purge in the server reports its progress.
const purgeReportInterval = 100 * time.Millisecond

// retention returns how long the settings keep data.
func retention(c config.Config) jobs.Retention {
	r := jobs.Retention{Plans: make(map[string]int), Events: c.Webhooks.RetentionDays, Calls: c.Log.APILogDays}
	for name, plan := range c.Plans {
		r.Plans[name] = plan.RetentionDays
	}
	return r
}

// Purge deletes old data of the directory, whose database is open as db. If a server
// runs, the server does the work, with its own writer. While one starts or stops, Purge
// tries again until the server answers or is gone. report is called with the counts so
// far.
func (d DataDir) Purge(
	ctx context.Context, db *storage.DB, what storage.PurgeScope, log *slog.Logger, report func(storage.PurgeCounts),
) error {
	for giveUp := time.Now().Add(controlTimeout); ; {
		lock, err := d.lockShared()
		if err == nil {
			defer lock.Close()
			return d.purgeWithoutServer(ctx, db, what, log, report)
		}
		if !errors.Is(err, errLocked) {
			return err
		}

		err = d.purgeThroughServer(ctx, what, report)
		if !notListening(err) || time.Now().After(giveUp) {
			return err
		}

		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(controlRetryPause):
		}
	}
}

// purgeWithoutServer purges in this process. The caller holds a lock that keeps servers
// from starting meanwhile.
func (d DataDir) purgeWithoutServer(
	ctx context.Context, db *storage.DB, what storage.PurgeScope, log *slog.Logger, report func(storage.PurgeCounts),
) error {
	files, err := storage.OpenFiles(d.file(storage.MediaDir))
	if err != nil {
		return err
	}
	defer files.Close()

	return jobs.New(jobs.Options{DB: db, Files: files, Log: log}).Purge(ctx, what, report)
}

// purgeLine is one line of the server's answer to /purge: the counts so far, and in
// the last line how the purge ended.
type purgeLine struct {
	Purged storage.PurgeCounts `json:"purged"`
	Ended  bool                `json:"ended"`
	Error  string              `json:"error,omitempty"`
}

// servePurge purges for a command and streams the progress to it. The purge ends when
// the command or the server ends; what was deleted stays deleted.
func (a *App) servePurge(w http.ResponseWriter, r *http.Request) {
	var what storage.PurgeScope
	// The body is read to its end: only then net/http notices that a client leaves,
	// and ends the context of the request.
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<10))
	if err == nil {
		err = json.Unmarshal(text, &what)
	}
	if err != nil || what.Before == 0 {
		http.Error(w, "not a purge", http.StatusBadRequest)
		return
	}

	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-a.draining:
			cancel()
		case <-ctx.Done():
		}
	}()

	connection := http.NewResponseController(w)
	_ = connection.SetWriteDeadline(time.Time{}) // a purge may take longer than any answer
	send := func(line purgeLine) {
		_ = json.NewEncoder(w).Encode(line) // the command may have left
		_ = connection.Flush()
	}

	var last purgeLine
	var sentAt time.Time
	err = a.work.Purge(ctx, what, func(purged storage.PurgeCounts) {
		last.Purged = purged
		if time.Since(sentAt) >= purgeReportInterval {
			sentAt = time.Now()
			send(last)
		}
	})

	last.Ended = true
	if err != nil {
		last.Error = err.Error()
	}

	a.Log.Info("purge",
		"before", what.Before.String(),
		"organization", what.Organization,
		"account", what.Account,
		"deleted", last.Purged.Total(),
		"error", last.Error)
	send(last)
}

// purgeThroughServer makes the running server purge, and reports its progress.
func (d DataDir) purgeThroughServer(ctx context.Context, what storage.PurgeScope, report func(storage.PurgeCounts)) error {
	body, err := json.Marshal(what)
	if err != nil {
		return err
	}

	return d.post(ctx, "/purge", bytes.NewReader(body), func(answer io.Reader) error {
		lines := json.NewDecoder(answer)
		for {
			var line purgeLine
			if err := lines.Decode(&line); err != nil {
				return cmp.Or(ctx.Err(), errors.New("the server stopped before the purge was done: run it again for the rest"))
			}

			report(line.Purged)
			switch {
			case line.Error != "":
				return errors.New("the running server: " + line.Error)
			case line.Ended:
				return nil
			}
		}
	})
}
