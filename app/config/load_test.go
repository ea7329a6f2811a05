package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/spf13/pflag"
)

func TestLaterLayersWin(t *testing.T) {
	is := is.New(t)
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.String("listen", "ignored:1", "")
	flags.Duration("timeout", time.Hour, "") // not given: its default must not count
	flags.String("domains", "", "")
	flags.String("unrelated", "", "")
	is.NoErr(flags.Parse([]string{"--listen", "flag:4", "--domains", "a.example,b.example", "--unrelated", "x"}))

	cfg, err := Load(Sources{
		File: writeFile(t, `
			data_dir = "file"
			[server]
			listen = "file:2"
			metrics_listen = "file:9"
			[provider]
			timeout = "2s"
			retry_schedule = ["2s"]`),
		Environ:  []string{"CONFAB_SERVER__LISTEN=variable:3", "CONFAB_PROVIDER__RETRY_SCHEDULE=3s,4s", "CONFAB_DATA_DIR=variable"},
		Flags:    flags,
		FlagKeys: map[string]string{"listen": "server.listen", "timeout": "provider.timeout", "domains": "server.tls_domains"},
	})
	is.NoErr(err)
	is.Equal(cfg.Server.Listen, "flag:4")
	is.Equal(cfg.Server.TLSDomains, []string{"a.example", "b.example"})
	is.Equal(cfg.DataDir, "variable")
	is.Equal(cfg.Provider.RetrySchedule, []time.Duration{3 * time.Second, 4 * time.Second}) // replaced, not appended
	is.Equal(cfg.Provider.Timeout, 2*time.Second)
	is.Equal(cfg.Server.MetricsListen, "file:9")
	is.Equal(cfg.Webhooks, Default().Webhooks)
}

func TestAnEmptyListReplacesALongerOne(t *testing.T) {
	is := is.New(t)
	cfg, err := Load(Sources{
		File:    writeFile(t, `webhooks.retry_schedule = []`),
		Environ: []string{"CONFAB_PROVIDER__RETRY_SCHEDULE="},
	})
	is.NoErr(err)
	is.Equal(len(cfg.Webhooks.RetrySchedule), 0)
	is.Equal(len(cfg.Provider.RetrySchedule), 0)
}

func TestAListMayBeOneTextInTheFile(t *testing.T) {
	is := is.New(t)
	cfg, err := Load(Sources{File: writeFile(t, `webhooks.retry_schedule = "1s, 2s"`)})
	is.NoErr(err)
	is.Equal(cfg.Webhooks.RetrySchedule, []time.Duration{time.Second, 2 * time.Second})
}

func TestTheDataDirectoryDefaultsToTheOneOfSystemd(t *testing.T) {
	is := is.New(t)
	systemd := "STATE_DIRECTORY=/var/lib/confab:/var/lib/other"

	cfg, err := Load(Sources{Environ: []string{systemd}})
	is.NoErr(err)
	is.Equal(cfg.DataDir, "/var/lib/confab")

	cfg, err = Load(Sources{Environ: []string{systemd}, File: writeFile(t, `data_dir = "file"`)})
	is.NoErr(err)
	is.Equal(cfg.DataDir, "file") // a default yields to any layer

	cfg, err = Load(Sources{Environ: []string{"STATE_DIRECTORY="}})
	is.NoErr(err)
	is.Equal(cfg.DataDir, "./confab-data")

	sandbox := Default()
	sandbox.DataDir = "./confab-sandbox"
	cfg, err = Load(Sources{Environ: []string{systemd}, Defaults: &sandbox})
	is.NoErr(err)
	is.Equal(cfg.DataDir, "./confab-sandbox") // the sandbox's directory is not the service's
}

func TestAMissingFileIsAnErrorOnlyWhenItWasAskedFor(t *testing.T) {
	is := is.New(t)
	absent := filepath.Join(t.TempDir(), "absent.toml")

	cfg, err := Load(Sources{File: absent})
	is.NoErr(err)
	is.Equal(cfg, Default())

	_, err = Load(Sources{File: absent, FileRequired: true})
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), absent))

	_, err = Load(Sources{File: t.TempDir()})
	is.True(err != nil) // a directory is there, but no file
}

func TestAFileWithAByteOrderMarkIsRead(t *testing.T) {
	is := is.New(t)
	cfg, err := Load(Sources{File: writeFile(t, "\ufeffdata_dir = \"x\"\r\n")})
	is.NoErr(err)
	is.Equal(cfg.DataDir, "x")
}

func TestPlansInheritFromSelfHostedAsTheUserHasIt(t *testing.T) {
	is := is.New(t)
	cfg, err := Load(Sources{
		File: writeFile(t, `
			[plans.starter]
			customers = false
			[plans.empty]
			[plans.self_hosted]
			monthly_messages = 7`),
		Environ: []string{
			"CONFAB_PLANS__SELF_HOSTED__RATE_PER_SECOND=5",
			"CONFAB_PLANS__STARTER__BURST=9",
			"CONFAB_PLANS__A__B___API=false", // the plan a__b_
		},
	})
	is.NoErr(err)
	base := Plan{API: true, Customers: true, MonthlyMessages: 7, RatePerSecond: 5, Burst: 2000, WebhookSubscriptions: 100}
	starter, odd := base, base
	starter.Customers, starter.Burst = false, 9
	odd.API = false
	is.Equal(cfg.Plans, map[string]Plan{"self_hosted": base, "starter": starter, "empty": base, "a__b_": odd})
	is.Equal(Default().Plans["self_hosted"].Burst, 2000) // the built-in plan is untouched
}

func TestLoadingLeavesTheGivenDefaultsAlone(t *testing.T) {
	is := is.New(t)
	mine := Default()
	cfg, err := Load(Sources{
		Defaults: &mine,
		File:     writeFile(t, "plans.gold.burst = 5\nplans.self_hosted.burst = 6\nprovider.retry_schedule = ['1s']"),
	})
	is.NoErr(err)
	is.Equal(len(cfg.Plans), 2)
	is.Equal(mine, Default())
}

func TestUnknownVariablesAreListedAndStopNothing(t *testing.T) {
	is := is.New(t)
	cfg, err := Load(Sources{Environ: []string{
		"CONFAB_SERVER_LISTEN=:1", "CONFAB_JOBS__WORKER=1", "CONFAB_WORKERS=1", "CONFAB_=1", "CONFAB_server__listen=:1",
		"CONFAB_PLANS__GOLD__COLOUR=1", "CONFAB_PLANS__*__BURST=1", "CONFAB_SERVER.LISTEN=:1", "CONFABULATE=1", "PATH=/bin",
		"CONFAB_MASTER_KEY=k", "CONFAB_CONFIG=f", "CONFAB_PIN=1", "CONFAB_BASE_URL=u", "CONFAB_API_KEY=k",
		"CONFAB_PHONE_NUMBER_ID=1", "CONFAB_SIMULATOR_URL=u", "CONFAB_WEBHOOK_SECRET=s",
	}})
	is.NoErr(err)
	is.Equal(cfg.UnknownVariables, []string{
		"CONFAB_ is not a setting",
		"CONFAB_JOBS__WORKER is not a setting, did you mean CONFAB_JOBS__WORKERS?",
		"CONFAB_PLANS__*__BURST is not a setting",
		"CONFAB_PLANS__GOLD__COLOUR is not a setting",
		"CONFAB_SERVER.LISTEN is not a setting, did you mean CONFAB_SERVER__LISTEN?",
		"CONFAB_SERVER_LISTEN is not a setting, did you mean CONFAB_SERVER__LISTEN?",
		"CONFAB_WORKERS is not a setting, did you mean CONFAB_JOBS__WORKERS?",
		"CONFAB_server__listen is not a setting, did you mean CONFAB_SERVER__LISTEN?",
	})
	cfg.UnknownVariables = nil
	is.Equal(cfg, Default()) // they set nothing
}

func TestTheEnvironmentOfTheProcessIsNotRead(t *testing.T) {
	is := is.New(t)
	t.Setenv("CONFAB_DATA_DIR", "elsewhere")
	is.Equal(os.Getenv("CONFAB_DATA_DIR"), "elsewhere")
	cfg, err := Load(Sources{})
	is.NoErr(err)
	is.Equal(cfg, Default())
}

func TestThePublicURLIsThatOfTheListenerUnlessSet(t *testing.T) {
	for _, test := range []struct {
		server Server
		want   string
	}{
		{Server{Listen: "127.0.0.1:8080"}, "http://127.0.0.1:8080"},
		{Server{Listen: "[::1]:80"}, "http://[::1]:80"},
		{Server{Listen: ":8080"}, "http://localhost:8080"},
		{Server{Listen: "0.0.0.0:8080"}, "http://localhost:8080"},
		{Server{Listen: "[::]:8080"}, "http://localhost:8080"},
		{Server{Listen: "nonsense"}, "http://nonsense"},
		{Server{Listen: "a.example:8443", TLSCert: "c", TLSKey: "k"}, "https://a.example:8443"},
		{Server{Listen: ":443", TLSDomains: []string{"a.example", "b.example"}}, "https://a.example"},
		{Server{Listen: ":443", PublicURL: "https://c.example/base/"}, "https://c.example/base"},
	} {
		t.Run(test.want, func(t *testing.T) {
			is := is.New(t)
			is.Equal(Config{Server: test.server}.PublicURL(), test.want)
		})
	}
}
