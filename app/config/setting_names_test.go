package config

import (
	"errors"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/spf13/pflag"
)

// sample is a value, other than the default, for one setting: as a file has
// it, as a variable or flag has it, and as it arrives.
type sample struct {
	key, file, text string
	want            any
}

// samples has every setting; TestSamplesCoverEverySetting sees to it.
func samples() []sample {
	return []sample{
		{"data_dir", `"/srv/confab"`, "/srv/confab", "/srv/confab"},

		{"server.listen", `"0.0.0.0:9000"`, "0.0.0.0:9000", "0.0.0.0:9000"},
		{"server.public_url", `"https://chat.example.com/base/"`, "https://chat.example.com/base/", "https://chat.example.com/base"},
		{"server.cors_origins", `["https://a.example", "*"]`, "https://a.example, *", []string{"https://a.example", "*"}},
		{"server.tls_cert", `"cert.pem"`, "cert.pem", "cert.pem"},
		{"server.tls_key", `"key.pem"`, "key.pem", "key.pem"},
		{"server.tls_domains", `["a.example.com"]`, "a.example.com", []string{"a.example.com"}},
		{"server.metrics_listen", `":9090"`, ":9090", ":9090"},
		{"server.trusted_proxies", `["10.0.0.0/8", "::1"]`, "10.0.0.0/8,::1", prefixes("10.0.0.0/8", "::1/128")},
		{"server.max_streams", `5`, "5", 5},

		{"storage.synchronous", `"normal"`, "normal", "normal"},
		{"storage.readers", `4`, "4", 4},
		{"media.store", `"s3://b/p?region=r"`, "s3://b/p?region=r", "s3://b/p?region=r"},
		{"media.access_key_id", `"id"`, "id", "id"},
		{"media.secret_access_key", `"s3cret"`, "s3cret", Secret("s3cret")},
		{"media.cache_bytes", `"512MiB"`, "536870912", Bytes(512 << 20)},

		{"replica.url", `"s3://bucket/confab?region=eu-1"`, "s3://bucket/confab?region=eu-1", "s3://bucket/confab?region=eu-1"},
		{"replica.interval", `"1s"`, "1s", time.Second},
		{"replica.snapshot_every", `"12h"`, "12h", 12 * time.Hour},
		{"replica.keep", `"30d"`, "30d", 30 * 24 * time.Hour},
		{"replica.max_backlog", `"512MiB"`, "536870912", Bytes(512 << 20)},
		{"replica.access_key_id", `"file:/run/secrets/id"`, "file:/run/secrets/id", "file:/run/secrets/id"},
		{"replica.secret_access_key", `"s3cret"`, "s3cret", Secret("s3cret")},

		{"provider.base_url", `"http://127.0.0.1:8081/"`, "http://127.0.0.1:8081/", "http://127.0.0.1:8081"},
		{"provider.version", `"v24.1"`, "v24.1", "v24.1"},
		{"provider.app_id", `"123"`, "123", "123"},
		{"provider.app_secret", `"s3same"`, "s3same", Secret("s3same")},
		{"provider.verify_token", `"t0ken, with comma"`, "t0ken, with comma", Secret("t0ken, with comma")},
		{"provider.signup_config_id", `"456"`, "456", "456"},
		{"provider.signup_coexistence", `true`, "true", true},
		{"provider.timeout", `"1500ms"`, "1500ms", 1500 * time.Millisecond},
		{"provider.messages_per_second", `0`, "0", 0.0},
		{"provider.pair_limit", `false`, "false", false},
		{"provider.retry_schedule", `["1s"]`, "1s", []time.Duration{time.Second}},
		{"provider.reconcile_window", `0`, "0", time.Duration(0)},

		{"webhooks.retry_schedule", `["1s", "2d"]`, "1s,2d", []time.Duration{time.Second, 48 * time.Hour}},
		{"webhooks.timeout", `"3s"`, "3s", 3 * time.Second},
		{"webhooks.disable_after_failures", `3`, "3", 3},
		{"webhooks.disable_min_age", `"0s"`, "0s", time.Duration(0)},
		{"webhooks.per_subscription", `1`, "1", 1},
		{"webhooks.retention_days", `7`, "7", 7},

		{"security.allow_insecure_urls", `true`, "true", true},
		{"security.allow_cidrs", `["127.0.0.1", "10.1.2.3/16"]`, "127.0.0.1,10.1.2.3/16", prefixes("127.0.0.1/32", "10.1.0.0/16")},

		{"jobs.workers", `8`, "8", 8},
		{"jobs.poll_interval", `"50ms"`, "50ms", 50 * time.Millisecond},

		{"log.level", `"debug"`, "debug", "debug"},
		{"log.format", `"json"`, "json", "json"},
		{"log.api_log_days", `90`, "90", 90},
		{"log.bodies", `"errors"`, "errors", "errors"},
		{"console.enabled", `false`, "false", false},
		{"console.audit_days", `90`, "90", 90},
		{"console.read_receipts", `false`, "false", false},
		{"console.push_content", `false`, "false", false},
		{"console.max_streams", `5`, "5", 5},
		{"console.second_factor", `"admins"`, "admins", "admins"},

		{"oidc.issuer", `"https://id.example.com"`, "https://id.example.com", "https://id.example.com"},
		{"oidc.client_id", `"confab"`, "confab", "confab"},
		{"oidc.client_secret", `"s3same"`, "s3same", Secret("s3same")},
		{"oidc.name", `"Acme ID"`, "Acme ID", "Acme ID"},
		{"oidc.scopes", `["openid", "email"]`, "openid,email", []string{"openid", "email"}},
		{"oidc.trust_email", `true`, "true", true},
		{"oidc.create", `"agent"`, "agent", "agent"},
		{"oidc.domains", `["example.com"]`, "example.com", []string{"example.com"}},
		{"oidc.organization", `"org_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"`, "org_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "org_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"},
		{"oidc.admin_claim", `"groups"`, "groups", "groups"},
		{"oidc.admin_value", `"ops"`, "ops", "ops"},
		{"oidc.only", `true`, "true", true},

		{"mcp.enabled", `true`, "true", true},
		{"gateway.enabled", `true`, "true", true},
		{"gateway.wait", `"15s"`, "15s", 15 * time.Second},
		{"mcp.allow_writes", `true`, "true", true},

		{"plans.self_hosted.api", `false`, "false", false},
		{"plans.self_hosted.customers", `false`, "false", false},
		{"plans.self_hosted.monthly_messages", `1000`, "1000", 1000},
		{"plans.self_hosted.retention_days", `365`, "365", 365},
		{"plans.self_hosted.rate_per_second", `0.5`, "0.5", 0.5},
		{"plans.self_hosted.burst", `1`, "1", 1},
		{"plans.self_hosted.webhook_subscriptions", `500`, "500", 500},
	}
}

func prefixes(list ...string) (out []netip.Prefix) {
	for _, p := range list {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

// settings lists what a Config holds by dotted key. It is a second walk,
// apart from the one under test, so that a field which that one forgets shows.
func settings(v reflect.Value, prefix string, into map[string]any) map[string]any {
	for i := range v.NumField() {
		tag, field := v.Type().Field(i).Tag.Get("koanf"), v.Field(i)
		if tag == "-" {
			continue
		}
		switch value := field.Interface().(type) {
		case map[string]Plan:
			for name, plan := range value {
				settings(reflect.ValueOf(plan), prefix+tag+"."+name+".", into)
			}
		default:
			if field.Kind() == reflect.Struct {
				settings(field, prefix+tag+".", into)
			} else {
				into[prefix+tag] = value
			}
		}
	}
	return into
}

func allSettings(c Config) map[string]any {
	return settings(reflect.ValueOf(c), "", map[string]any{})
}

// arrives says whether a sample, and nothing else, differs from the defaults.
func arrives(t *testing.T, s sample, cfg Config, also ...string) {
	t.Helper()
	is := is.NewRelaxed(t)
	defaults := allSettings(Default())
	for key, value := range allSettings(cfg) {
		switch {
		case key == s.key:
			is.Equal(value, s.want) // the value arrives
		case !slices.Contains(also, key):
			is.Equal(value, defaults[key]) // other settings are left alone
		}
	}
}

// companions are what a setting needs beside it to be valid.
func companions(key string) map[string]string {
	provider := map[string]string{"oidc.issuer": "https://id.example.com", "oidc.client_id": "confab"}
	switch key {
	case "server.tls_cert":
		return map[string]string{"server.tls_key": "x.pem"}
	case "server.tls_key":
		return map[string]string{"server.tls_cert": "x.pem"}
	case "replica.access_key_id":
		return map[string]string{"replica.secret_access_key": "x.pem"}
	case "replica.secret_access_key":
		return map[string]string{"replica.access_key_id": "x.pem"}
	case "oidc.issuer":
		return map[string]string{"oidc.client_id": "confab"}
	case "oidc.only":
		return provider
	case "oidc.create":
		provider["oidc.domains"] = "example.com"
		return provider
	case "oidc.admin_claim":
		return map[string]string{"oidc.admin_value": "ops"}
	case "oidc.admin_value":
		return map[string]string{"oidc.admin_claim": "groups"}
	}
	return nil
}

// writeFile makes a settings file and returns its path.
func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "confab.toml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSamplesCoverEverySetting(t *testing.T) {
	is := is.New(t)
	var keys []string
	defaults := allSettings(Default())
	for _, s := range samples() {
		keys = append(keys, s.key)
		is.True(!reflect.DeepEqual(s.want, defaults[s.key])) // a sample must differ from the default
	}
	is.Equal(slices.Sorted(slices.Values(keys)), slices.Sorted(maps.Keys(defaults)))
}

func TestEveryRuleIsOfASettingAndEverySettingHasADecoder(t *testing.T) {
	is := is.New(t)
	types := settingTypes()
	for key := range checks() {
		is.True(types[key] != nil)
	}
	var keys []string
	for key := range allSettings(Default()) {
		keys = append(keys, pattern(key))
	}
	is.Equal(slices.Sorted(maps.Keys(types)), slices.Sorted(slices.Values(keys))) // the walk forgets nothing
	is.NoErr(Default().Validate())                                                // each rule takes its setting's type

	for _, typ := range types {
		_, err := decode(struct{}{}, typ)
		is.True(err != nil) // nonsense is refused, without a panic
	}
	for _, s := range samples() {
		typ := types[pattern(s.key)]
		is.True(typ != nil)
		value, err := decode(textValue(s.text), typ)
		is.NoErr(err)
		is.Equal(reflect.TypeOf(value), typ) // the decoded value fits into its setting
	}
}

func TestEverySettingIsReadFromTheFile(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.key, func(t *testing.T) {
			is := is.New(t)
			content := s.key + " = " + s.file + "\n"
			for other, value := range companions(s.key) {
				value = `"` + value + `"`
				if other == "oidc.domains" {
					value = "[" + value + "]"
				}
				content += other + " = " + value + "\n"
			}
			cfg, err := Load(Sources{File: writeFile(t, content), FileRequired: true})
			is.NoErr(err)
			arrives(t, s, cfg, slices.Collect(maps.Keys(companions(s.key)))...)
		})
	}
}

func TestEverySettingIsReadFromItsVariable(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.key, func(t *testing.T) {
			is := is.New(t)
			name := "CONFAB_" + strings.ToUpper(strings.ReplaceAll(s.key, ".", "__"))
			environ := []string{"HOME=/root", name + "=" + s.text}
			for other, value := range companions(s.key) {
				environ = append(environ, variableName(other)+"="+value)
			}
			cfg, err := Load(Sources{Environ: environ})
			is.NoErr(err)
			is.Equal(len(cfg.UnknownVariables), 0)
			arrives(t, s, cfg, slices.Collect(maps.Keys(companions(s.key)))...)
		})
	}
}

func TestEverySettingIsReadFromAFlag(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.key, func(t *testing.T) {
			is := is.New(t)
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			flags.String("it", "unused", "")
			is.NoErr(flags.Set("it", s.text))
			keys := map[string]string{"it": s.key}
			for other, value := range companions(s.key) {
				flags.String(other, "", "")
				keys[other] = other
				is.NoErr(flags.Set(other, value))
			}
			cfg, err := Load(Sources{Flags: flags, FlagKeys: keys})
			is.NoErr(err)
			arrives(t, s, cfg, slices.Collect(maps.Keys(companions(s.key)))...)
		})
	}
}

// Validate checks settings that were not loaded, or were changed since. The error
// joins one Error for each bad setting.
func (c Config) Validate() error {
	var errs []error
	rules := checks()
	eachSetting(reflect.ValueOf(c), "", func(key string, field reflect.Value) {
		if rule := rules[pattern(key)]; rule != nil {
			errs = append(errs, rule(field.Interface()))
		}
	})
	for _, err := range c.problems() {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
