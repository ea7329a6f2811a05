package doctor

import (
	"context"
	"strings"

	"confab/storage"
)

// checkPeople checks that somebody can sign in to the console.
func (e *examination) checkPeople(ctx context.Context) {
	if !e.config.Console.Enabled {
		e.ok("people", "The console is switched off.")
		return
	}
	if e.isSandbox {
		e.ok("people", "The sandbox signs you in by itself.")
		return
	}

	var anybody bool
	var organizations []string
	if !e.view(ctx, "people", func(rx *storage.Rx) (err error) {
		if anybody, err = rx.AnybodyCanSignIn(); err == nil {
			organizations, err = rx.OrganizationIDs(2)
		}
		return err
	}) {
		return
	}

	if anybody {
		e.ok("people", "Somebody can sign in to the console.")
		return
	}
	advice := e.config.FirstAdminAdvice(organizations)
	e.warn("people", strings.ToUpper(advice[:1])+advice[1:]+".",
		"Nobody can sign in to the console at %s/console/.", e.config.PublicURL())
}
