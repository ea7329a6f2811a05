package datadir

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"

	"confab/app/config"
	"confab/storage"
)

// The control socket connects a command with the server that runs on the same data
// directory, both of which have the database open:
//
//   - The server listens on confab.sock in the directory, from Run until it stops.
//     Only the user who runs it may connect (mode 0600).
//   - A command makes one request for each connection, by POST unless it only reads; the
//     paths are below.
//   - Whether a server runs is known by the lock, not by the socket: a killed server
//     leaves its socket there. While a server starts or stops it holds the lock and
//     does not answer, so a command tries again until one of the two changes.

// What a command can ask of the server.
const (
	CommandRefresh   = "/refresh"                // the command changed the database
	CommandFlush     = "/flush"                  // somebody wants to read the API log
	CommandAddress   = "/address"                // where the server listens; answers a ServerAddress
	CommandCancelJob = "/jobs/{id}/cancel"       // break off a job; see CancelJob
	CommandPurge     = "/purge"                  // delete old data: a storage.PurgeScope; answers lines of PurgeProgress
	CommandReplica   = "/replica"                // how far the replica is; answers a replica.Status
	CommandPromote   = "/promote"                // make a standby the server, by a name; answers a replica.Generation
	CommandEvents    = "/events/stream"          // follow events, by GET; answers server-sent events
	CommandAPI       = "/api/{organization}/v1/" // call the API for an organization; see APIOf
)

// Parameters of CommandEvents. The header Last-Event-ID is honoured too.
const (
	EventsOrganization = "organization" // its public id; without it the events of all
	EventsType         = "type"         // may be given several times
	EventsAfter        = "after"        // a position, the id of an event, or oldest
)

// CancelJob returns the command that breaks off a job.
func CancelJob(id int64) string {
	return strings.Replace(CommandCancelJob, "{id}", fmt.Sprint(id), 1)
}

// APIOf is the prefix of /v1 when a command calls the API for an organization.
func APIOf(organization string) string { return "/api/" + organization }

const (
	// maxSocketPath is a little less than the 104 or 108 bytes that systems allow.
	maxSocketPath = 100
	// controlTimeout is longer than a server takes to stop.
	controlTimeout    = 20 * time.Second
	controlRetryPause = 20 * time.Millisecond
	// askTimeout is short, because a health check asks for the address first
	// and must then still have time to call it.
	askTimeout = 2 * time.Second
)

// ServerAddress is the answer to CommandAddress.
type ServerAddress struct {
	Listen string `json:"listen"`
	Local  string `json:"local_url"`  // how this machine reaches it
	Public string `json:"public_url"` // how its users reach it
}

// ListenControl listens on the control socket. The caller holds the lock of the directory.
func (d Dir) ListenControl() (net.Listener, error) {
	path, done, err := d.socket()
	if err != nil {
		return nil, err
	}

	// A socket that exists was left by a killed process: we hold the lock.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		done()
		return nil, err
	}

	listener, err := net.Listen("unix", path)
	if err != nil {
		done()
		return nil, fmt.Errorf("control socket: %w", err)
	}

	control := &controlListener{listener, done}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, control.Close())
	}
	return control, nil
}

// controlListener frees what leads to the socket after it has removed the socket.
type controlListener struct {
	net.Listener
	done func()
}

// Close implements net.Listener.
func (l *controlListener) Close() error {
	defer l.done()
	return l.Listener.Close()
}

// socket returns a path for the control socket that is short enough for the system. For a long one
// it opens the directory and goes through its file descriptor, which done closes.
func (d Dir) socket() (path string, done func(), err error) {
	path = d.File(socketFile)
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	if runtime.GOOS != "linux" {
		return "", nil, fmt.Errorf("the data directory's path is too long for a socket: %s", string(d))
	}

	dir, err := os.Open(string(d))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), socketFile), func() { dir.Close() }, nil
}

// Address returns where the server that runs on the directory listens, and how it is reached from
// this machine. If none runs or answers, that is taken from the settings.
func (d Dir) Address(ctx context.Context, settings config.Server) (listen string, local *url.URL, err error) {
	if at, ok := d.askAddress(ctx); ok {
		if local, err = url.Parse(at.Local); err == nil {
			return at.Listen, local, nil
		}
	}

	local, err = settings.LocalURL()
	return settings.Listen, local, err
}

// LocalClient is an HTTP client for the address of a server on this machine. The certificate is for
// the server's public name, and is not verified: nothing secret is sent.
func LocalClient(serverName string, timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true, ServerName: serverName},
		},
	}
}

// PublicURL returns the URL by which users reach the server that runs on the directory.
// If none runs or answers, that is taken from the settings.
func (d Dir) PublicURL(ctx context.Context, settings config.Config) string {
	if at, ok := d.askAddress(ctx); ok && at.Public != "" {
		return at.Public
	}
	return settings.PublicURL()
}

func (d Dir) askAddress(ctx context.Context) (at ServerAddress, ok bool) {
	ok, err := d.Ask(ctx, CommandAddress, &at)
	return at, ok && err == nil
}

// Ask asks the server that runs on the directory, if one does, and decodes its answer.
func (d Dir) Ask(ctx context.Context, command string, answer any) (ok bool, err error) {
	if served, err := d.IsServed(); err != nil || !served {
		return false, err
	}

	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	err = d.post(ctx, command, nil, decodeInto(answer))
	return err == nil, err
}

func decodeInto(answer any) func(io.Reader) error {
	return func(text io.Reader) error { return json.NewDecoder(io.LimitReader(text, 1<<16)).Decode(answer) }
}

// Promote makes the standby that runs on the directory the server, for a person with a name,
// and decodes its answer. That may take as long as a check of the database does.
func (d Dir) Promote(ctx context.Context, by string, answer any) error {
	served, err := d.IsServed()
	if err == nil && !served {
		err = fmt.Errorf("no standby is running on %s: check --data-dir", string(d))
	}
	if err != nil {
		return err
	}
	return d.post(ctx, CommandPromote, strings.NewReader(by), decodeInto(answer))
}

// SendCommand posts a command to the server of the directory and waits for its answer.
// If no server runs, it does nothing.
func (d Dir) SendCommand(ctx context.Context, command string) error {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()

	return retry(ctx, func() error {
		if served, err := d.IsServed(); err != nil || !served {
			return err
		}
		return d.post(ctx, command, nil, nil)
	})
}

// errNoAnswer means that nothing listens on the socket yet, or not any more.
var errNoAnswer = errors.New("the running server did not answer")

// retry does something again while a server starts or stops, until it answers or is gone.
func retry(ctx context.Context, do func() error) error {
	for giveUp := time.Now().Add(controlTimeout); ; time.Sleep(controlRetryPause) {
		err := do()
		if !errors.Is(err, errNoAnswer) || errors.Is(err, fs.ErrPermission) || ctx.Err() != nil || time.Now().After(giveUp) {
			return err
		}
	}
}

// post sends a command to the control socket, with a body or nil, and its answer to read, unless nil.
func (d Dir) post(ctx context.Context, command string, body io.Reader, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://confab"+command, body)
	if err != nil {
		return err
	}

	res, err := d.Client().Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoAnswer, cmp.Or(ctx.Err(), errors.Unwrap(err))) // without the URL
	}
	defer res.Body.Close()

	if res.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1024))
		return fmt.Errorf("the running server answered: %s", strings.TrimSpace(string(text)))
	}
	if read == nil {
		return nil
	}
	return read(res.Body)
}

// Client is an HTTP client whose requests go to the control socket, for any host.
func (d Dir) Client() *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		path, done, err := d.socket()
		if err != nil {
			return nil, err
		}
		defer done()
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
}

// PurgeProgress is one line of the server's answer to CommandPurge: the counts so far,
// and in the last line how the purge ended.
type PurgeProgress struct {
	Purged storage.PurgeCounts `json:"purged"`
	Ended  bool                `json:"ended"`
	Error  string              `json:"error,omitempty"`
}

// Purge deletes old data of the directory. If a server runs, the server does the work,
// with its own writer, and report is called with the counts so far. Otherwise
// withoutServer does it, under a lock that keeps servers from starting meanwhile.
func (d Dir) Purge(
	ctx context.Context, what storage.PurgeScope, report func(storage.PurgeCounts), withoutServer func(context.Context) error,
) error {
	return retry(ctx, func() error {
		lock, err := d.LockShared()
		if errors.Is(err, ErrServed) {
			return d.purgeThroughServer(ctx, what, report)
		}
		if err != nil {
			return err
		}
		defer lock.Close()
		return withoutServer(ctx)
	})
}

// purgeThroughServer makes the running server purge, and reports its progress.
func (d Dir) purgeThroughServer(ctx context.Context, what storage.PurgeScope, report func(storage.PurgeCounts)) error {
	body, err := json.Marshal(what)
	if err != nil {
		return err
	}

	return d.post(ctx, CommandPurge, bytes.NewReader(body), func(answer io.Reader) error {
		lines := json.NewDecoder(answer)
		for {
			var line PurgeProgress
			if err := lines.Decode(&line); err != nil {
				return cmp.Or(ctx.Err(), errors.New("the server stopped before the purge finished: run it again for the rest"))
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
