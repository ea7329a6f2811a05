package app_test

import (
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/config"
)

// doors are the rules of the contract about what stays shut, and where each is
// tested: a test, or a line of a script.
var doors = []struct {
	rule   string
	proofs []string // as hollow reads them
}{
	{"the signup form is a sandbox's only", []string{"onboard_live_test.go TestAServerThatIsNoSandboxMakesNoNumbersUp"}},
	{"the phone and the provider behind it are a sandbox's only, for its admins", []string{
		"console_phone_test.go TestAServerThatIsNoSandboxHasNoPhone", "console_phone_test.go TestTheConsoleOfASandboxReachesTheProviderAndNothingElse",
		"console_phone_test.go TestTheTokenOfTheProviderIsAddedByTheServer", "console_phone_test.go TestTheStreamOfTheProviderPassesThroughAndEndsWithTheSession",
	}},
	{"sandbox and simulator listen on loopback, or warn and want a token", []string{
		"simulator/control_test.go TestOtherListenAddressesNeedAToken", "cli/testdata/script/sandbox_open.txtar warning: the sandbox listens on", "cli/testdata/script/sandbox_open.txtar warning: the simulator listens on",
	}},
	{"/_sim checks Host, refuses other origins, and takes JSON only", []string{"simulator/control_test.go TestTheControlSurfaceIsShutToStrangers"}},
	{"/_sim fetches links through the guarded client", []string{"cli/testdata/script/trigger_inbound.txtar address is not public"}},
	{"the pages check Host and refuse other origins", []string{"onboard_doors_test.go TestThePagesAreShutToOtherSites", "onboard_doors_test.go TestAPublicNameIsKnown", "doors_test.go TestPagesAreShownUnderTheirOwnNamesOnly", "pages/fuzz_test.go FuzzVisit"}},
	{"/metrics refuses what was forwarded, and other hosts", []string{"handler_test.go TestMetricsAreForThisMachineOnly"}},
	{"logs outside of /v1 show route templates", []string{"outside_api_test.go TestEachRequestOutsideOfTheAPIHasOneLineWithoutItsPath", "doors_test.go TestTheLogShowsNeitherSetupTokensNorMediaNames", "logging_test.go TestSecretsNeverReachTheLog"}},
	{"pages send Referrer-Policy: no-referrer", []string{"doors_test.go TestPagesAreShownUnderTheirOwnNamesOnly", "pages/media_test.go TestAHostedFileIsShownWithItsTypeAndMayBeCached/Referrer-Policy"}},
	{"sandbox.json, simulator.json and master.key are for their owner only", []string{
		"cli/testdata/script/sandbox.txtar mode 0600 confab-sandbox/sandbox.json", "cli/testdata/script/sandbox.txtar mode 0600 confab-sandbox/master.key",
		"cli/testdata/script/simulator.txtar mode 0600 confab-simulator/simulator.json", "cli/testdata/script/orgs.txtar mode 0600 confab-data/master.key", "../storage/seal_test.go TestMasterKeyIsMadeOnceAndPrivate",
	}},
	{"the data directory too, and git leaves it alone", []string{
		"cli/testdata/script/orgs.txtar mode 0700 confab-data", "cli/testdata/script/orgs.txtar exists confab-data/.gitignore", "cli/testdata/script/serve.txtar mode 0700 confab-data",
		"cli/testdata/script/sandbox.txtar mode 0700 confab-sandbox", "cli/testdata/script/sandbox.txtar exists confab-sandbox/.gitignore",
		"cli/testdata/script/simulator.txtar mode 0700 confab-simulator", "cli/testdata/script/simulator.txtar exists confab-simulator/.gitignore",
	}},
	{"a hosted URL carries a token that is not the content's hash", []string{"api/media_test.go TestTheSameFileIsStoredOnceButHasTwoAddresses", "pages/media_test.go TestOnlyTheWholeTokenOpensAFileAndOnlyWhileItIsThere", "pages/fuzz_test.go FuzzMedia"}},
	{"it is gone after deletion and purge, and cached for a day", []string{
		"pages/media_test.go TestAHostedFileIsShownWithItsTypeAndMayBeCached", "media_test.go TestLibraryMediaTravelsFromTheAPIToTheProviderAndTheWorld", "inbound_test.go TestAFileOfAPurgedMessageIsNoLongerHosted",
	}},
	{"media and header links follow three redirects, each guarded", []string{
		"../jobs/guard/redirect_test.go TestRedirectsAreFollowedAsFarAsAllowed", "../jobs/guard/redirect_test.go TestEachRedirectIsCheckedAgain",
		"api/media_link_test.go TestALinkThatLeadsToNoFileIsItsOwnFault", "api/templates_edit_test.go TestAHeadersFileThatWillNotDoIsNamed/too many redirects",
		"api/templates_edit_test.go TestAHeadersFileThatWillNotDoIsNamed/a redirect inside",
	}},
	{"a backup has master.key unless it is left out", []string{"backup/backup_test.go TestABackupIsPackedAsDocumented", "backup/backup_test.go TestABackupWithoutTheKey", "backup_test.go TestABackupWithoutTheKeyNeedsIt", "cli/testdata/script/backup.txtar mode 0600 again/master.key"}},
	{"the documentation says so, for standbys too", []string{"doors_test.go TestTheDocumentationSaysWhereTheKeyGoes"}},
}

// TestEveryDoorHasItsTest keeps the list true: a test that is renamed, removed or
// emptied is missed here.
func TestEveryDoorHasItsTest(t *testing.T) {
	for _, door := range doors {
		if len(door.proofs) == 0 {
			t.Errorf("%s: nothing proves it", door.rule)
		}
		for _, proof := range door.proofs {
			if why := hollow(proof); why != "" {
				t.Errorf("%s: %s: %s", door.rule, proof, why)
			}
		}
	}
}

func TestPagesAreShownUnderTheirOwnNamesOnly(t *testing.T) {
	is := is.New(t)
	s := newSandbox(t, func(c *config.Config) { c.Server.PublicURL = "https://chat.test" })
	base := "http://" + s.app.Config.Server.Listen
	for path, status := range map[string]int{"/docs": 200, "/docs/page.css": 200, "/docs/nothing": 404, "/console/": 302, "/console": 302, "/onboard/csl_none": 404, "/onboard/assets/none": 404} {
		referrer := "no-referrer"
		if strings.HasPrefix(path, "/console") {
			referrer = "same-origin" // its forms have to say where they come from
		}
		for _, host := range []string{"chat.test", "CHAT.TEST:443", "localhost:8080", "127.0.0.1", "[::1]:80"} {
			got := ask(t, "GET", base+path, nil, "Host: "+host)
			is.Equal(got.status, status) // under a name of its own
			is.Equal(got.header.Get("Referrer-Policy"), referrer)
		}
		for _, host := range []string{"evil.test", "chat.test.evil.test", "127.0.0.1.evil.test", "10.0.0.1:80"} {
			got := ask(t, "GET", base+path, nil, "Host: "+host)
			is.Equal(got.status, 403) // under another's
			is.Equal(got.header.Get("Referrer-Policy"), referrer)
		}
	}
	is.Equal(ask(t, "POST", base+"/docs", nil, "Origin: https://evil.test").status, 405)     // there is nothing to change
	is.Equal(ask(t, "POST", base+"/console/", nil, "Origin: https://evil.test").status, 403) // wherever it goes
	is.Equal(ask(t, "GET", base+"/v1/health", nil, "Host: elsewhere.test").status, 200)      // the API is no page
}

func TestTheLogShowsNeitherSetupTokensNorMediaNames(t *testing.T) {
	is := is.New(t)
	p := newPlatform(t)
	for _, path := range []string{"/onboard/csl_secret", "/onboard/csl_secret/progress?account=secret", "/media/secret/secret.png", "/docs/secret", "/console/secret", "/secret"} {
		ask(t, "GET", p.app.URL()+path, nil)
	}
	for _, route := range []string{"path=/onboard/:token", "path=/media/:token", "path=/docs", "path=/console/", `path=""`} {
		if !until(func() bool { return strings.Contains(p.log.read(), route) }) { // it may be written after the answer
			t.Fatalf("no line with %s", route)
		}
	}
	is.True(!strings.Contains(p.log.read(), "secret"))
}

func TestTheDocumentationSaysWhereTheKeyGoes(t *testing.T) {
	is := is.New(t)
	readme, err := os.ReadFile("../README.md")
	is.NoErr(err)
	text := strings.Join(strings.Fields(string(readme)), " ")
	for _, sentence := range []string{
		"A backup holds the database, the media and `master.key`", "leave that out with `--without-key`", "Without the key a backup cannot be used", "standby", "It carries neither `master.key`, which you copy once",
	} {
		is.True(strings.Contains(text, sentence)) // is in README.md
	}
	help := run(t, "backup", "--help")
	is.True(strings.Contains(help, "The archive holds master.key") && strings.Contains(help, "--without-key"))
}
