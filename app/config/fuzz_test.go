package config

import (
	"strings"
	"testing"
)

// FuzzFile feeds the file's parser: any text ends in an error
// that says something, or in settings that are valid and can be printed.
func FuzzFile(f *testing.F) {
	example := exampleFile(f)
	f.Add(example)
	f.Add(switchedOff.ReplaceAllString(example, "$1"))
	for _, s := range samples() {
		f.Add(s.key + " = " + s.file)
	}
	for _, seed := range []string{
		"[plans.gold]\nburst = 0", "plans.\"*\".api = true", "\"a.b\" = {c = [1, {}]}", "[[server]]", "data_dir = 2026-01-02T03:04:05Z",
		"server.listen = ", "a.b.c.d = [[[1]]]", "provider.timeout = 0x10", "\"\" = 1", "plans = {}", "data_dir = 07:32:00", "x = '\u0000'",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		cfg, err := load(Sources{File: "confab.toml"}, []byte(content))
		switch {
		case err != nil && !strings.HasPrefix(err.Error(), "confab.toml: "):
			t.Fatalf("an error that names no file: %v", err)
		case err == nil && cfg.Validate() != nil:
			t.Fatalf("loaded, but not valid: %v", cfg.Validate())
		case err == nil && (cfg.String() == "" || cfg.PublicURL() == ""):
			t.Fatal("loaded, but not usable")
		}
	})
}
