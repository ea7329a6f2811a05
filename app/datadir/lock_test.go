package datadir

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

// TestALockSaysWhoIsInTheWay has each kind of lock meet each. The pauses between the
// attempts take no time here.
func TestALockSaysWhoIsInTheWay(t *testing.T) {
	for name, c := range map[string]struct {
		held, wanted func(Dir) (io.Closer, error)
		err          error
		says         string
	}{
		"a second server":                {Dir.Lock, Dir.Lock, ErrServed, "stop it first"},
		"a purge beside a server":        {Dir.Lock, Dir.LockShared, ErrServed, "stop it first"},
		"a server while a purge runs":    {Dir.LockShared, Dir.Lock, errShared, "wait until it is done"},
		"a purge while another one runs": {Dir.LockShared, Dir.LockShared, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				dir := Dir(t.TempDir())
				held, err := c.held(dir)
				is.NoErr(err)
				defer held.Close()
				lock, err := c.wanted(dir)
				if c.err == nil {
					is.NoErr(err)
					is.NoErr(lock.Close())
					return
				}
				is.True(errors.Is(err, c.err))
				is.True(strings.Contains(err.Error(), "is in use: ") && strings.Contains(err.Error(), c.says))
			})
		})
	}
}

// TestALockThatIsFreedAfterTheLastAttemptIsTaken has a server exit between the last
// attempt and the question of who was in the way.
func TestALockThatIsFreedAfterTheLastAttemptIsTaken(t *testing.T) {
	for name, take := range map[string]func(Dir) (io.Closer, error){"shared": Dir.LockShared, "exclusive": Dir.Lock} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				dir := Dir(t.TempDir())
				server, err := dir.Lock()
				is.NoErr(err)
				time.AfterFunc(lockAttempts*lockPause-lockPause/2, func() { server.Close() })

				lock, err := take(dir)
				is.NoErr(err)
				_, err = dir.Lock() // it is held indeed
				is.True(err != nil)
				served, err := dir.IsServed()
				is.NoErr(err)
				is.Equal(served, name == "exclusive")
				is.NoErr(lock.Close())
			})
		})
	}
}
