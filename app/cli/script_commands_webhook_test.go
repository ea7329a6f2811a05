package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"confab/app/datadir"
	"confab/jobs/webhook"
	"confab/storage"
)

// endpoint NAME FILE takes webhooks and writes a line for each into a file: the
// event, its id, the delivery and the attempt, and after them the names of the
// secrets in FILE.secrets that its signature was made with. The last body and
// signature are in FILE.body and FILE.signature. It answers with the status in
// FILE.status, or 204. NAME becomes its URL.
func endpoint(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[1])
	log, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	ts.Check(err)
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		signature := r.Header.Get("X-Svc-Signature")
		status := http.StatusNoContent
		if text, err := os.ReadFile(file + ".status"); err == nil {
			status, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		err := errors.Join(os.WriteFile(file+".body", body, 0o600), os.WriteFile(file+".signature", []byte(signature+"\n"), 0o600))
		if err != nil {
			status = http.StatusInternalServerError
		}
		w.WriteHeader(status)
		fmt.Fprintln(log, r.Header.Get("X-Svc-Event"), r.Header.Get("X-Svc-Event-Id"), r.Header.Get("X-Svc-Delivery-Id"), r.Header.Get("X-Svc-Attempt"),
			signedBy(file+".secrets", signature, body))
	}))
	ts.Setenv(args[0], server.URL)
	ts.Defer(func() {
		server.Close()
		log.Close()
	})
}

// signedBy says whether a signature was made with the secret in a file.
func signedBy(file, signature string, body []byte) string {
	secret, err := os.ReadFile(file)
	switch {
	case err != nil:
		return "unknown"
	case webhook.Verify(signature, body, time.Now(), strings.TrimSpace(string(secret))) != nil:
		return "forged"
	}
	return "signed"
}

// undelivered DIR SUBSCRIPTION COUNT STATUS stores deliveries that came to
// nothing, in a directory on which no server runs.
func undelivered(ts *testscript.TestScript, _ bool, args []string) {
	dir := datadir.Dir(ts.MkAbs(args[0]))
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	db, err := dir.Open(storage.Options{Schema: topFile("schema.sql")}, "", false)
	ts.Check(err)
	ts.Check(db.Update(context.Background(), func(tx *storage.Tx) error {
		sub, err := tx.Endpoint(args[1])
		for range n {
			id := tx.NewID(storage.PrefixEvent)
			_, insert := tx.InsertEventFor(storage.Event{ID: id, OrganizationID: sub.OrganizationID, Type: "message.sent", Source: "svc", EventID: id,
				Payload: []byte(`{"id":"` + id + `","type":"message.sent","created_at":"2026-01-02T03:04:05.678Z","data":{}}`)}, sub.ID)
			err = errors.Join(err, insert)
		}
		return err
	}))
	ts.Check(db.Close())
	raw := beside(ts, string(dir))
	defer raw.Close()
	_, err = raw.Exec(`DELETE FROM jobs WHERE kind = 'deliver'`)
	ts.Check(err)
	_, err = raw.Exec(`
		UPDATE deliveries
		SET status = ?, attempt_count = 8, response_status = 500, response_body_snippet = 'oops', error_code = 'http_error', error_message = 'the endpoint answered 500',
			next_attempt_at = 0, last_attempt_at = created_at, duration_ms = 7
		WHERE subscription_id = ? AND status = 'pending'`, args[3], args[1])
	ts.Check(err)
}
