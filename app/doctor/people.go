package doctor

import (
	"context"
	"strings"

	"confab/storage"
)

// checkPeople checks that somebody can sign in to the console.
func (e *examination) checkPeople(ctx context.Context) {
	if !e.config.Console.Enabled {
		e.ok("people", "The console is disabled.")
		return
	}
	if e.isSandbox {
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

	advice := e.config.FirstAdminAdvice(organizations)
	e.warn("people", strings.ToUpper(advice[:1])+advice[1:]+".",
		"Nobody can sign in to the console at %s/console/.", e.config.PublicURL())
}
