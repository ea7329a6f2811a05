package doctor

import (
	"context"

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
	if !e.view(ctx, "people", func(rx *storage.Rx) (err error) {
		anybody, err = rx.AnybodyCanSignIn()
		return err
	}) {
		return
	}

	if anybody {
		e.ok("people", "Somebody can sign in to the console.")
		return
	}
	e.warn("people", "Invite the first admin: confab users invite --org ORG --name NAME --email ADDRESS --role admin",
		"Nobody can sign in to the console at %s/console/.", e.config.PublicURL())
}
