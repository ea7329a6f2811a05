package cli_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// receiver NAME FILE SECRET TOKEN [FAILURES] takes the provider's callbacks and
// writes a line for each into a file. NAME becomes its URL. Signatures are
// checked with the secret and challenges with the token; the first few
// callbacks may be answered with a 500.
func receiver(ts *testscript.TestScript, _ bool, args []string) {
	failures := 0
	if len(args) > 4 {
		var err error
		failures, err = strconv.Atoi(args[4])
		ts.Check(err)
	}
	log, err := os.OpenFile(ts.MkAbs(args[1]), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	ts.Check(err)
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if q := r.URL.Query(); r.Method == http.MethodGet {
			if q.Get("hub.verify_token") != args[3] {
				http.Error(w, "wrong token", http.StatusForbidden)
				return
			}
			fmt.Fprintln(log, "challenge")
			io.WriteString(w, q.Get("hub.challenge"))
			return
		}
		body, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte(args[2]))
		mac.Write(body)
		said := "signed"
		if r.Header.Get("X-Hub-Signature-256") != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
			said = "unsigned"
		}
		if failures > 0 {
			failures--
			said = "refused " + said
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprintf(log, "%s %s\n", said, body)
	}))
	ts.Setenv(args[0], server.URL)
	ts.Defer(func() {
		server.Close()
		log.Close()
	})
}

// field NAME FILE KEY sets a variable to a text in a JSON file.
func field(ts *testscript.TestScript, _ bool, args []string) {
	var object map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &object))
	text, ok := object[args[2]].(string)
	if !ok || text == "" {
		ts.Fatalf("%s has no %s", args[1], args[2])
	}
	ts.Setenv(args[0], text)
}
