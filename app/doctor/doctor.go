// Package doctor examines an installation and says what to do about what it finds. It changes nothing.
package doctor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"confab/app/config"
	"confab/app/datadir"
	"confab/jobs/provider"
	"confab/storage"
)

// The states of a Finding.
const (
	OK      = "ok"
	Warning = "warning" // works, but somebody should look at it
	Broken  = "broken"  // does not work, or loses something
)

// Finding is the result of one check.
type Finding struct {
	Check   string `json:"check"`  // what was checked
	Status  string `json:"status"` // ok, warning or broken
	Message string `json:"message"`
	Advice  string `json:"advice,omitempty"` // what to do, unless all is well
}

// Options say what to examine.
type Options struct {
	Sources   config.Sources
	MasterKey string // CONFAB_MASTER_KEY, if set
	Schema    string // the text of schema.sql
	Version   string
	Quick     bool // leaves out what reads all of the data
	// Free is how many bytes a directory has room for; nil asks the system.
	Free func(dir string) (uint64, error)
}

const networkTime = 10 * time.Second

// examination is one run of all checks. The first checks fill in what the later ones need.
type examination struct {
	Options
	config        config.Config
	dir           datadir.Dir
	served        bool
	isSandbox     bool
	isStandby     bool
	listenAddress string   // the server's address, or where the settings have it
	localURL      *url.URL // how this machine reaches the server; nil if the settings do not say
	db            *storage.DB
	http          *http.Client
	provider      *provider.Client // nil if there is nothing to ask it
	report        func(Finding)
	problems      int // warnings and what is broken, so far
}

// Examine runs all checks and calls report with each finding, in order. Without usable settings and
// a data directory it stops early; without a database it leaves out the checks that read it.
func Examine(ctx context.Context, o Options, report func(Finding)) {
	e := &examination{Options: o, report: report, http: &http.Client{
		Timeout:       networkTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}

	if e.Free == nil {
		e.Free = freeSpace
	}

	if !e.checkSettings() || !e.checkDirectory() {
		return // any further finding would only be a consequence
	}

	e.locateServer(ctx)
	e.checkExposure()
	e.checkSpace()
	e.checkMasterKey()
	e.checkMediaStore(ctx)
	if e.isStandby {
		e.checkReplica(ctx)
		return // it has no database, and serves nothing
	}

	if e.checkDatabase(ctx) {
		defer e.db.Close()
		e.checkEpoch(ctx)
		e.checkClock(ctx)
		e.checkPlans(ctx)
		e.checkPeople(ctx)
		e.checkIdentityProvider(ctx)
		e.checkProvider(ctx)
		e.checkJobs(ctx)
		e.checkEndpoints(ctx)
		e.checkSearch(ctx)
		e.checkReplica(ctx)
		if !e.Quick {
			e.checkOrphans(ctx)
			e.checkMedia(ctx)
		}
	}

	if s := e.config.Server; s.TLSCert != "" {
		e.checkCertificateFile(s.TLSCert, s.TLSKey)
	} else {
		e.checkDomains(ctx, s.TLSDomains)
	}
	e.checkServer(ctx)
}

func (e *examination) ok(check, format string, args ...any) {
	e.report(Finding{Check: check, Status: OK, Message: fmt.Sprintf(format, args...)})
}

func (e *examination) warn(check, advice, format string, args ...any) {
	e.problems++
	e.report(Finding{Check: check, Status: Warning, Message: fmt.Sprintf(format, args...), Advice: advice})
}

func (e *examination) broken(check, advice, format string, args ...any) {
	e.problems++
	e.report(Finding{Check: check, Status: Broken, Message: fmt.Sprintf(format, args...), Advice: advice})
}

// count is a number of things, with the words for one and for several.
func count[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// query reads something from the database, and reports an error as a finding.
func query[T any](ctx context.Context, e *examination, check string, read func(*storage.Rx) (T, error)) (T, bool) {
	found, err := storage.Query(ctx, e.db, read)
	if err != nil {
		e.broken(check, "Restore the latest backup: confab restore.", "The database cannot be read: %v.", err)
	}
	return found, err == nil
}
