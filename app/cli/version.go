package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

type versionView struct {
	Version     string `json:"version"`
	Commit      string `json:"commit"`       // "" when the build did not know it
	CommittedAt string `json:"committed_at"` // RFC 3339, or ""
	Modified    bool   `json:"modified"`     // by what was not committed
	Go          string `json:"go"`
	System      string `json:"system"`
	Build       string `json:"build"` // the settings that it was built with
}

func (e *env) versionCommand() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the build",
		Long: "Print the version, the commit it was built from, and how it was built. 'confab help changes' lists what\n" +
			"changed in each version. No server is contacted, and no command checks for updates.",
		Example: "  confab version\n  confab version --json",
		RunE: e.run(func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			v := viewVersion(e.Version, info)

			return printNew(cmd, v.String(), v)
		}),
	})
}

// viewVersion puts together what the build says of itself. info is nil when it says nothing.
func viewVersion(version string, info *debug.BuildInfo) versionView {
	v := versionView{Version: version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return v
	}

	var build []string
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.CommittedAt = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		case "-trimpath", "-tags", "-race", "CGO_ENABLED", "GOAMD64", "GOARM64":
			build = append(build, s.Key+"="+s.Value)
		}
	}

	v.Build = strings.Join(build, " ")
	return v
}

func (v versionView) String() string {
	commit := cmp.Or(v.Commit, "not recorded")
	if v.CommittedAt != "" {
		commit += " of " + v.CommittedAt
	}
	if v.Modified {
		commit += ", with changes that are not committed"
	}

	return fmt.Sprintf("confab %s (%s, %s)\ncommit %s\nbuild  %s", v.Version, v.Go, v.System, commit, cmp.Or(v.Build, "not recorded"))
}
