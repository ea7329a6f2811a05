package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"confab/app/datadir"
	"confab/storage"
	"confab/storage/storagetest"
)

// eventuallyLimit is how long a script waits for what takes a moment.
const eventuallyLimit = time.Minute

type scriptCommand = func(ts *testscript.TestScript, neg bool, args []string)

// scriptCommands are the commands that scripts have beside the usual ones.
func scriptCommands() map[string]scriptCommand {
	free := &freePorts{taken: make(map[int]bool)}
	return map[string]scriptCommand{
		"exits":       exits,
		"eventually":  eventually,
		"ready":       ready,
		"keep":        keep,
		"json":        isJSON,
		"mode":        hasMode,
		"listen":      free.listen,
		"http":        request,
		"curls":       curls,
		"term":        term,
		"enqueue":     enqueue,
		"receiver":    receiver,
		"field":       field,
		"endpoint":    endpoint,
		"undelivered": undelivered,
		"past":        past,
		"deadletter":  deadLetter,
		"archived":    archived,
	}
}

// exits STATUS PROGRAM ARGS… wants exactly this exit status.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](ts.Exec(args[1], args[2:]...)); ok {
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, not %d", got, want)
	}
}

// eventually PROGRAM ARGS… repeats it until it succeeds, or with ! until it fails.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	for began := time.Now(); time.Since(began) < eventuallyLimit; time.Sleep(20 * time.Millisecond) {
		if err := ts.Exec(args[0], args[1:]...); (err != nil) == neg {
			return
		}
	}
	ts.Fatalf("not within %s", eventuallyLimit)
}

// ready URL waits until a server answers there that it is, without a process for each question.
func ready(ts *testscript.TestScript, _ bool, args []string) {
	for began := time.Now(); time.Since(began) < eventuallyLimit; time.Sleep(10 * time.Millisecond) {
		res, err := http.Get(args[0] + "/readyz")
		if err != nil {
			continue
		}
		res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return
		}
	}
	ts.Fatalf("not within %s", eventuallyLimit)
}

// keep NAME [PATTERN] sets a variable to the last output, or to what the pattern
// finds in it.
func keep(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.TrimSpace(ts.ReadFile("stdout"))
	if len(args) > 1 {
		found := regexp.MustCompile(args[1]).FindAllString(text, -1)
		if found == nil {
			ts.Fatalf("no %s in %q", args[1], text)
		}
		text = found[len(found)-1]
	}
	if text == "" || strings.Contains(text, "\n") {
		ts.Fatalf("the output is not one line: %q", text)
	}
	ts.Setenv(args[0], text)
}

// json array|object|lines wants the last output to be one array, one object, or
// an object a line.
func isJSON(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile("stdout")
	switch args[0] {
	case "array":
		var v []map[string]any
		ts.Check(json.Unmarshal([]byte(text), &v))
	case "object":
		var v map[string]any
		ts.Check(json.Unmarshal([]byte(text), &v))
	case "lines":
		if text == "" {
			ts.Fatalf("there is no line")
		}
		for line := range strings.Lines(text) {
			var v map[string]any
			ts.Check(json.Unmarshal([]byte(line), &v))
		}
	default:
		ts.Fatalf("json %s?", args[0])
	}
}

// mode MODE FILE checks a file's permissions.
func hasMode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	want, err := strconv.ParseUint(args[0], 8, 32)
	ts.Check(err)
	if info.Mode().Perm() != fs.FileMode(want) {
		ts.Fatalf("%s has mode %o, not %o", args[1], info.Mode().Perm(), want)
	}
}

type freePorts struct {
	mu    sync.Mutex
	taken map[int]bool
}

// listen NAME sets a variable to an address on which no process listens. The ports
// are below those that the system gives to outgoing connections.
func (f *freePorts) listen(ts *testscript.TestScript, _ bool, args []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		port := 20000 + rand.IntN(12000)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		l, err := net.Listen("tcp", address)
		if f.taken[port] || err != nil {
			continue
		}
		ts.Check(l.Close())
		f.taken[port] = true
		ts.Setenv(args[0], address)
		return
	}
}

// http STATUS KEY METHOD URL [BODY] makes a call and wants the status; - is no key.
func request(ts *testscript.TestScript, _ bool, args []string) {
	var body string
	if len(args) > 4 {
		body = args[4]
	}
	req, err := http.NewRequest(args[2], args[3], strings.NewReader(body))
	ts.Check(err)
	if args[1] != "-" {
		req.Header.Set("Authorization", "Bearer "+args[1])
	}
	switch {
	case strings.HasPrefix(body, "{"):
		req.Header.Set("Content-Type", "application/json")
	case body != "":
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if got := call(ts, req); strconv.Itoa(got) != args[0] {
		ts.Fatalf("status %d, not %s", got, args[0])
	}
}

func call(ts *testscript.TestScript, req *http.Request) int {
	res, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	ts.Check(err)
	fmt.Fprintln(ts.Stdout(), string(text))
	return res.StatusCode
}

// curls FILE makes the calls of the curl commands in a text, as a reader who
// copies them would. All must succeed.
func curls(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.ReplaceAll(ts.ReadFile(args[0]), "\\\n", "")
	shellWord := regexp.MustCompile(`'[^']*'|[^' ]+`)
	made := 0
	for line := range strings.Lines(text) {
		words := shellWord.FindAllString(strings.TrimSpace(line), -1)
		if len(words) < 2 || words[0] != "curl" {
			continue
		}
		url := words[1]
		if url == "-N" { // a stream, which would not end
			words = words[1:]
			url = strings.Trim(words[1], "'") + "&wait=0"
		}
		req, err := http.NewRequest("GET", url, nil)
		ts.Check(err)
		for i := 2; i+1 < len(words); i += 2 {
			value := strings.Trim(words[i+1], "'")
			switch name, content, _ := strings.Cut(value, ": "); words[i] {
			case "-H":
				req.Header.Set(name, content)
			case "-d":
				req.Method, req.Body = "POST", io.NopCloser(strings.NewReader(value))
			default:
				ts.Fatalf("curl %s?", words[i])
			}
		}
		if status := call(ts, req); status/100 != 2 {
			ts.Fatalf("%s: status %d", line, status)
		}
		made++
	}
	if made == 0 {
		ts.Fatalf("there is no curl in %s", args[0])
	}
}

// term sends SIGTERM to everything in the background.
func term(ts *testscript.TestScript, _ bool, _ []string) {
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(syscall.SIGTERM))
	}
}

// enqueue DIR KIND STATE stores a job in that state; "later" is due tomorrow.
func enqueue(ts *testscript.TestScript, _ bool, args []string) {
	dir, kind, state := datadir.Dir(ts.MkAbs(args[0])), args[1], args[2]
	db, err := dir.Open(storage.Options{Schema: topFile("schema.sql")}, "", false)
	ts.Check(err)
	defer func() { ts.Check(db.Close()) }()
	ts.Check(db.Update(context.Background(), func(tx *storage.Tx) error {
		n := storage.NewJob{Kind: kind, Lane: "account:7", Args: storagetest.Args(map[string]string{"message": "msg_1"})}
		if state == "later" {
			n.DueAt = tx.Now.Add(24 * time.Hour)
		}
		if _, err := tx.Enqueue(n); err != nil || state == "due" || state == "later" {
			return err
		}
		claimed, _, err := tx.ClaimDue(kind, 1, time.Hour, func(string) bool { return state != "held" })
		if err == nil && state == "failed" {
			err = tx.FailJob(claimed[0], "the provider said no")
		}
		return err
	}))
}
