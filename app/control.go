package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"confab/app/datadir"
	"confab/app/stream"
	"confab/storage"
)

// purgeReportInterval is how often a purge reports its progress to the command.
const purgeReportInterval = 100 * time.Millisecond

// serveControl answers commands by the protocol of package datadir, until ctx ends.
func (a *App) serveControl(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+datadir.CommandRefresh, a.serveRefresh)
	mux.HandleFunc("POST "+datadir.CommandFlush, a.serveFlush)
	mux.HandleFunc("POST "+datadir.CommandAddress, a.serveAddress)
	mux.HandleFunc("POST "+datadir.CommandCancelJob, a.serveCancelJob)
	mux.HandleFunc("POST "+datadir.CommandPurge, a.servePurge)
	mux.HandleFunc("POST "+datadir.CommandReplica, a.serveReplica)
	mux.HandleFunc("GET "+datadir.CommandEvents, a.serveEvents)
	mux.HandleFunc(datadir.CommandAPI, a.serveAPI)
	mux.HandleFunc("POST "+datadir.CommandPromote, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "this is a server already, and no standby", http.StatusConflict)
	})
	return a.serveControlMux(ctx, mux)
}

func (a *App) serveControlMux(ctx context.Context, mux *http.ServeMux) error {
	listener, err := a.dir.ListenControl()
	if err != nil {
		return err
	}
	defer listener.Close() // before the lock is freed, even if the server never came to serve it
	return a.serveListener(ctx, listener, mux, nil)
}

// serveRefresh drops rows cached from the database and looks for jobs, after
// another process has changed something.
func (a *App) serveRefresh(w http.ResponseWriter, _ *http.Request) {
	a.DB.DropCaches()
	a.runner.Rescan()
	w.WriteHeader(http.StatusNoContent)
}

// serveFlush writes the buffered part of the API log, for a command that wants to read it.
func (a *App) serveFlush(w http.ResponseWriter, r *http.Request) {
	if err := a.api.Flush(r.Context()); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// serveAddress answers where the server listens. The settings alone do not say it:
// a flag may have changed it, or the port was 0.
func (a *App) serveAddress(w http.ResponseWriter, _ *http.Request) {
	local, err := a.Config.Server.LocalURL()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}

	// A client that has left is no reason to complain.
	_ = json.NewEncoder(w).Encode(datadir.ServerAddress{
		Listen: a.Config.Server.Listen,
		Local:  local.String(),
		Public: a.URL(),
	})
}

// serveCancelJob breaks off a running job that a command has deleted, and refreshes,
// because other rows may have changed with it.
func (a *App) serveCancelJob(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		http.Error(w, "not a job number", http.StatusBadRequest)
		return
	}

	a.runner.Cancel(id)
	a.serveRefresh(w, r)
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
		http.Error(w, "not a purge request", http.StatusBadRequest)
		return
	}

	ctx, cancel := a.withDraining(r.Context())
	defer cancel()

	connection := http.NewResponseController(w)
	_ = connection.SetWriteDeadline(time.Time{}) // a purge may take longer than any answer
	send := func(line datadir.PurgeProgress) {
		_ = json.NewEncoder(w).Encode(line) // the command may have left
		_ = connection.Flush()
	}

	var last datadir.PurgeProgress
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
		"org", what.Organization,
		"account", what.Account,
		"deleted", last.Purged.Total(),
		"error", last.Error)
	send(last)
}

// serveAPI answers a call of the API that a command makes for an organization.
func (a *App) serveAPI(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("organization")
	found, err := storage.Query(r.Context(), a.DB, func(rx *storage.Rx) (storage.Organization, error) { return rx.Organization(id) })
	if err != nil {
		a.api.WriteError(w, r, err)
		return
	}

	call := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.api.ServeOperator(w, r, found) })
	http.StripPrefix(datadir.APIOf(id), call).ServeHTTP(w, r)
}

// maxOperatorStreams is how many commands may follow events at once.
const maxOperatorStreams = 100

// serveEvents streams the events of all organizations, or of one, to a command, and replays too.
func (a *App) serveEvents(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	o := stream.Options{
		Class:   a.operatorStreams,
		Filter:  storage.EventFilter{Types: query[datadir.EventsType]},
		Replays: true,
		Begin:   stream.Begin{LastEventID: r.Header.Get("Last-Event-ID")},
		Format:  stream.EventStream{AppendItem: stream.AppendOperatorItem},
		Alone:   true,
	}
	if query.Has(datadir.EventsAfter) {
		after := query.Get(datadir.EventsAfter)
		o.Begin.After = &after
	}

	if id := query.Get(datadir.EventsOrganization); id != "" {
		found, err := storage.Query(r.Context(), a.DB, func(rx *storage.Rx) (storage.Organization, error) { return rx.Organization(id) })
		if err != nil {
			http.Error(w, "there is no organization "+id, http.StatusNotFound)
			return
		}
		o.Organization = found.ID
		o.Format = stream.EventStream{AppendItem: func(b []byte, e storage.EventItem) []byte {
			e.Organization = id
			return stream.AppendOperatorItem(b, e)
		}}
	}

	opened, err := a.streams.Open(r.Context(), o)
	switch {
	case errors.Is(err, stream.ErrPosition):
		http.Error(w, "--after: "+err.Error(), http.StatusBadRequest)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		opened.Serve(w, r, func() {})
	}
}
