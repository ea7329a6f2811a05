package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestHealthShowsTheReplica, as the metrics do. While there is one, the clock stays.
func TestHealthShowsTheReplica(t *testing.T) {
	parallelBrowser(t)
	p := &playground{t: t, dir: filepath.Join(t.TempDir(), "sandbox")}
	p.env = []string{"CONFAB_REPLICA__URL=file://" + filepath.Join(t.TempDir(), "replica"), "CONFAB_REPLICA__INTERVAL=50ms"}
	p.start()
	o := &onlooker{window: openWindow(t), t: t, is: is.New(t)}
	metrics := askWith(t, "GET", strings.TrimSuffix(p.state.ConsoleURL, "/console/")+"/metrics", "").body
	for _, name := range []string{"lag_seconds", "backlog_bytes", "verified_timestamp_seconds"} {
		o.is.True(strings.Contains(metrics, "\nconfab_replica_"+name+" "))
	}
	o.is.True(strings.Contains(p.sim("POST", "/clock", `{"advance":"25h"}`, 409), "cannot be replicated"))

	o.Visit(p.state.ConsoleURL + "settings/health")
	for _, words := range []string{" s behind", " waiting to be sent.", "No restore verified yet."} {
		o.WaitFor(`document.querySelector("main")?.textContent.includes("` + words + `")`)
	}
	o.shoot("health-replica")
}
