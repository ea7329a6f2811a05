package app

import (
	"net/http"
	"net/url"

	"confab/app/api/rest"
	"confab/app/mcp"
)

// mcpPath is where agents call.
const mcpPath = "/mcp"

func (a *App) openMCP() {
	if a.Config.MCP.Enabled {
		a.mcp = mcp.Handler(mcp.Options{Version: a.Version, AllowWrites: a.Config.MCP.AllowWrites}, a.api)
	}
}

// serveMCP answers a request of an agent. A browser that shows a page of somebody else is
// refused, and one that was led here by another name; then the key is checked, and costs a
// token of the rate limit, as every call of the API does.
func (a *App) serveMCP(w http.ResponseWriter, r *http.Request) {
	if !a.hosts.Contains(r.Host) || !a.comesFromOurPage(r) {
		a.api.WriteError(w, r, &rest.Error{Code: rest.PermissionDenied, Message: "This address or this page is not ours."})
		return
	}

	isAdmitted, isLogged := a.api.Admit(w, r)
	if seen, ok := w.(*recordingWriter); ok {
		seen.isKnown, seen.isLogged = isAdmitted, isLogged
	}
	if isAdmitted {
		a.mcp.ServeHTTP(w, r)
	}
}

// comesFromOurPage reports whether a request comes from no page, or from one of ours.
func (a *App) comesFromOurPage(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	page, err := url.Parse(origin)
	return err == nil && page.Host != "" && a.hosts.Contains(page.Host)
}
