package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"confab/storage"
)

const (
	// maxWALSize is more than the write-ahead log grows to, unless a reader that
	// never ends keeps it from being checkpointed.
	maxWALSize = 512 << 20
	// maxClockLead is how far ahead of this machine's clock the newest row may be.
	maxClockLead = time.Minute
)

// checkDatabase verifies the file, unless Quick, and opens it for the checks that
// follow. It returns whether it is open.
//
// CheckDatabase comes before Open: it closes the file again, and on POSIX systems that
// drops every lock that this process has on it, those of an open database too.
func (e *examination) checkDatabase(ctx context.Context) bool {
	file := storage.DatabaseFile(string(e.dir))
	key, err := storage.ReadMasterKey(string(e.dir), e.MasterKey)
	if err != nil {
		key = nil // checkMasterKey has reported it
	}

	if !e.Quick {
		err := storage.CheckDatabase(file, key)
		if err != nil && !errors.Is(err, storage.ErrMasterKey) && !errors.Is(err, storage.ErrNotWritable) {
			e.broken("database", "Stop the server, move the data directory away and restore the latest backup: confab restore.", "%v.", err)
			return false
		}
	}

	if key == nil {
		return false
	}

	e.db, err = e.dir.OpenForCommand(storage.Options{Schema: e.Schema}, e.MasterKey, true)
	switch {
	case errors.Is(err, storage.ErrMasterKey):
		e.broken("master key", "Restore the key that the database was created with: it is in a backup from that time.", "%v.", err)
		return false
	case errors.Is(err, storage.ErrNotUpgraded):
		e.broken("database", "Make a backup (confab backup), then start the server: it upgrades the database.", "%v.", err)
		return false
	case errors.Is(err, storage.ErrNotWritable):
		e.broken("database", "Make the user who runs confab its owner: chown -R USER "+string(e.dir)+", and chmod u+rw "+file, "%v.", err)
		return false
	case err != nil:
		e.broken("database", "Restore the latest backup (confab restore), or use a matching release.", "%v.", err)
		return false
	}

	if log, err := os.Stat(file + "-wal"); err == nil && log.Size() > maxWALSize {
		e.warn("database", "Look for a program that keeps the database open, such as a stuck backup; a restart shrinks the log.",
			"The write-ahead log is %d MiB.", log.Size()>>20)
	}

	size := e.db.Size() >> 20
	if e.Quick {
		e.ok("database", "The database opens (%d MiB).", size)
	} else {
		e.ok("database", "Every page, index and reference is sound (%d MiB).", size)
	}
	return true
}

// putBackReported is how long it is said that an older database was put back.
const putBackReported = 7 * 24 * time.Hour

// checkEpoch checks that the database is the one that was last served in the directory.
// The file is read first: while a server runs, the database is always ahead of it.
func (e *examination) checkEpoch(ctx context.Context) {
	kept, err := e.dir.KeptProgress()
	if err != nil {
		e.warn("epoch", "Start the server, or wait: it rewrites the file automatically.", "%v.", err)
		return
	}
	p, ok := query(ctx, e, "epoch", (*storage.Rx).Progress)
	if !ok {
		return
	}
	at, ok := query(ctx, e, "epoch", (*storage.Rx).PutBackAt)
	if !ok {
		return
	}

	how := p.Differs(kept)
	switch {
	case how != "" && !e.served:
		e.warn("epoch", "If this was intended, start the server: it begins a new epoch of events, rebuilds the search index, "+
			"pauses broadcasts and fails overdue messages. If not, restore the newer file.",
			"An older database was put back: %s.", how)
	case how != "":
		e.warn("epoch", "Restart the server: it checks the database when it starts.",
			"An older database was put back while the server was running: %s.", how)
	case at != 0 && e.db.Now().Sub(at) < putBackReported:
		e.warn("epoch", "Check what is missing since the copy was made, and resume paused broadcasts: confab broadcasts list.",
			"An older database was put back; the server noticed at %s and began a new epoch of events.", at)
	default:
		e.ok("epoch", "The database is the one last used here.")
	}
}

// checkClock checks that the clock of this machine has not gone back since it last gave the
// time of a call, and that it is where it is expected.
func (e *examination) checkClock(ctx context.Context) {
	clock, ok := query(ctx, e, "clock", (*storage.Rx).Clock)
	if !ok {
		return
	}
	last, ok := query(ctx, e, "clock", (*storage.Rx).LastCall)
	if !ok {
		return
	}

	switch ahead := last.Sub(e.db.Now()); {
	case clock.Ahead() > 0:
		advice := fmt.Sprintf("If it is wrong, set it (timedatectl set-ntp true). If it is right, run: confab purge --confirm-clock. "+
			"A server accepts it after running with it for another %s.", clock.TrialLeft().Round(time.Minute))
		e.warn("clock", advice, "This machine's clock is %s ahead of where it should be, so nothing is deleted by age: "+
			"it says %s; going by when a server last ran, it should be about %s.",
			count(int(clock.Ahead().Hours()/24), "day", "days"), clock.Seen, clock.Expected)
	case ahead > maxClockLead:
		e.broken("clock", "Set the clock (timedatectl set-ntp true). Messaging windows and signatures depend on it.",
			"The last call was logged %s ahead of this machine's clock.", ahead.Round(time.Second))
	default:
		e.ok("clock", "The clock is not behind the last call.")
	}
}

func (e *examination) checkPlans(ctx context.Context) {
	orgs, ok := query(ctx, e, "plans", (*storage.Rx).Organizations)
	if !ok {
		return
	}

	before := e.problems
	for _, o := range orgs {
		if _, known := e.config.Plans[o.Plan]; !known {
			e.warn("plans", "Add [plans."+o.Plan+"] to the settings, or run: confab orgs set "+o.PublicID+" --plan self_hosted",
				"%s (%s) has the plan %s, which is not in the settings; it is treated as self_hosted.", o.Name, o.PublicID, o.Plan)
		}
	}

	if e.problems == before {
		e.ok("plans", "%s with a known plan.", count(len(orgs), "organization", "organizations"))
	}
}

// checkSearch checks how far the search index is. A server makes it anew by itself, so
// that nothing about it is broken for long.
func (e *examination) checkSearch(ctx context.Context) {
	facts, err := storage.InspectSearchIndex(e.dir.File(storage.SearchFile))
	if err != nil {
		e.warn("search", "Start the server, or wait: it rebuilds the index automatically.", "The search index cannot be read: %v.", err)
		return
	}

	lacking, ok := query(ctx, e, "search", func(rx *storage.Rx) (int64, error) { return rx.CountUnindexed(facts.Position) })
	if !ok {
		return
	}

	switch {
	case lacking > maxUnindexed && e.served:
		e.warn("search", "Wait: searches are slower until the index is complete.",
			"%s missing from the search index; the server adds them.", count(lacking, "message is", "messages are"))
	case facts.IsMissing:
		e.ok("search", "There is no search index yet; the server creates it.")
	default:
		e.ok("search", "The search index has %s.", count(facts.Messages, "message", "messages"))
	}
}

// maxUnindexed is how many messages a busy server's index may lack at any moment.
const maxUnindexed = 20000
