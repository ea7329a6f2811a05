package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
)

// smallDisk mounts a file system of some megabytes, and skips a test where that is not
// permitted.
func smallDisk(t *testing.T, megabytes int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		t.Skip("no small disk can be mounted here, which needs root:", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// moveTo moves the data of a server that is down.
func (s *server) moveTo(dir string) {
	s.t.Helper()
	if out, err := exec.Command("cp", "-R", s.dir, dir).CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	s.dir = filepath.Join(dir, filepath.Base(s.dir))
}

// fill leaves no room on the disk, waits until the server has met that and some time has
// passed, and then makes room again.
func (s *campaign) fill(disk string) {
	s.t.Helper()
	ballast := filepath.Join(disk, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		s.t.Fatal(err)
	}
	for block := make([]byte, 1<<20); len(block) >= 512; {
		if _, err := f.Write(block); errors.Is(err, unix.ENOSPC) {
			block = block[:len(block)/2]
		} else if err != nil {
			s.t.Fatal(err)
		}
	}
	f.Close()

	// What was written before may leave room in files that are there already.
	refused, pages := 0, strings.Repeat("x", 8<<10)
	isFull := until(func() bool {
		if s.mustSend("POST", "/v1/customers", `{"name":"Refused","metadata":{"pages":"`+pages+`"}}`).status == 503 {
			refused++
		}
		return refused == 20
	})
	if !isFull {
		s.t.Fatal("the disk was never full")
	}
	if err := os.Remove(ballast); err != nil {
		s.t.Fatal(err)
	}
}

func TestAnImportGoesOnAfterADiskThatWasFull(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const lines = 6000
	disk := smallDisk(t, 64)
	s := newCampaign(t, disk)
	var file strings.Builder
	file.WriteString("phone_number,name\n")
	for n := range lines {
		fmt.Fprintf(&file, "%s,Person %d\n", number(n), n)
	}

	began := make(chan reply, 1)
	go func() { began <- s.upload("/contact_imports", "file", file.String()) }()
	is.True(until(func() bool { return s.hasContacts() })) // in the midst
	s.fill(disk)

	accepted := <-began
	is.Equal(accepted.status, 202)
	id := accepted.body["data"].(map[string]any)["id"].(string)
	var i struct {
		Status                                     string
		Lines, Created, Updated, Unchanged, Failed int
	}
	is.True(until(func() bool {
		s.get("/contact_imports/"+id, &i)
		return i.Status != "running"
	}))
	is.Equal(i.Status, "completed")
	is.Equal([]int{i.Lines, i.Created, i.Updated, i.Unchanged, i.Failed}, []int{lines, lines, 0, 0, 0}) // each once
	is.Equal(s.countContacts(), lines)
}

// hasContacts reports whether there is one.
func (s *campaign) hasContacts() bool {
	s.t.Helper()
	return len(s.mustSend("GET", "/v1/"+s.sim.Number+"/contacts?limit=1", "").body["data"].([]any)) > 0
}

// countContacts counts the contacts that are exported.
func (s *campaign) countContacts() int {
	s.t.Helper()
	text := s.mustRead("/v1/" + s.sim.Number + "/contacts.csv")
	return strings.Count(text, "\n") - 1
}

func TestABroadcastGoesOnAfterADiskThatWasFull(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const people = 1000
	disk := smallDisk(t, 64)
	s := newCampaign(t, disk, "CONFAB_PROVIDER__MESSAGES_PER_SECOND=200", "CONFAB_PROVIDER__RECONCILE_WINDOW=2s")
	broadcast := s.broadcast(people)
	is.True(until(func() bool { return s.progress(broadcast).Counts["sent"] > 0 })) // in the midst
	s.fill(disk)
	p, resumed := s.complete(broadcast, 2*time.Minute)
	is.Equal(resumed, 0) // by itself
	is.Equal(p.Counts["failed"]+p.Counts["skipped"], 0)
	s.auditBroadcast(broadcast, people)
}
