package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestAdminCommandsWorkWithAndWithoutAServer runs testdata/matrix.txt twice.
func TestAdminCommandsWorkWithAndWithoutAServer(t *testing.T) {
	matrix, err := os.ReadFile("testdata/matrix.txt")
	if err != nil {
		t.Fatal(err)
	}
	const (
		start = "listen AT\nexec confab serve --listen $AT &server&\neventually confab ready --url http://$AT\n"
		stop  = "term\nwait server\n"
		files = "-- body --\n{}\n-- nowhere.toml --\n[provider]\nbase_url = \"http://127.0.0.1:1\"\n"
	)
	dir := t.TempDir()
	for name, script := range map[string]string{"stopped.txtar": string(matrix) + files, "running.txtar": start + string(matrix) + stop + files} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{Dir: dir, RequireExplicitExec: true, RequireUniqueNames: true, Cmds: words()})
}
