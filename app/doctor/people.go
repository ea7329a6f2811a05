package doctor

import (
	"context"
	"errors"
	"time"

	"confab/app/oidc"
	"confab/storage"
)

// maxSkew is how far the identity provider's clock may be from ours. One-time codes bear no more.
const maxSkew = 30 * time.Second

func (e *examination) checkPeople(ctx context.Context) {
	switch {
	case !e.config.Console.Enabled:
		e.ok("people", "The console is disabled.")
		return
	case e.isSandbox:
		e.ok("people", "The sandbox signs you in automatically.")
		return
	}

	anybody, ok := query(ctx, e, "people", (*storage.Rx).AnybodyCanSignIn)
	if anybody {
		e.ok("people", "At least one person can sign in to the console.")
	}
	if anybody || !ok {
		return
	}
	organizations, ok := query(ctx, e, "people", func(rx *storage.Rx) ([]string, error) { return rx.OrganizationIDs(2) })
	if !ok {
		return
	}

	e.warn("people", sentence(e.config.FirstAdminAdvice(organizations))+".",
		"Nobody can sign in to the console at %s/console/.", e.config.PublicURL())
}

// checkIdentityProvider checks that people can sign in through the identity provider, if there is
// one: that it answers, that its clock is ours, and where new people belong.
func (e *examination) checkIdentityProvider(ctx context.Context) {
	c := e.config.OIDC
	if c.Issuer == "" || !e.config.Console.Enabled {
		return
	}

	ahead, err := oidc.New(c, "").Examine(ctx)
	switch {
	case err != nil:
		e.broken("sign-in", "Check oidc.issuer: it must be the issuer exactly as the provider writes it, and this machine must reach "+
			"it. Meanwhile 'confab users link USER' lets people in.", "%s cannot be used to sign in: %v.", c.Name, err)
	case ahead.Abs() > maxSkew:
		e.broken("sign-in", "Set the clock (timedatectl set-ntp true). Sign-ins and one-time codes depend on it.",
			"The clocks of %s and of this machine are %s apart.", c.Name, ahead.Abs().Round(time.Second))
	default:
		e.ok("sign-in", "%s answers. The redirect URI to register there is %s/console/oidc/callback.", c.Name, e.config.PublicURL())
	}

	if e.config.AddsPeople() {
		e.checkOrganizationOfNewPeople(ctx)
	}
}

// checkOrganizationOfNewPeople checks that there is the one to which people are added.
func (e *examination) checkOrganizationOfNewPeople(ctx context.Context) {
	const advice = "Set oidc.organization to the id of an organization ('confab orgs list')."
	id := e.config.OIDC.Organization
	_, err := storage.Query(ctx, e.db, func(rx *storage.Rx) (storage.Organization, error) { return rx.NamedOrganization(id) })
	switch {
	case errors.Is(err, storage.ErrNotFound):
		e.broken("sign-in", advice, "Nobody can be added through the identity provider: there is no organization %s.", id)
	case errors.Is(err, storage.ErrNoneNamed):
		e.broken("sign-in", advice, "Nobody can be added through the identity provider: oidc.organization is not set, and there is not "+
			"just one organization.")
	case err != nil:
		e.broken("sign-in", "Restore the latest backup: confab restore.", "The database cannot be read: %v.", err)
	}
}
