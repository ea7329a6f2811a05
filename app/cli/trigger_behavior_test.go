package cli

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/simulator"
)

func TestTriggerFaultOffersEveryKindOfTheSimulator(t *testing.T) {
	is := is.New(t)
	for _, kind := range simulator.FaultKinds() {
		cmd := (&trigger{env: &env{}}).command(injectedFault())
		is.True(strings.Contains(cmd.Long, "  "+kind.Name+" "))    // the help names it
		is.True(strings.Contains(cmd.Long, kind.Description+"\n")) // and says what it does
		is.NoErr(cmd.Flags().Set("kind", kind.Name))
	}
	for _, endpoint := range simulator.FaultEndpoints() {
		cmd := (&trigger{env: &env{}}).command(injectedFault())
		is.True(strings.Contains(cmd.Flags().Lookup("endpoint").Usage, endpoint))
		is.NoErr(cmd.Flags().Set("endpoint", endpoint))
	}
}
