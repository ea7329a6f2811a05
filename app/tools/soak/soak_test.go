package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"confab/app/tools/rig"
	"confab/app/tools/rig/rigtest"
)

func TestMain(m *testing.M) {
	rigtest.Main(m, main)
}

// TestTwelveSecondsOfEverything is a short soak: the long one is `make soak`.
func TestTwelveSecondsOfEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	r := soak(options{
		program: rigtest.Confab(t),
		self:    rigtest.Self(),
		length:  12 * time.Second,
		rate:    10, // which leaves room for the tests of other packages
	})
	t.Log("\n" + r.String())
	if r.failed() {
		t.Error("there are discrepancies")
	}
	for _, what := range []string{
		"messages acknowledged", "messages received", "events", "through the gateway", "rules fired for every message",
	} {
		if r.counts[what] == 0 {
			t.Errorf("no %s", what)
		}
	}
}

// TestTheKeptDataOfAFailedTrialAreWhole: a server that was killed leaves its socket, which
// is no file to copy.
func TestTheKeptDataOfAFailedTrialAreWhole(t *testing.T) {
	is := is.New(t)
	one := &trial{dir: t.TempDir(), keep: true}
	one.disk = filepath.Join(one.dir, "disk")
	one.server = &rig.Server{Dir: filepath.Join(one.disk, "data")}

	is.NoErr(os.MkdirAll(one.server.Dir, 0o700))
	is.NoErr(os.WriteFile(filepath.Join(one.server.Dir, "confab.db"), []byte("rows"), 0o600))
	is.NoErr(os.WriteFile(filepath.Join(one.server.Dir, "master.key"), []byte("key"), 0o600))
	socket, err := net.Listen("unix", filepath.Join(one.server.Dir, "confab.sock"))
	is.NoErr(err)
	defer socket.Close()

	one.unmountDisk()
	for name, want := range map[string]string{"confab.db": "rows", "master.key": "key"} {
		got, err := os.ReadFile(filepath.Join(one.dir, "data", name))
		is.NoErr(err)
		is.Equal(string(got), want)
	}
}

func TestDiskIsFullForATime(t *testing.T) {
	is := is.New(t)
	one := &trial{disk: mountDisk(filepath.Join(t.TempDir(), "disk"))}
	if one.disk == "" {
		t.Skip("nothing can be mounted here")
	}
	defer one.unmountDisk()

	path := filepath.Join(one.disk, "file")
	is.NoErr(os.WriteFile(path, []byte("rows"), 0o600))
	full, over := context.WithCancel(context.Background())
	defer over()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		one.fillDisk(full, time.Hour)
	}()
	for disk := (unix.Statfs_t{Bfree: 1}); disk.Bfree > 0; time.Sleep(time.Millisecond) {
		is.NoErr(unix.Statfs(one.disk, &disk))
	}
	is.True(errors.Is(os.WriteFile(path+".new", []byte("rows"), 0o600), unix.ENOSPC))

	over()
	<-ended
	is.NoErr(os.WriteFile(path+".new", []byte("rows"), 0o600))
}

// TestTheAuditFindsWhatContradictsTheGateway plants what must not be, one thing at a time.
func TestTheAuditFindsWhatContradictsTheGateway(t *testing.T) {
	answer := func(status int, details, id string) (a gatewayAnswer) {
		a.status, a.Error.Data.Details = status, details
		if id != "" {
			a.Messages = append(a.Messages, struct{ ID string }{id})
		}
		return a
	}
	accepted, unknown := answer(200, "", "wamid.1"), answer(504, "upstream_timeout: x", "")
	cancelled, failing := answer(400, "message_cancelled: x", ""), answer(500, "", "")
	kept := func(status, id string) []row {
		return []row{{Source: sourceGateway, Type: "text", Status: status, MessageID: id}}
	}
	all := []string{"sent", "delivered", "read"}
	there := gatewayOutcome{rows: kept("read", "wamid.1"), copies: []string{"wamid.1"}, statuses: all, again: accepted}

	for name, one := range map[string]struct {
		told    gatewayAnswer
		became  gatewayOutcome
		isWrong bool
	}{
		"accepted":                          {accepted, there, false},
		"unknown, and there":                {unknown, there, false},
		"unknown, and never there":          {unknown, gatewayOutcome{rows: kept("pending", ""), again: unknown}, false},
		"cancelled":                         {cancelled, gatewayOutcome{rows: kept("failed", ""), again: cancelled}, false},
		"failed":                            {failing, gatewayOutcome{rows: kept("failed", ""), again: failing}, false},
		"refused by us":                     {answer(403, "permission_denied: x", ""), gatewayOutcome{}, true},
		"lost here":                         {accepted, gatewayOutcome{copies: there.copies, statuses: all, again: accepted}, true},
		"stored twice":                      {accepted, gatewayOutcome{append(kept("read", "wamid.1"), there.rows...), there.copies, all, accepted}, true},
		"accepted, and not there":           {accepted, gatewayOutcome{rows: kept("read", "wamid.1"), statuses: all, again: accepted}, true},
		"there twice":                       {unknown, gatewayOutcome{there.rows, []string{"wamid.1", "wamid.2"}, all, accepted}, true},
		"cancelled, and there":              {cancelled, there, true},
		"failed, and there":                 {failing, there, true},
		"there under another id":            {accepted, gatewayOutcome{kept("read", "wamid.2"), []string{"wamid.2"}, all, accepted}, true},
		"there, and we do not know":         {unknown, gatewayOutcome{kept("pending", ""), there.copies, all, unknown}, true},
		"cancelled, and still under way":    {cancelled, gatewayOutcome{rows: kept("queued", ""), again: cancelled}, true},
		"its client was told nothing more":  {accepted, gatewayOutcome{there.rows, there.copies, all[:2], accepted}, true},
		"a repeat after a 504 is a 504":     {unknown, gatewayOutcome{there.rows, there.copies, all, unknown}, true},
		"a repeat of one that is not there": {cancelled, gatewayOutcome{rows: kept("failed", ""), again: accepted}, true},
	} {
		if wrong := (gatewaySend{tag: "x", answer: one.told}).contradiction(one.became); (wrong != "") != one.isWrong {
			t.Errorf("%s: %q", name, wrong)
		}
	}
}
