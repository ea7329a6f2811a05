package app

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"confab/app/api/rest"
	"confab/app/callback"
	"confab/app/gateway"
	"confab/app/limit"
	"confab/app/pages"
	"confab/jobs/guard"
	"confab/storage"
)

// handler routes the requests of the public listener.
func (a *App) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil {
			w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		}

		if err := a.fence(r.Context()); err != nil {
			panic(http.ErrAbortHandler) // see fencedListener
		}

		// Connections of proxies count for their clients.
		if len(a.Config.Server.TrustedProxies) > 0 {
			limit.RequestOf(r.Context()).Identify(limit.Stranger(a.api.ClientIP(r)))
		}

		switch path := r.URL.Path; {
		case path == "/v1" || strings.HasPrefix(path, "/v1/"):
			a.api.ServeHTTP(w, r)
		case a.gateway != nil && (path == gateway.Path || strings.HasPrefix(path, gateway.Path+"/")) && !guard.IsFetch(r):
			a.gateway.ServeHTTP(w, r)
		case a.console != nil && strings.HasPrefix(path, rest.ConsolePath+"/") && !guard.IsFetch(r):
			a.console.ServeAPI(w, r)
		default:
			a.serveOutsideAPI(w, r)
		}
	})
}

// route is what serves a path outside of /v1.
type route struct {
	pattern string // for logs and metrics, because paths may hold tokens and names; "" if nothing is there
	quiet   bool   // probes call it all the time: logged at debug level only
	// verified says that only a caller with a signature or a token has success here.
	verified bool
	serve    http.HandlerFunc
}

// findRoute finds the route of a path outside of /v1.
func (a *App) findRoute(r *http.Request) route {
	path := r.URL.Path
	switch {
	case strings.HasPrefix(path, "/media/"):
		return route{pattern: "/media/:token", serve: a.media.ServeHTTP}
	case path == "/provider/webhook":
		return route{pattern: path, verified: true, serve: a.callback.ServeHTTP}
	case guard.IsFetch(r):
		return route{serve: a.refuseFetch}
	case path == pages.DocsPath || strings.HasPrefix(path, pages.DocsPath+"/"):
		return route{pattern: pages.DocsPath, serve: a.hosts.Guard(a.docs.ServeHTTP)}
	case strings.HasPrefix(path, pages.OnboardPath):
		return route{pattern: pages.OnboardPath + ":token", serve: a.onboard.ServeHTTP}
	case path == mcpPath && a.mcp != nil:
		return route{pattern: path, serve: a.serveMCP}
	case a.console != nil && (path == "/console" || strings.HasPrefix(path, "/console/")):
		return a.consoleRoute(path)
	case a.wantsConsole(r):
		return route{pattern: path, serve: redirectToConsole}

	case path == "/livez":
		return route{pattern: path, quiet: true, serve: a.readOnly(serveLive)}
	case path == "/readyz":
		return route{pattern: path, quiet: true, serve: a.readOnly(a.serveReady)}
	case path == "/metrics" && isLocalRequest(r):
		return route{pattern: path, quiet: true, serve: a.hosts.Guard(a.readOnly(a.metrics.handler.ServeHTTP))}
	}

	return route{serve: func(w http.ResponseWriter, r *http.Request) {
		a.api.WriteError(w, r, &rest.Error{Code: rest.ResourceNotFound, Message: "This path does not exist. The API is under /v1."})
	}}
}

// refuseFetch answers a request that we make ourselves, for a URL that a customer gave us. Some
// paths trust whoever calls from this machine, and a sandbox lets such URLs lead here. So they
// reach nothing but files, callbacks, which must be signed, and the API, which requires a key.
func (a *App) refuseFetch(w http.ResponseWriter, r *http.Request) {
	a.api.WriteError(w, r, &rest.Error{Code: rest.ResourceNotFound, Message: "This path does not exist."})
}

// readOnly refuses every method but GET and HEAD.
func (a *App) readOnly(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := pages.RefuseMethod(r); err != nil {
			a.api.WriteError(w, r, err)
			return
		}
		serve(w, r)
	}
}

// serveLive says that the process runs, even if something else is wrong.
func serveLive(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") }

// refuseCallback answers a callback that was not accepted, in the form of the API's errors.
func (a *App) refuseCallback(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, callback.ErrUnauthorized):
		err = &rest.Error{
			Code:    rest.InvalidSignature,
			Message: "The signature or the verify token does not match, or the server has none set.",
		}
	case errors.Is(err, limit.ErrExhausted):
		err = &rest.Error{
			Code:       rest.ServiceUnavailable,
			Message:    "Too many callbacks at once. Please retry.",
			RetryAfter: time.Second,
		}
	case errors.Is(err, callback.ErrTooLarge):
		err = &rest.Error{Code: rest.RequestTooLarge, Message: "The body is larger than 4 MiB."}
	case errors.Is(err, callback.ErrUnreadable):
		err = &rest.Error{Code: rest.InvalidJSON, Message: "The body could not be read."}
	case errors.Is(err, callback.ErrMethod):
		err = &rest.Error{Code: rest.MethodNotAllowed, Message: "This path accepts GET and POST.", Allow: "GET, HEAD, POST"}
	}

	a.api.WriteError(w, r, err)
}

// serveReady says whether requests should be sent here: not while the database cannot be read, and
// not once the server is stopping. The line of the request in the log has the error.
func (a *App) serveReady(w http.ResponseWriter, r *http.Request) {
	if a.draining.Err() != nil {
		http.Error(w, "stopping", http.StatusServiceUnavailable)
		return
	}
	if err := a.DB.View(r.Context(), (*storage.Rx).Ping); err != nil {
		if owner, ok := w.(rest.FailureRecorder); ok {
			owner.RecordFailure(err)
		}
		http.Error(w, "the database cannot be read", http.StatusServiceUnavailable)
		return
	}

	io.WriteString(w, "ready\n")
}

// proxyHeaders are headers that a proxy adds, beside all of X-Forwarded-*, in their canonical
// form. A request with one of them comes from the proxy, and its peer address is not the client's.
var proxyHeaders = []string{
	"Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "X-Original-For", "X-Original-Forwarded-For", "X-Cluster-Client-Ip",
	"True-Client-Ip", "Cf-Connecting-Ip", "Fastly-Client-Ip", "X-Envoy-External-Address",
}

// isLocalRequest reports whether a request comes from this machine, and not through a proxy on it.
func isLocalRequest(r *http.Request) bool {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Forwarded-") || slices.Contains(proxyHeaders, name) {
			return false
		}
	}

	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback()
}
