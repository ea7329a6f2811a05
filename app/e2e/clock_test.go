package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// TestAServerThatStartsWithAClockThatIsAhead starts one that keeps its log for a day
// and last ran 200 days ago, by its clock.
func TestAServerThatStartsWithAClockThatIsAhead(t *testing.T) {
	is := is.New(t)
	s := prepareServer(t)
	s.env = append(s.env, "CONFAB_LOG__API_LOG_DAYS=1")
	storagetest.Exec(t, s.dir, `INSERT INTO api_log (method, path, status, latency_us, ip, request_id, created_at) VALUES ('GET', '/', 200, 1, '', 'old', ?)`,
		storage.Now().Add(-200*24*time.Hour))
	kept := func() int {
		return len(storagetest.Select[int](t, s.dir, `SELECT id FROM api_log WHERE request_id = 'old'`))
	}

	s.start()
	text := s.metrics(`confab_jobs_total{kind="retention",outcome="done"} 1`)
	is.True(strings.Contains(text, "\nconfab_clock_ahead_seconds 1.7")) // some 17 million
	is.Equal(kept(), 1)
	s.kill()
	is.True(strings.Contains(s.output.String(), "the clock of this machine looks wrong"))

	run(t, "purge", "--confirm-clock", "--data-dir", s.dir)
	storagetest.Exec(t, s.dir, `DELETE FROM periodic_runs`) // or it would run within the hour
	s.start()
	text = s.metrics(`confab_jobs_total{kind="retention",outcome="done"} 1`)
	is.True(strings.Contains(text, "\nconfab_clock_ahead_seconds 0\n"))
	is.Equal(kept(), 0)
}
