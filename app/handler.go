package app

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"

	"confab/app/api"
	"confab/app/callback"
	"confab/storage"
)

// handler leads each path of the public listener to what serves it.
func (a *App) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		if path == "/v1" || strings.HasPrefix(path, "/v1/") {
			a.api.ServeHTTP(w, r)
			return
		}
		a.api.Identify(w)
		switch {
		case path == "/provider/webhook":
			a.callback.ServeHTTP(w, r)
		case strings.HasPrefix(path, "/media/"):
			a.media.ServeHTTP(w, r)
		case path == "/console" || strings.HasPrefix(path, "/console/"):
			http.Redirect(w, r, "/v1/openapi.json", http.StatusFound) // until there is a console
		case path == "/livez":
			io.WriteString(w, "ok\n")
		case path == "/readyz":
			a.serveReady(w, r)
		case path == "/metrics" && fromHere(r):
			a.metrics.handler.ServeHTTP(w, r)
		default:
			a.api.Refuse(w, r, &api.Error{Code: api.ResourceNotFound, Message: "There is nothing at this path. The API is under /v1."})
		}
	})
}

// refuseCallback answers the provider, or who pretends to be it.
func (a *App) refuseCallback(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, callback.ErrUnauthorized):
		err = &api.Error{Code: api.InvalidSignature, Message: "The signature or the verify token does not match, or the server has none set."}
	case errors.Is(err, callback.ErrTooLarge):
		err = &api.Error{Code: api.RequestTooLarge, Message: "The body has more than 4 MiB."}
	case errors.Is(err, callback.ErrUnreadable):
		err = &api.Error{Code: api.InvalidJSON, Message: "The body could not be read."}
	case errors.Is(err, callback.ErrMethod):
		err = &api.Error{Code: api.MethodNotAllowed, Message: "This path takes GET and POST.", Allow: "GET, POST"}
	}
	a.api.Refuse(w, r, err)
}

// serveReady says whether requests should be sent here: not while the database
// cannot be read, and not once the server is stopping.
func (a *App) serveReady(w http.ResponseWriter, r *http.Request) {
	select {
	case <-a.draining:
		http.Error(w, "stopping", http.StatusServiceUnavailable)
		return
	default:
	}
	if err := a.DB.View(r.Context(), (*storage.Rx).Ping); err != nil {
		a.Log.Error("not ready", "error", err)
		http.Error(w, "the database cannot be read", http.StatusServiceUnavailable)
		return
	}
	io.WriteString(w, "ready\n")
}

// forwarding are the headers that show a proxy at work: then the peer's address
// says nothing about who is asking.
var forwarding = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"}

// fromHere tells whether a request comes from this machine itself.
func fromHere(r *http.Request) bool {
	for _, name := range forwarding {
		if len(r.Header.Values(name)) > 0 {
			return false
		}
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback()
}
