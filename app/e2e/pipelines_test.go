package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/pages/guides"
)

// sampleOf is the block of a language in the guide "In your pipeline".
func sampleOf(t *testing.T, language string) string {
	t.Helper()
	for _, g := range guides.All() {
		if m := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$").FindStringSubmatch(g.Text); g.Name == "pipelines" && m != nil {
			return m[1]
		}
	}
	t.Fatal("the guide has no sample in " + language)
	return ""
}

// TestTheTestsOfThePipelineGuidePass runs each test as it is printed. Where the runner that it
// is for is not on this machine, the file is run by the language alone.
func TestTheTestsOfThePipelineGuidePass(t *testing.T) {
	t.Parallel()
	for _, sample := range []struct {
		language, file string
		runner         []string // as printed
		without        []string // if there is no such runner
		beside         map[string]string
	}{
		{"go", "chat_test.go", []string{"go", "test", "./..."}, nil, map[string]string{"go.mod": "module chat\n\ngo 1.26\n"}},
		{"python", "test_chat.py", []string{"pytest"}, []string{"python3", "-c", "import test_chat; test_chat.test_a_customer_gets_an_answer()"}, map[string]string{}},
		{"js", "chat.test.mjs", []string{"vitest", "run"}, []string{"node", "--test", "chat.test.mjs"}, map[string]string{
			"node_modules/vitest/package.json": `{"name":"vitest","type":"module","exports":"./index.js"}`,
			"node_modules/vitest/index.js": `export { test } from "node:test"; import assert from "node:assert";
export const expect = (is) => ({ toBe: (wanted) => assert.strictEqual(is, wanted) });`,
		}},
	} {
		t.Run(sample.language, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			command := sample.runner
			if _, err := exec.LookPath(command[0]); err != nil {
				t.Logf("there is no %s here", command[0])
				if command = sample.without; command == nil {
					t.Skip("not tried")
				}
				if _, err := exec.LookPath(command[0]); err != nil {
					t.Skipf("and no %s: not tried", command[0])
				}
			}

			dir := t.TempDir()
			sample.beside[sample.file] = sampleOf(t, sample.language)
			for name, text := range sample.beside {
				path := filepath.Join(dir, name)
				is.NoErr(os.MkdirAll(filepath.Dir(path), 0o700))
				is.NoErr(os.WriteFile(path, []byte(text), 0o600))
			}
			cmd := confab(t, append([]string{"sandbox", "exec", "--"}, command...)...)
			cmd.Dir = dir
			cmd.Env = append(cmd.Env, "GOFLAGS="+os.Getenv("GOFLAGS")+" -vet=off") // which would look at all that HTTP needs
			out, err := cmd.CombinedOutput()
			if err != nil || strings.Contains(string(out), "no test files") {
				t.Fatalf("%v: %s", err, out)
			}
		})
	}
}

// TestTheActionStartsASandbox runs what the action runs.
func TestTheActionStartsASandbox(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir := t.TempDir()
	script, err := filepath.Abs("../../.github/actions/sandbox/start.sh")
	is.NoErr(err)
	file := func(name string) string { return filepath.Join(dir, name) }

	// The program is this test, which needs its variables.
	self := confab(t)
	is.NoErr(os.WriteFile(file("confab"), []byte("#!/bin/sh\nexec '"+self.Path+"' \"$@\"\n"), 0o700))
	cmd := exec.Command("bash", script)
	cmd.Env = append(self.Env, "RUNNER_TEMP="+dir, "BINARY="+file("confab"), "DATA_DIR="+file("sandbox"), "ARGUMENTS=",
		"GITHUB_ENV="+file("env"), "GITHUB_PATH="+file("path"))
	out, err := cmd.CombinedOutput()
	is.NoErr(err)
	is.Equal(string(out), "")
	pid, err := os.ReadFile(file("confab-sandbox.pid"))
	is.NoErr(err)
	t.Cleanup(func() { // it is no child of ours that could be waited for
		exec.Command("kill", strings.TrimSpace(string(pid))).Run()
		until(func() bool { return os.RemoveAll(file("sandbox")) == nil })
	})

	text, err := os.ReadFile(file("env"))
	is.NoErr(err)
	for _, name := range []string{"CONFAB_BASE_URL=http://127.0.0.1:", "CONFAB_API_KEY=svc_live_", "CONFAB_PHONE_NUMBER_ID=", "CONFAB_SIMULATOR_URL=http://127.0.0.1:"} {
		is.True(strings.Contains(string(text), name))
	}
	base := regexp.MustCompile(`CONFAB_BASE_URL=(\S+)`).FindStringSubmatch(string(text))[1]
	is.Equal(askWith(t, "GET", base+"/health", "").status, 200)
}
