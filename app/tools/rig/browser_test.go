package rig

import (
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// The Makefile tests more packages at a time where there is no browser.
func TestTheMakefileLooksForTheSameBrowsers(t *testing.T) {
	is := is.New(t)
	text, err := os.ReadFile("../../../Makefile")
	is.NoErr(err)
	is.True(strings.Contains(string(text), "foreach name,"+strings.Join(windowless, " ")+","))
}
