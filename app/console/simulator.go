package console

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"confab/app/api/rest"
	"confab/storage"
)

// simulatorPrefix is where the console of a sandbox reaches /_sim.
const simulatorPrefix = rest.ConsolePath + "/sim/"

// maxSimulatorBody is how much may be posted: a file of 16 MiB as base64, and some more.
const maxSimulatorBody = 24 << 20

// simulatorPath is the escaped path below /_sim/ that a request of a sandbox asks for. A
// path that could lead elsewhere is none: the API says that nothing is there.
func (c *Console) simulatorPath(r *http.Request) (path string, ok bool) {
	path, ok = strings.CutPrefix(r.URL.EscapedPath(), simulatorPrefix)
	return path, ok && c.Simulator != nil && isPlainPath(path)
}

// checkSimulatorUser refuses who may not play the provider: all but the admins of the
// organization whose sandbox it is.
func (c *Console) checkSimulatorUser(ctx context.Context, who storage.SignedIn) error {
	if err := rest.CheckSuspension(who.Organization); err != nil {
		return err
	}

	you, err := storage.Query(ctx, c.DB, func(rx *storage.Rx) (storage.User, error) { return rx.UserByID(c.SandboxUser()) })
	if err != nil {
		return err
	}

	if who.User.Role != storage.RoleAdmin || who.User.OrganizationID != you.OrganizationID {
		return &rest.Error{Code: rest.PermissionDenied, Message: "Only admins of the sandbox can control the provider."}
	}
	return nil
}

// serveSimulator passes a request on to the played provider. What the browser says of
// itself is left out: it was checked here, and the provider must not take it for its own.
func (c *Console) serveSimulator(w http.ResponseWriter, r *http.Request, who rest.Visitor, path string) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go c.endWithSession(ctx, cancel, who)

	inner := withPath(ctx, r, "/_sim/", path)
	for _, name := range []string{"Cookie", "Authorization", "Origin", "Referer", "Sec-Fetch-Site"} {
		inner.Header.Del(name)
	}
	inner.Body = http.MaxBytesReader(w, r.Body, maxSimulatorBody)
	c.Simulator.ServeHTTP(w, inner)
}

// sessionInterval is how often the session of an open stream is looked up.
const sessionInterval = time.Second

// endWithSession ends a request when the person has signed out, or may no longer do this.
// A check that fails for the moment ends nothing.
func (c *Console) endWithSession(ctx context.Context, end context.CancelFunc, who rest.Visitor) {
	for tick := time.Tick(sessionInterval); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}

		now, err := who.Find(ctx)
		if isNoSession(err) || err == nil && (now.User.Role != storage.RoleAdmin || rest.CheckSuspension(now.Organization) != nil) {
			end()
			return
		}
	}
}

// withPath is a request for another path, which is given in its escaped form.
func withPath(ctx context.Context, r *http.Request, base, escaped string) *http.Request {
	inner := r.Clone(ctx)
	inner.URL = &url.URL{Path: base + escaped, RawQuery: r.URL.RawQuery}
	if plain, err := url.PathUnescape(escaped); err == nil {
		inner.URL.Path, inner.URL.RawPath = base+plain, base+escaped
	}
	inner.RequestURI = inner.URL.RequestURI()
	return inner
}
