package app

import (
	"errors"
	"net/http"
	"strings"

	"confab/app/console"
	consoleapi "confab/app/console/api"
	"confab/app/factor"
	"confab/app/limit"
	"confab/app/oidc"
	"confab/app/pages"
	"confab/app/password"
	"confab/storage"
)

func (a *App) openConsole() {
	if !a.Config.Console.Enabled {
		return
	}
	var people *oidc.Provider
	if a.Config.OIDC.Issuer != "" {
		people = oidc.New(a.Config.OIDC, a.URL()+console.Path+"oidc/callback")
	}

	a.console = console.New(console.Options{
		DB: a.DB,
		API: consoleapi.New(a.api, consoleapi.Options{
			InventNumber:  a.inventNumber(),
			Passwords:     password.NewHasher(),
			PasswordTries: limit.NewThrottle(),
			PasswordsOff:  a.Config.OIDC.Only,
			FactorPolicy:  consoleapi.FactorPolicy(a.Config.Console.SecondFactor),
			Passkeys:      factor.NewPasskeys(a.URL()),
			ReadReceipts:  a.Config.Console.ReadReceipts,
			CancelJob:     a.work.Cancel,
			InterruptJob:  func(id int64) { a.runner.Cancel(id) },
			PublicURL:     a.URL(),
			Live:          a.live,
			ClockOffset:   a.Clock.Offset,
			Replica:       a.replicaView,
		}),
		KnowsHost:   a.hosts.Contains,
		IsLocal:     func(r *http.Request) bool { return isLocalRequest(r) && pages.Hosts(nil).Contains(r.Host) },
		SandboxUser: a.SandboxUser,
		Simulator:   a.simulatorHandler(),
		Provider:    people,
		Log:         a.Log,
	})
}

// simulatorHandler serves the control surface of the sandbox's provider to the console;
// nil if this is no sandbox. Streams end when the server begins to stop.
func (a *App) simulatorHandler() http.Handler {
	if a.Simulator == nil {
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := a.withDraining(r.Context())
		defer cancel()
		a.Simulator().ServeHTTP(w, r.WithContext(ctx))
	})
}

func (a *App) consoleRoute(path string) route {
	pattern := console.Path
	for _, page := range []string{"welcome", "link"} {
		if strings.HasPrefix(path, console.Path+page+"/") {
			pattern += page + "/:token"
		}
	}
	return route{pattern: pattern, serve: a.console.ServeHTTP}
}

// wantsConsole reports whether a browser asks for the front page, which leads to the console.
func (a *App) wantsConsole(r *http.Request) bool {
	return a.console != nil && r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// redirectToConsole leads there by a relative address: a proxy may have taken a path off.
func redirectToConsole(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Location", strings.TrimPrefix(console.Path, "/"))
	w.WriteHeader(http.StatusFound)
}

// hintAtFirstAdmin logs how to invite somebody to a console that no one can sign in to.
func (a *App) hintAtFirstAdmin(rx *storage.Rx) error {
	if !a.Config.Console.Enabled || a.SandboxUser != nil {
		return nil
	}
	anybody, err := rx.AnybodyCanSignIn()
	if err != nil || anybody {
		return err
	}

	organizations, err := rx.OrganizationIDs(2)
	if err == nil {
		a.Log.Info("nobody can sign in to the console yet: " + a.Config.FirstAdminAdvice(organizations))
	}
	return err
}

// warnOfNoOrganization logs that people who come by the identity provider can be added to no
// organization. It does not stop the start: it is only their door.
func (a *App) warnOfNoOrganization(rx *storage.Rx) error {
	if !a.Config.AddsPeople() {
		return nil
	}
	id := a.Config.OIDC.Organization
	_, err := rx.NamedOrganization(id)
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrNoneNamed) {
		a.Log.Warn("nobody can be added through the identity provider: oidc.organization must name an organization of this server "+
			"('confab orgs list')", "organization", id)
		return nil
	}
	return err
}
