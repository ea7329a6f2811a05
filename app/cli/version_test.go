package cli

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestTheVersionSaysCommitAndBuild(t *testing.T) {
	is := is.New(t)
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "-compiler", Value: "gc"}, {Key: "-trimpath", Value: "true"}, {Key: "CGO_ENABLED", Value: "0"},
		{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "10b0da1f"}, {Key: "vcs.time", Value: "2026-11-15T22:41:00Z"},
		{Key: "vcs.modified", Value: "true"},
	}}

	lines := strings.Split(viewVersion("v1.2.3", info).String(), "\n")
	is.True(strings.HasPrefix(lines[0], "confab v1.2.3 (go1."))
	is.Equal(lines[1:], []string{
		"commit 10b0da1f of 2026-11-15T22:41:00Z, with changes that are not committed",
		"build  -trimpath=true CGO_ENABLED=0",
	})

	clean := viewVersion("v1.2.3", &debug.BuildInfo{Settings: info.Settings[:5]}).String()
	is.True(strings.Contains(clean, "commit 10b0da1f\n"))
	silent := viewVersion("dev", nil).String()
	is.True(strings.Contains(silent, "commit not recorded\nbuild  not recorded"))
}
