package webhook_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"confab/jobs/webhook"
)

// snippet is the code in a language that the guide shows.
func snippet(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile("../../app/pages/guides/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(text), "```"+language+"\n")
	code, _, closed := strings.Cut(code, "```")
	if !found || !closed {
		t.Fatalf("the guide to webhooks shows no %s", language)
	}
	return code
}

// verification is a header and a body, and whether a receiver should take them.
type verification struct {
	Name    string   `json:"name"`
	Header  string   `json:"header"`
	Body    string   `json:"body"`
	Secrets []string `json:"secrets"`
	valid   bool
}

func verifications() []verification {
	const (
		old   = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD4zOZKyTFfrg="
		newer = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw3fQmkJyZbA4="
		body  = `{"text":"ü & <b>"}` + "\n"
	)
	now := time.Now()
	good := webhook.Sign(now, []byte(body), old)
	both := webhook.Sign(now, []byte(body), old, newer)
	t, v1, _ := strings.Cut(good, ",")
	return []verification{
		{"good", good, body, []string{old}, true},
		{"any of our secrets", good, body, []string{newer, old}, true},
		{"any of its signatures", both, body, []string{newer}, true},
		{"another scheme beside it", t + ",v0=00,v2," + v1, body, []string{old}, true},
		{"a clock that is ahead", webhook.Sign(now.Add(4*time.Minute), []byte(body), old), body, []string{old}, true},
		{"another secret", good, body, []string{newer}, false},
		{"no secret", good, body, nil, false},
		{"the secret without its prefix", webhook.Sign(now, []byte(body), strings.TrimPrefix(old, "whsec_")), body, []string{old}, false},
		{"another body", good, body + " ", []string{old}, false},
		{"another time", strings.Replace(good, t, t+"0", 1), body, []string{old}, false},
		{"too old", webhook.Sign(now.Add(-6*time.Minute), []byte(body), old), body, []string{old}, false},
		{"from the future", webhook.Sign(now.Add(6*time.Minute), []byte(body), old), body, []string{old}, false},
		{"no signature", t, body, []string{old}, false},
		{"an empty signature", t + ",v1=", body, []string{old}, false},
		{"half a signature", good[:len(good)-2], body, []string{old}, false},
		{"no hex", t + ",v1=ünïcödé", body, []string{old}, false},
		{"no time", v1, body, []string{old}, false},
		{"no number", "t=soon," + v1, body, []string{old}, false},
		{"nothing", "", body, []string{old}, false},
		{"nonsense", "t,v1,=,==,,", body, []string{old}, false},
	}
}

// receivers are programs around the guide's code: each reads the cases and
// prints a line of true or false for each.
var receivers = map[string]struct {
	program []string
	file    string
	source  string
}{
	"go": {[]string{"go", "run", "receiver.go"}, "receiver.go", `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

%s
func main() {
	text, _ := os.ReadFile("cases.json")
	var cases []struct {
		Header, Body string
		Secrets      []string
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		panic(err)
	}
	for _, c := range cases {
		fmt.Println(valid(c.Header, []byte(c.Body), c.Secrets...))
	}
}
`},
	"js": {[]string{"node", "receiver.js"}, "receiver.js", `%s
for (const c of JSON.parse(require("node:fs").readFileSync("cases.json")))
  console.log(valid(c.header, Buffer.from(c.body), ...(c.secrets ?? [])));
`},
	"python": {[]string{"python3", "receiver.py"}, "receiver.py", `%s
import json

for c in json.load(open("cases.json", encoding="utf-8")):
    print("true" if valid(c["header"], c["body"].encode(), *(c["secrets"] or [])) else "false")
`},
}

func TestTheCodeInTheGuideVerifiesDeliveries(t *testing.T) {
	for language, r := range receivers {
		t.Run(language, func(t *testing.T) {
			source := fmt.Sprintf(r.source, snippet(t, language))
			program, err := exec.LookPath(r.program[0])
			if err != nil {
				t.Skipf("%s is not installed", r.program[0])
			}
			dir, cases := t.TempDir(), verifications()
			text, err := json.Marshal(cases)
			if err != nil {
				t.Fatal(err)
			}
			for name, content := range map[string][]byte{r.file: []byte(source), "cases.json": text} {
				if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(program, r.program[1:]...)
			cmd.Dir = dir
			cmd.Stderr = new(bytes.Buffer)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, cmd.Stderr)
			}
			answers := strings.Fields(string(out))
			if len(answers) != len(cases) {
				t.Fatalf("%d answers to %d cases: %s", len(answers), len(cases), out)
			}
			for i, c := range cases {
				if answers[i] != fmt.Sprint(c.valid) {
					t.Errorf("%s: %s", c.Name, answers[i])
				}
			}
		})
	}
}

// The same cases, checked by the code that the program itself uses.
func TestVerifyAgreesWithTheGuide(t *testing.T) {
	for _, c := range verifications() {
		if err := webhook.Verify(c.Header, []byte(c.Body), time.Now(), c.Secrets...); (err == nil) != c.valid {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}
