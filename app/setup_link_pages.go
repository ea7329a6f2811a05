package app

import (
	"net"
	"slices"

	"confab/app/pages"
)

// Signup is what the provider's signup of a business returns.
type Signup = pages.Signup

// openOnboard makes the pages of setup links. They show the provider's own signup,
// unless this is a sandbox.
func (a *App) openOnboard() {
	c := a.Config
	a.onboard = pages.NewOnboard(pages.OnboardOptions{
		DB:             a.DB,
		Provider:       a.work.Provider,
		PublicURL:      a.URL(),
		Hosts:          a.hosts,
		AppID:          c.Provider.AppID,
		ConfigID:       c.Provider.SignupConfigID,
		Version:        c.Provider.Version,
		SimulateSignup: a.SimulateSignup,
		ClientNetwork:  a.api.ClientNetwork,
		Log:            a.Log,
	})
}

// findHosts collects the host names under which the pages may be requested.
func (a *App) findHosts() pages.Hosts {
	names := slices.Clone(a.Config.Server.TLSDomains)
	if host, _, err := net.SplitHostPort(a.Config.Server.Listen); err == nil {
		names = append(names, host)
	}
	return pages.NewHosts(a.URL(), names...)
}
