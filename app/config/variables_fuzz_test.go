package config

import (
	"strings"
	"testing"
)

// FuzzVariables lets the environment hold anything beside anything in the file.
// It ends in settings that are valid, where a variable that was taken wins over
// the file; or in an error that names the variable or the file. A secret is in
// neither.
func FuzzVariables(f *testing.F) {
	for _, s := range samples() {
		f.Add(variableName(s.key), s.text, s.key+" = "+s.file)
	}
	for name, value := range map[string]string{
		"CONFAB_": "x", "CONFAB__": "", "CONFAB_SERVER": "x", "CONFAB_SERVER__": "x", "CONFAB_SERVER__LISTEN__X": "x", "CONFAB_PLANS__A__B__BURST": "1", "CONFAB_PLANS____BURST": "1",
		"CONFAB_PLANS__*__API": "true", "CONFAB_server__listen": ":1", "CONFAB_WEBHOOKS__RETRY_SCHEDULE": "10s,,30s", "CONFAB_STORAGE__READERS": "1e3", "STATE_DIRECTORY": "/a:/b",
		"CONFAB_PROVIDER__APP_SECRET": "hunter2hunter2", "CONFAB_MASTER_KEY": "hunter2hunter2", "CONFAB_SECURITY__ALLOW_CIDRS": "::/0, 10.0.0.0/33", "A=B": "=", "CONFAB_LOG__LEVEL": "\x00",
	} {
		f.Add(name, value, "[plans.gold]\nburst = 1")
	}
	f.Fuzz(func(t *testing.T, name, value, content string) {
		from := Sources{File: "confab.toml", Environ: []string{name + "=" + value}}
		cfg, err := load(from, []byte(content))
		if err != nil {
			if !strings.Contains(err.Error(), "confab.toml") && !strings.Contains(err.Error(), variablePrefix) {
				t.Fatalf("an error that names neither file nor variable: %v", err)
			}
			if name == "CONFAB_PROVIDER__APP_SECRET" && len(value) > 8 && !strings.Contains(content, value) && strings.Contains(err.Error(), value) {
				t.Fatalf("an error that tells a secret: %v", err)
			}
			return
		}
		if err := cfg.Validate(); err != nil {
			t.Fatalf("loaded, but not valid: %v", err)
		}
		if name == "CONFAB_PROVIDER__APP_SECRET" && cfg.Provider.AppSecret.Reveal() != value {
			t.Fatalf("%q became %q", value, cfg.Provider.AppSecret.Reveal())
		}
		if len(value) > 8 && strings.HasSuffix(name, "SECRET") && strings.Contains(cfg.String(), value) && !strings.Contains(content, value) {
			t.Fatalf("the settings tell a secret: %s", cfg)
		}
	})
}
