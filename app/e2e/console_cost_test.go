package e2e

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// usage is how much memory a process has, and how many hundredths of a second it has run.
func usage(t *testing.T, pid int) (bytes, ticks int64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("only Linux shows what a process uses")
	}
	found := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status)
	kilobytes, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	for _, field := range strings.Fields(rest)[11:13] { // in user and in system mode
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return kilobytes << 10, ticks
}

// The bar of the console: 100 that are open and at rest take 15 MB at most, and no time to
// speak of, which is printed.
func TestAHundredOpenConsolesCostLittle(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const consoles, most = 100, 15 << 20
	s := newServer(t)
	org := strings.Fields(run(t, "orgs", "list", "--data-dir", s.dir, "--json"))
	id := regexp.MustCompile(`org_\w+`).FindString(strings.Join(org, " "))
	link, err := url.Parse(run(t, "users", "invite", "--org", id, "--name", "Ada", "--email", "ada@example.com", "--role", "admin", "--data-dir", s.dir))
	is.NoErr(err)
	joined := ask(t, "POST", "http://"+s.address+link.Path, url.Values{"name": {"Ada"}, "password": {goodPassword}})
	is.Equal(joined.status, 303)
	cookies := (&http.Response{Header: joined.header}).Cookies()
	s.kill() // one that has hashed a password has memory to spare, which would hide what consoles take
	s.start()

	client := &http.Client{Transport: &http.Transport{}}
	open := func() {
		req, err := http.NewRequest("GET", "http://"+s.address+"/console/api/stream", nil)
		is.NoErr(err)
		for _, cookie := range cookies {
			req.AddCookie(cookie)
		}
		res, err := client.Do(req)
		is.NoErr(err)
		t.Cleanup(func() { res.Body.Close() })
		is.Equal(res.StatusCode, 200)
		first, err := bufio.NewReader(res.Body).ReadString('\n')
		is.NoErr(err)
		is.Equal(first, "event: ready\n")
	}
	open() // what the first needs is not what each needs
	before, _ := usage(t, s.cmd.Process.Pid)
	for range consoles {
		open()
	}
	after, busy := usage(t, s.cmd.Process.Pid)

	const rest = 3 * time.Second
	time.Sleep(rest)
	_, later := usage(t, s.cmd.Process.Pid)
	t.Logf("%d open consoles take %.1f MB, and %.1f %% of one core at rest", consoles, float64(after-before)/(1<<20), float64(later-busy)/rest.Seconds())
	if after-before > most {
		t.Errorf("%d open consoles take %d bytes", consoles, after-before)
	}
}
