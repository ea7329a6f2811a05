package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/config"
)

// lines of a file that are neither empty nor comments.
func linesOf(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

// runnable fails unless a command line is one of confab's.
func runnable(t *testing.T, line []string) {
	t.Helper()
	root := (&env{}).root()
	cmd, rest, err := root.Find(line)
	if err != nil || cmd == root {
		t.Fatalf("%q is no command: %v", line, err)
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
}

func TestTheUnitFileIsOneThatSystemdTakes(t *testing.T) {
	is := is.New(t)
	starts := 0
	for _, line := range linesOf(systemdUnit) {
		if start, found := strings.CutPrefix(line, "ExecStart=/usr/local/bin/confab "); found {
			runnable(t, strings.Fields(start))
			starts++
		}
		// A filter of @resources would refuse prlimit64, which Go calls at the start.
		is.True(!regexp.MustCompile(`SystemCallFilter=~.*@resources`).MatchString(line))
	}
	is.Equal(starts, 1)
	is.True(strings.Contains(systemdUnit, "Type=notify"))

	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not here: the unit file was not verified")
	}
	self, err := os.Executable() // in the place of the installed program, which must be there
	is.NoErr(err)
	file := filepath.Join(t.TempDir(), "confab.service")
	is.NoErr(os.WriteFile(file, []byte(strings.ReplaceAll(systemdUnit, "/usr/local/bin/confab", self)), 0o600))
	out, err := exec.Command(program, "verify", "--man=no", file).CombinedOutput()
	t.Log(string(out))
	is.NoErr(err)
	for line := range strings.Lines(string(out)) {
		is.True(!strings.Contains(line, "confab.service")) // a warning about ours; others are the machine's
	}
}

func TestTheContainerFileRunsWhatThereIs(t *testing.T) {
	is := is.New(t)
	text := strings.ReplaceAll(containerFile, "\\\n", "")
	var environ []string
	commands := map[string][]string{}
	for _, line := range linesOf(text) {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "ENV":
			environ = strings.Fields(rest)
		case "HEALTHCHECK", "ENTRYPOINT", "CMD":
			var args []string
			is.NoErr(json.Unmarshal([]byte(rest[strings.Index(rest, "["):]), &args))
			commands[word] = args
		}
	}
	is.Equal(commands["ENTRYPOINT"], []string{"/usr/local/bin/confab"})
	runnable(t, commands["CMD"])
	runnable(t, commands["HEALTHCHECK"][1:])
	c, err := config.Load(config.Sources{Environ: environ})
	is.NoErr(err)
	is.Equal(len(c.UnknownVariables), 0)
	is.Equal(c.DataDir, "/data")
	where, err := c.Server.LocalURL() // where 'confab ready' asks
	is.NoErr(err)
	is.Equal(where.String(), "http://127.0.0.1:8080")
}
