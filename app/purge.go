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

// purgeReportEvery is how often a purge in the server says how far it is.
const purgeReportEvery = 100 * time.Millisecond

// retention is how long the settings want data to be kept.
func retention(c config.Config) jobs.Retention {
	r := jobs.Retention{Plans: make(map[string]int), Events: c.Webhooks.RetentionDays, Calls: c.Log.APILogDays}
	for name, plan := range c.Plans {
		r.Plans[name] = plan.RetentionDays
	}
	return r
}

// Purge deletes what is old in the directory, whose database is open. Where a
// server runs, that does the work; one that is starting or stopping has the time
// to answer or to be gone. report hears of the counts so far.
func (d DataDir) Purge(ctx context.Context, db *storage.DB, what storage.Purge, log *slog.Logger, report func(storage.Purged)) error {
	for giveUp := time.Now().Add(tellTimeout); ; {
		lock, err := d.share()
		if err == nil {
			defer lock.Close()
			return d.purgeAlone(ctx, db, what, log, report)
		}
		if !errors.Is(err, errLocked) {
			return err
		}
		err = d.followPurge(ctx, what, report)
		if !betweenTimes(err) || time.Now().After(giveUp) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(tellPause):
		}
	}
}

// purgeAlone purges without a server, which the caller keeps away meanwhile.
func (d DataDir) purgeAlone(ctx context.Context, db *storage.DB, what storage.Purge, log *slog.Logger, report func(storage.Purged)) error {
	files, err := storage.OpenFiles(d.file(storage.MediaDir))
	if err != nil {
		return err
	}
	defer files.Close()
	return jobs.New(jobs.Options{DB: db, Files: files, Log: log}).Purge(ctx, what, report)
}

// purgeLine is what the server says about a purge, one a line: how far it is,
// and in the last line how it ended.
type purgeLine struct {
	Purged storage.Purged `json:"purged"`
	Ended  bool           `json:"ended"`
	Error  string         `json:"error,omitempty"`
}

// servePurge purges for a command, which follows. The purge ends with the
// command or with the server; what was deleted stays deleted.
func (a *App) servePurge(w http.ResponseWriter, r *http.Request) {
	var what storage.Purge
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<10)) // to its end: from there on the server notices who leaves
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
	_ = connection.SetWriteDeadline(time.Time{}) // it takes as long as it takes
	say := func(line purgeLine) {
		_ = json.NewEncoder(w).Encode(line) // nobody may listen any more
		_ = connection.Flush()
	}
	var last purgeLine
	var said time.Time
	err = a.work.Purge(ctx, what, func(purged storage.Purged) {
		last.Purged = purged
		if time.Since(said) >= purgeReportEvery {
			said = time.Now()
			say(last)
		}
	})
	last.Ended = true
	if err != nil {
		last.Error = err.Error()
	}
	a.Log.Info("purge", "before", what.Before.String(), "organization", what.Organization, "account", what.Account, "deleted", last.Purged.Total(), "error", last.Error)
	say(last)
}

// followPurge has the running server purge.
func (d DataDir) followPurge(ctx context.Context, what storage.Purge, report func(storage.Purged)) error {
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
