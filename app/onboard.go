package app

import (
	"net"

	"confab/app/pages"
)

// Signup is what the provider's signup of a business brings.
type Signup = pages.Signup

// openOnboard makes the pages of setup links. They are the provider's own signup
// unless this is a sandbox, which no setting can make it.
func (a *App) openOnboard() {
	c := a.Config
	hosts := append([]string(nil), c.Server.TLSDomains...)
	if host, _, err := net.SplitHostPort(c.Server.Listen); err == nil {
		hosts = append(hosts, host)
	}
	a.onboard = pages.NewOnboard(pages.OnboardOptions{
		DB: a.DB, Provider: a.work.Provider, PublicURL: a.URL(), Hosts: hosts,
		AppID: c.Provider.AppID, ConfigID: c.Provider.SignupConfigID, Version: c.Provider.Version,
		Play: a.PlaySignup, ClientIP: a.api.ClientIP, Log: a.Log,
	})
}
