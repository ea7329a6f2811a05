package config

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/spf13/pflag"
)

// badFile is the text of a file and the error it gives.
type badFile struct{ content, want string }

func badValues() []badFile {
	return []badFile{
		// wrong types
		{`server = "x"`, `server = "x": must be a table, [server]`},
		{`plans.gold = 1`, `plans.gold = 1: must be a table, [plans.gold]`},
		{`[[server]]`, `server = [{…}]: must be a table, [server]`},
		{`server.listen = 8080`, `server.listen = 8080: must be text in quotes`},
		{`server.listen = {a = 1}`, `server.listen = {…}: must be text in quotes`},
		{`data_dir = 2026-01-02`, `data_dir = 2026-01-02: must be text in quotes`},
		{`jobs.workers = "8"`, `jobs.workers = "8": must be a whole number`},
		{`jobs.workers = 8.5`, `jobs.workers = 8.5: must be a whole number`},
		{`provider.pair_limit = "yes"`, `provider.pair_limit = "yes": must be true or false`},
		{`provider.pair_limit = 1`, `provider.pair_limit = 1: must be true or false`},
		{`provider.timeout = 10`, `provider.timeout = 10: must be a duration such as 30s, 5m, 12h or 90d`},
		{`provider.messages_per_second = nan`, `provider.messages_per_second = NaN: must be a number`},
		{`plans.gold.rate_per_second = inf`, `plans.gold.rate_per_second = +Inf: must be a number`},
		{`server.cors_origins = 1`, `server.cors_origins = 1: must be a list such as ["one", "two"], or one,two in a variable`},
		{`server.cors_origins = [1]`, `server.cors_origins = [1]: item 1 must be text in quotes`},
		{`provider.retry_schedule = ["1s", 5]`, `provider.retry_schedule = ["1s", 5]: item 5 must be a duration such as 30s, 5m, 12h or 90d`},

		// durations
		{`provider.timeout = "soon"`, `provider.timeout = "soon": must be a duration such as 30s, 5m, 12h or 90d`},
		{`provider.timeout = "-1s"`, `provider.timeout = "-1s": must not be negative`},
		{`provider.timeout = "0s"`, `provider.timeout = "0s": must be longer than 0`},
		{`provider.timeout = "200000d"`, `provider.timeout = "200000d": must be shorter than 292 years`},
		{`jobs.poll_interval = "0s"`, `jobs.poll_interval = "0s": must be longer than 0`},
		{`webhooks.retry_schedule = ["1s", "0s"]`, `webhooks.retry_schedule = ["1s", "0s"]: item "0s" must be longer than 0`},

		// numbers
		{`media.cache_bytes = -1`, `media.cache_bytes = -1: must be at least 0`},
		{`media.store = "bucket"`, `media.store = "bucket": must be s3://bucket/prefix or file:///path`},
		{`media.store = "s3://b?regoin=x"`, `media.store = "s3://b?regoin=x": has the parameter "regoin"; there are endpoint, region and forcePathStyle`},
		{`storage.readers = -1`, `storage.readers = -1: must be between 0 and 1000`},
		{`jobs.workers = 0`, `jobs.workers = 0: must be between 1 and 100000`},
		{`webhooks.retention_days = 0`, `webhooks.retention_days = 0: must be between 1 and 36500`},
		{`webhooks.disable_after_failures = 0`, `webhooks.disable_after_failures = 0: must be at least 1`},
		{`webhooks.per_subscription = 0`, `webhooks.per_subscription = 0: must be at least 1`},
		{`log.api_log_days = 99999`, `log.api_log_days = 99999: must be between 1 and 36500`},
		{`provider.messages_per_second = -0.5`, `provider.messages_per_second = -0.5: must be at least 0`},
		{`plans.gold.monthly_messages = -1`, `plans.gold.monthly_messages = -1: must be at least 0`},
		{`plans.gold.burst = 0`, `plans.gold.burst = 0: must be at least 1 unless rate_per_second is 0`},

		// the replica
		{`replica.url = "bucket/prefix"`, `replica.url = "bucket/prefix": must be s3://bucket/prefix or file:///path`},
		{`replica.url = "file://relative"`, `replica.url = "file://relative": must be s3://bucket/prefix or file:///path`},
		{`replica.url = "s3://b?regoin=x"`, `replica.url = "s3://b?regoin=x": has the parameter "regoin"; there are endpoint, region and forcePathStyle`},
		{`replica.url = "s3://b?endpoint=minio:9000"`, `replica.url = "s3://b?endpoint=minio:9000": its endpoint must be a URL such as https://storage.example.com`},
		{`replica.max_backlog = "2 gallons"`, `replica.max_backlog = "2 gallons": must be a number of bytes, or a size such as 512MiB or 2GiB`},
		{`replica.max_backlog = 5`, `replica.max_backlog = 5: must be at least 1MiB`},
		{`replica.keep = "1h"`, `replica.keep = "1h": must be at least replica.snapshot_every, which is the step in which it can be kept`},
		{`replica.access_key_id = "id"`, `replica.access_key_id = "id": needs replica.secret_access_key too`},

		// words
		{`storage.synchronous = "off"`, `storage.synchronous = "off": must be one of full, normal`},
		{`log.level = "INFO"`, `log.level = "INFO": must be one of debug, info, warn, error`},
		{`log.format = "xml"`, `log.format = "xml": must be one of text, json`},
		{`provider.version = "23"`, `provider.version = "23": must be a version such as v26.0`},
		{`data_dir = " "`, `data_dir = " ": must not be empty`},
		{`plans.Gold.api = true`, `plans.Gold: a plan's name must have 1 to 50 characters of a-z, 0-9 and _`},
		{`plans."*".api = true`, `plans.*: a plan's name must have 1 to 50 characters of a-z, 0-9 and _`},
		{`plans."".api = true`, `plans.: a plan's name must have 1 to 50 characters of a-z, 0-9 and _`},
	}
}

func unknownKeys() []badFile {
	return []badFile{
		{`dta_dir = "x"`, `dta_dir: unknown key, did you mean data_dir?`},
		{`server.lisen = "x"`, `server.lisen: unknown key, did you mean server.listen?`},
		{"[servr]\nlisten = 'x'", `servr.listen: unknown key, did you mean server.listen?`},
		{`workers = 5`, `workers: unknown key, did you mean jobs.workers?`},
		{`timeout = 5`, `timeout: unknown key`}, // two sections have one
		{`plans.gold.brust = 5`, `plans.gold.brust: unknown key, did you mean plans.gold.burst?`},
		{`[nothing]`, `nothing: unknown key`},
		{`[nothing.like.it]`, `nothing.like.it: unknown key`},
		{`"server.listen" = ":1"`, `server.listen: unknown key, try it without the quotes`},
		{`"a\nb" = 1`, `"a\nb": unknown key`},
		{`UnknownVariables = 1`, `UnknownVariables: unknown key`},
	}
}

func disagreements() []badFile {
	return []badFile{
		{`server.tls_cert = "c"`, `server.tls_cert = "c": needs server.tls_key too`},
		{`oidc.only = true`, `oidc.only = true: needs oidc.issuer too`},
		{`oidc.issuer = "https://id.example.com"`, `oidc.issuer = "https://id.example.com": needs oidc.client_id too`},
		{"[oidc]\nissuer = 'https://id.example.com'\nclient_id = 'x'\ncreate = 'agent'", `oidc.create = "agent": needs oidc.domains too: else anyone with an account at the provider could join`},
		{"console.second_factor = 'admins'\n[oidc]\nissuer = 'https://id.example.com'\nclient_id = 'x'\nonly = true", `console.second_factor = "admins": must be optional with oidc.only: the identity provider asks for second factors then`},
		{`oidc.admin_claim = "groups"`, `oidc.admin_claim = "groups": needs oidc.admin_value too`},
		{`oidc.scopes = ["email"]`, `oidc.scopes = ["email"]: must contain openid`},
		{`oidc.create = "admin"`, `oidc.create = "admin": must be one of off, agent`},
		{`oidc.organization = "acme"`, `oidc.organization = "acme": must be the id of an organization, org_…`},
		{`console.second_factor = "all"`, `console.second_factor = "all": must be one of optional, admins, everyone`},
		{`server.tls_key = "k"`, `server.tls_key = "k": needs server.tls_cert too`},
		{"[server]\ntls_cert = 'c'\ntls_key = 'k'\ntls_domains = ['a.example']", `server.tls_domains = ["a.example"]: must be empty when server.tls_cert is set: use either your own certificate or a fetched one`},
		{`server.metrics_listen = "127.0.0.1:8080"`, `server.metrics_listen = "127.0.0.1:8080": must differ from server.listen`},
	}
}

func TestWhatIsWrongInTheFileIsNamed(t *testing.T) {
	for _, test := range slices.Concat(badValues(), unknownKeys(), disagreements()) {
		t.Run(test.content, func(t *testing.T) {
			is := is.New(t)
			path := writeFile(t, test.content)
			cfg, err := Load(Sources{File: path})
			is.True(err != nil)
			is.Equal(err.Error(), path+": "+test.want)
			is.Equal(cfg.DataDir, "") // nothing half loaded

			problem, ok := errors.AsType[*Error](err)
			is.True(ok)
			is.True(problem.Problem != "")
		})
	}
}

func TestABadTextIsNamedWithTheVariableAndTheFlag(t *testing.T) {
	for _, test := range []struct{ key, text, problem string }{
		{"server.listen", "", "host:port"},
		{"server.listen", "8080", "host:port"},
		{"server.listen", "127.0.0.1", "host:port"},
		{"server.listen", "127.0.0.1:http", "host:port"},
		{"server.listen", "127.0.0.1:65536", "host:port"},
		{"server.listen", "127.0.0.300:80", "host:port"},
		{"server.listen", "::1:80", "host:port"},
		{"server.listen", "a b:80", "host:port"},
		{"server.metrics_listen", "9090", "host:port"},
		{"server.public_url", "chat.example.com", "http or https URL"},
		{"server.public_url", "ftp://chat.example.com", "http or https URL"},
		{"server.public_url", "https://", "http or https URL"},
		{"server.public_url", "https://:80", "http or https URL"},
		{"server.public_url", "https://a.example:99999", "http or https URL"},
		{"server.public_url", "https://a.example/?", "http or https URL"},
		{"server.public_url", "https://a.example/#", "http or https URL"},
		{"server.public_url", "https://a.example/%zz", "http or https URL"},
		{"provider.base_url", "", "http or https URL"},
		{"server.cors_origins", "https://a.example/", `item "https://a.example/" must be * or an origin`},
		{"server.cors_origins", "https://A.example", "must be * or an origin"},
		{"server.cors_origins", "null", "must be * or an origin"},
		{"server.cors_origins", "*,,*", "must not have empty items"},
		{"server.tls_domains", "*.example.com", "must be a domain name"},
		{"server.tls_domains", "10.0.0.1", "must be a domain name"},
		{"server.tls_domains", "localhost", "must be a domain name"},
		{"server.trusted_proxies", "10.0.0.0/33", `item "10.0.0.0/33" must be an address or a network`},
		{"server.trusted_proxies", "fe80::1%eth0", "must be an address or a network"},
		{"security.allow_cidrs", "10.0.0.0/8, intranet", `item "intranet" must be an address or a network`},
		{"jobs.workers", "many", "must be a whole number"},
		{"jobs.workers", "", "must be a whole number"},
		{"jobs.workers", "99999999999999999999", "must be a whole number"},
		{"provider.pair_limit", "maybe", "must be true or false"},
		{"provider.messages_per_second", "inf", "must be a number"},
		{"provider.messages_per_second", "1e999", "must be a number"},
		{"provider.timeout", "10", "must be a duration"},
		{"webhooks.retry_schedule", "10s;30s", "must be a duration"},
		{"plans.gold.burst", "-1", "must be at least 0"},
		{"plans.gold.webhook_subscriptions", "-1", "must be at least 0"},
	} {
		t.Run(test.key+"="+test.text, func(t *testing.T) {
			is := is.New(t)
			_, err := Load(Sources{Environ: []string{variableName(test.key) + "=" + test.text}})
			is.True(err != nil)
			is.True(strings.HasPrefix(err.Error(), variableName(test.key)+": "+test.key+" = "+formatValue(test.text)+": "))
			is.True(strings.Contains(err.Error(), test.problem))

			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			flags.String("it", "", "")
			is.NoErr(flags.Set("it", test.text))
			_, err = Load(Sources{Flags: flags, FlagKeys: map[string]string{"it": test.key}})
			is.True(err != nil)
			is.True(strings.HasPrefix(err.Error(), "--it: "+test.key+" = "))
		})
	}
}

func TestABadValueStopsEvenWhereALaterLayerReplacesIt(t *testing.T) {
	is := is.New(t)
	path := writeFile(t, `jobs.workers = -1`)
	_, err := Load(Sources{File: path, Environ: []string{"CONFAB_JOBS__WORKERS=5"}})
	is.True(err != nil)
	is.Equal(err.Error(), path+": jobs.workers = -1: must be between 1 and 100000")
}

func TestAllBadSettingsAreToldAtOnce(t *testing.T) {
	is := is.New(t)
	path := writeFile(t, "[jobs]\nworkers = 0\nwokers = 1\n[log]\nlevel = 'loud'")
	_, err := Load(Sources{File: path, Environ: []string{"CONFAB_DATA_DIR="}})
	is.True(err != nil)
	is.Equal(strings.Split(err.Error(), "\n"), []string{
		path + ": jobs.wokers: unknown key, did you mean jobs.workers?",
		path + ": jobs.workers = 0: must be between 1 and 100000",
		path + `: log.level = "loud": must be one of debug, info, warn, error`,
		`CONFAB_DATA_DIR: data_dir = "": must not be empty`,
	})
}

func TestSettingsThatDisagreeNameTheLayerOfTheCulprit(t *testing.T) {
	is := is.New(t)
	_, err := Load(Sources{
		File:    writeFile(t, "plans.gold.rate_per_second = 2\nplans.free.rate_per_second = 0\nplans.free.burst = 0"),
		Environ: []string{"CONFAB_PLANS__GOLD__BURST=0"},
	})
	is.True(err != nil)
	is.Equal(err.Error(), `CONFAB_PLANS__GOLD__BURST: plans.gold.burst = "0": must be at least 1 unless rate_per_second is 0`)
}

func TestAnInheritedCulpritIsNamedWhereItWasWritten(t *testing.T) {
	is := is.New(t)
	path := writeFile(t, "plans.self_hosted = {rate_per_second = 0, burst = 0}\nplans.gold.rate_per_second = 2")
	_, err := Load(Sources{File: path})
	is.True(err != nil)
	is.Equal(err.Error(), path+": plans.gold.burst = 0: must be at least 1 unless rate_per_second is 0")
}

func TestASyntaxErrorNamesLineAndColumn(t *testing.T) {
	is := is.New(t)
	path := writeFile(t, "[server]\nlisten = :8080\n")
	_, err := Load(Sources{File: path})
	is.True(err != nil)
	is.True(strings.HasPrefix(err.Error(), path+": line 2, column 10: ")) // where the value begins

	path = writeFile(t, "[server]\nlisten = ':1'\nlisten = ':2'")
	_, err = Load(Sources{File: path})
	is.True(err != nil)
	is.True(strings.HasPrefix(err.Error(), path+": line 3, column 1: "))
	is.True(strings.Contains(err.Error(), "listen"))
}

func TestALongValueIsShownShort(t *testing.T) {
	is := is.New(t)
	_, err := Load(Sources{Environ: []string{"CONFAB_LOG__LEVEL=" + strings.Repeat("ä", 10_000)}})
	is.True(err != nil)
	is.True(len(err.Error()) < 400)
}
