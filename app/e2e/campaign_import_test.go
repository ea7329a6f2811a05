package e2e

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

var importLines = flag.Int("import-lines", 3000, "how many lines the file has that is imported while the API is called")

// mustRead reads what a path answers as text.
func (s *server) mustRead(path string) string {
	s.t.Helper()
	req, err := http.NewRequest("GET", "http://"+s.address+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		s.t.Fatal(res.Status, err)
	}
	return string(text)
}

// callsBeside calls the API as a program does, reading and writing, until it is asked to
// stop, and returns how long the 99th of a hundred calls took.
func (s *campaign) callsBeside(stop func() bool) (calls int, p99 time.Duration) {
	s.t.Helper()
	made := s.mustSend("POST", "/v1/labels", fmt.Sprintf(`{"name":"made %d"}`, time.Now().UnixNano()))
	label := made.body["data"].(map[string]any)["id"].(string)
	var took []time.Duration
	for n := 0; n < 10 || !stop(); n++ { // a short import may have ended before the first
		began := time.Now()
		if n%2 == 0 {
			s.mustSend("GET", "/v1/"+s.sim.Number+"/contacts?limit=20", "")
		} else if got := s.mustSend("PATCH", "/v1/labels/"+label, fmt.Sprintf(`{"name":"label %d"}`, time.Now().UnixNano())); got.status != 200 {
			s.t.Fatal(got.status, got.body)
		}
		took = append(took, time.Since(began))
		time.Sleep(2 * time.Millisecond) // as fast as possible would measure the machine
	}
	slices.Sort(took)
	return len(took), took[len(took)*99/100]
}

// TestALargeFileOfContactsIsImported imports a file to its end, beside other calls. What it
// costs is printed, and judged only where the full size was asked for.
func TestALargeFileOfContactsIsImported(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	lines := *importLines
	s := newCampaign(t, "", "CONFAB_PLANS__SELF_HOSTED__RATE_PER_SECOND=0")
	until := time.Now().Add(min(10*time.Second, time.Duration(lines)*100*time.Microsecond))
	idleCalls, idleP99 := s.callsBeside(func() bool { return time.Now().After(until) })
	idle := memoryPeak(t, s.cmd.Process.Pid)

	var file strings.Builder
	file.WriteString("phone_number,name,email,metadata.order\n")
	for n := range lines {
		fmt.Fprintf(&file, "%s,Person %d,person.%d@example.com,%d\n", number(n), n, n, n)
	}
	began := time.Now()
	accepted := s.upload("/contact_imports", "file", file.String())
	is.Equal(accepted.status, 202)
	id := accepted.body["data"].(map[string]any)["id"].(string)

	var i struct {
		Status                                     string
		Lines, Created, Updated, Unchanged, Failed int
	}
	looked := time.Now()
	calls, p99 := s.callsBeside(func() bool {
		if i.Status == "" || time.Since(looked) > time.Second {
			s.get("/contact_imports/"+id, &i)
			looked = time.Now()
		}
		return i.Status != "running"
	})
	peak := memoryPeak(t, s.cmd.Process.Pid)
	t.Logf("%d lines in %s; memory at most %d MB, before it %d MB; p99 of %d calls beside it %s, of %d before it %s", i.Lines,
		time.Since(began).Round(time.Second), peak>>20, idle>>20, calls, p99.Round(time.Microsecond), idleCalls, idleP99.Round(time.Microsecond))
	is.Equal(i.Status, "completed")
	is.Equal([]int{i.Lines, i.Created, i.Updated, i.Unchanged, i.Failed}, []int{lines, lines, 0, 0, 0})
	if lines >= 1_000_000 {
		is.True(peak-idle <= 60<<20)
		is.True(p99 <= 2*idleP99)
	}
}
