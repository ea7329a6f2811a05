package cli_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAdminCommandsWorkWithAndWithoutAServer runs testdata/matrix.txt twice.
func TestAdminCommandsWorkWithAndWithoutAServer(t *testing.T) {
	matrix, err := os.ReadFile("testdata/matrix.txt")
	if err != nil {
		t.Fatal(err)
	}
	const (
		provider = `listen SIM
exec sh -c 'exec confab simulator --listen $SIM >sim.txt 2>sim.log' &sim&
eventually grep -q 'access token' sim.txt
field SIMULATOR confab-simulator/simulator.json simulator_url
field NUMBER confab-simulator/simulator.json phone_number_id
field WABA confab-simulator/simulator.json waba_id
field TOKEN confab-simulator/simulator.json access_token
field APP confab-simulator/simulator.json app_id
field SECRET confab-simulator/simulator.json app_secret
env CONFAB_PROVIDER__BASE_URL=$SIMULATOR
env CONFAB_PROVIDER__APP_ID=$APP
env CONFAB_PROVIDER__APP_SECRET=$SECRET
`
		start = "listen AT\nexec confab serve --listen $AT &server&\nready http://$AT\n"
		stop  = "term\nwait\n"
		files = "-- hours.json --\n{\"timezone\":\"Europe/Madrid\",\"weekly\":{\"mon\":[[\"09:00\",\"18:00\"]]}}\n-- rates.csv --\nfrom,country,category,price,currency\n2026-10-01,44,marketing,0.0529,USD\n2026-10-01,*,utility,0.004,USD\n-- people --\nphone_number,name\n+15550000001,Ana\n15550000002,Bo\n-- body --\n{}\n-- nowhere.toml --\n[provider]\nbase_url = \"http://127.0.0.1:1\"\n"
	)
	tomorrow := "env TOMORROW=" + time.Now().Add(24*time.Hour).Format(time.RFC3339) + "\n"
	dir := t.TempDir()
	for name, script := range map[string]string{
		"stopped.txtar": provider + tomorrow + string(matrix) + stop + files,
		"running.txtar": provider + tomorrow + start + string(matrix) + stop + files,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runScripts(t, dir)
}
