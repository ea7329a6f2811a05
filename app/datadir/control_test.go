package datadir

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestACommandReachesItsServer also has a directory whose path is too long for a
// socket, and a socket that a killed server left.
func TestACommandReachesItsServer(t *testing.T) {
	for name, below := range map[string]string{"short": "data", "long": strings.Repeat("d", 2*maxSocketPath)} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			dir := Dir(filepath.Join(t.TempDir(), below))
			is.NoErr(dir.Prepare())
			is.NoErr(os.WriteFile(dir.File(socketFile), nil, 0o644))
			lock, err := dir.Lock()
			is.NoErr(err)
			defer lock.Close()

			var got string
			listener, err := dir.ListenControl()
			is.NoErr(err)
			info, err := os.Stat(dir.File(socketFile))
			is.NoErr(err)
			is.Equal(info.Mode(), fs.ModeSocket|0o600)
			ended := make(chan error, 1)
			go func() {
				ended <- http.Serve(listener, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.URL.Path }))
			}()
			is.NoErr(dir.SendCommand(context.Background(), CancelJob(42)))
			is.Equal(got, "/jobs/42/cancel")

			is.NoErr(listener.Close())
			<-ended
			_, err = os.Lstat(dir.File(socketFile))
			is.True(os.IsNotExist(err)) // it takes its socket with it
		})
	}
}

func TestWithoutAServerACommandIsSentNowhere(t *testing.T) {
	is := is.New(t)
	dir := Dir(t.TempDir())
	is.NoErr(dir.SendCommand(context.Background(), CommandRefresh))
	served, err := dir.IsServed()
	is.NoErr(err)
	is.True(!served)
}
