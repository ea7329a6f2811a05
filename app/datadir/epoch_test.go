package datadir

import (
	"errors"
	"os"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

func TestTheProgressOfTheDatabaseIsKept(t *testing.T) {
	is := is.New(t)
	dir := Dir(t.TempDir())
	kept, err := dir.KeptProgress()
	is.NoErr(err)
	is.True(kept == nil) // of a release that kept none

	p := storage.Progress{Epoch: "0011223344556677", Event: 12, Commit: 3}
	is.NoErr(dir.KeepProgress(p))
	kept, err = dir.KeptProgress()
	is.NoErr(err)
	is.Equal(*kept, p)
	info, err := os.Stat(dir.File(EpochFile))
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600))

	for _, text := range []string{"", "{", `{"epoch":""}`, "\x00\x00\x00"} {
		is.NoErr(os.WriteFile(dir.File(EpochFile), []byte(text), 0o600))
		_, err = dir.KeptProgress()
		is.True(errors.Is(err, ErrEpochFile))
	}

	is.NoErr(os.Remove(dir.File(EpochFile)))
	is.NoErr(os.MkdirAll(dir.File(EpochFile+"/x"), 0o700)) // in the way, as a full disk is
	is.True(dir.KeepProgress(p) != nil)
}
