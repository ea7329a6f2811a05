package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"confab/app/datadir"
	"confab/app/replica"
	"confab/storage"
)

// checkReplica writes to the storage of the replica, asks the server how far it is, and asks
// for the master key to be kept elsewhere.
func (e *examination) checkReplica(ctx context.Context) {
	if e.config.Replica.URL == "" {
		if e.isStandby {
			e.warn("replica", "Set replica.url to what the standby follows.",
				"replica.url is not set: nothing will be replicated when this machine is restarted as the server.")
			e.checkReplicaProgress(ctx)
		}
		return
	}

	if err := replica.Probe(ctx, e.config.Replica); err != nil {
		e.broken("replica", "Fix [replica] in the settings, or the storage: until then the replica falls behind.",
			"The replica cannot be kept: %s.", errorText(err))
		return
	}

	e.checkReplicaProgress(ctx)
	if e.isStandby {
		return
	}
	kept, ok := query(ctx, e, "replica", (*storage.Rx).KeyKeptAt)
	if ok && kept == 0 {
		e.warn("master key", "Print it with 'confab replica key', store it safely, then run 'confab replica key --kept'.",
			"Nobody has confirmed that the master key is kept elsewhere, and the replica cannot be used without it.")
	}
}

// checkReplicaProgress asks the server how far the replica is, or a standby how far its copy is.
// Without a server, the database and the storage say what they know.
func (e *examination) checkReplicaProgress(ctx context.Context) {
	var status replica.Status
	answered, err := e.dir.Ask(ctx, datadir.CommandReplica, &status)
	switch {
	case err != nil:
		e.warn("replica", "Restart the server if replica.url was changed since it was started.",
			"The running server does not say how far the replica is: %s.", errorText(err))
		return
	case !answered && e.isStandby:
		e.broken("standby", "Start it: confab standby URL.", "No standby is running on %s.", string(e.dir))
		return
	case !answered:
		place, err := replica.PlaceOf(e.config.Replica)
		if err == nil {
			status, err = place.StatusOf(ctx, e.db)
		}
		if err != nil {
			e.broken("replica", "Fix the storage: until then the replica falls behind.", "%s.", sentence(errorText(err)))
			return
		}
	}

	check, advice := "replica", "Run 'confab replica verify', and see the log of the server."
	if status.Standby {
		check, advice = "standby", "See the log of the standby."
	}
	if status.Error != "" {
		advice = "The last error is: " + status.Error + "."
	}
	warnings := status.Warnings(time.Now())
	if len(warnings) == 0 {
		e.ok(check, "%s", replicaFigures(status))
		return
	}
	e.warn(check, advice, "%s", strings.TrimSpace(strings.Join(warnings, " ")+" "+replicaFigures(status)))
}

// replicaFigures says how far a replica is, or the copy of a standby; "" if that has none.
func replicaFigures(s replica.Status) string {
	switch {
	case s.Standby && s.LagSeconds == nil:
		return ""
	case s.Standby:
		return fmt.Sprintf("The copy of %s is %.1f s behind.", s.URL, *s.LagSeconds)
	}

	verified := "No restore of it was verified yet."
	if s.LastVerifiedAt != 0 {
		verified = fmt.Sprintf("A restore of it was verified at %s.", s.LastVerifiedAt)
	}
	if s.LagSeconds == nil {
		return fmt.Sprintf("The storage at %s takes, gives and deletes objects. How far the replica is behind is unknown, "+
			"because no server is running. %s", s.URL, verified)
	}
	return fmt.Sprintf("%s is %.1f s behind, and %s to be sent. %s", s.URL, *s.LagSeconds,
		count(s.BacklogBytes, "byte waits", "bytes wait"), verified)
}

func sentence(text string) string {
	return strings.ToUpper(text[:1]) + text[1:]
}
