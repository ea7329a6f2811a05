// Package doctor examines an installation and says what to do about what it
// finds. It changes nothing.
package doctor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"confab/app"
	"confab/app/config"
	"confab/storage"
)

// How something was found.
const (
	OK      = "ok"
	Warning = "warning" // works, but somebody should look
	Broken  = "broken"  // does not work, or loses something
)

// Finding is what one look has shown.
type Finding struct {
	Check   string `json:"check"`  // what was looked at
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
	// Free is how much room there is for a directory, in bytes and of how much;
	// nil asks the system.
	Free func(dir string) (free, total uint64, err error)
}

// networkTime is what one look over the network may take.
const networkTime = 10 * time.Second

// examination is one round through the installation.
type examination struct {
	Options
	config    config.Config
	dir       app.DataDir
	served    bool
	isSandbox bool
	listening string   // the server's address, or where the settings have it
	at        *url.URL // how this machine reaches the server; nil if the settings do not say
	db        *storage.DB
	http      *http.Client
	report    func(Finding)
}

// Examine looks at everything and hands what it finds to report, in order.
func Examine(ctx context.Context, o Options, report func(Finding)) {
	e := &examination{Options: o, report: report, http: &http.Client{
		Timeout:       networkTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if e.Free == nil {
		e.Free = freeSpace
	}
	if !e.settings() || !e.directory() {
		return // nothing else can be told apart from that
	}
	e.locate(ctx)
	e.exposure()
	e.space()
	e.key()
	if e.database(ctx) {
		defer e.db.Close()
		e.clock(ctx)
		e.plans(ctx)
		e.provider(ctx)
		e.jobs(ctx)
		e.endpoints(ctx)
		if !e.Quick {
			e.media(ctx)
		}
	}
	e.certificate(ctx)
	e.server(ctx)
}

func (e *examination) ok(check, format string, args ...any) {
	e.report(Finding{Check: check, Status: OK, Message: fmt.Sprintf(format, args...)})
}

func (e *examination) warn(check, advice, format string, args ...any) {
	e.report(Finding{Check: check, Status: Warning, Message: fmt.Sprintf(format, args...), Advice: advice})
}

func (e *examination) broken(check, advice, format string, args ...any) {
	e.report(Finding{Check: check, Status: Broken, Message: fmt.Sprintf(format, args...), Advice: advice})
}

// view reads the database; what cannot be read is a finding.
func (e *examination) view(ctx context.Context, check string, fn func(*storage.Rx) error) bool {
	err := e.db.View(ctx, fn)
	if err != nil {
		e.broken(check, "Restore the latest backup: confab restore.", "The database cannot be read: %v.", err)
	}
	return err == nil
}

// path is a file in the data directory.
func (e *examination) path(name string) string {
	return string(e.dir) + string(os.PathSeparator) + name
}
