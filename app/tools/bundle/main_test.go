package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/andybalholm/brotli"
)

// shortFile is the size of a file that is compressed once more: of a long one that takes seconds.
const shortFile = 4 << 10

func TestTheBundlesAreThoseOfTheModules(t *testing.T) {
	const built = "../../console/built"
	want, err := build(os.DirFS("../../console/assets"))
	if err != nil {
		t.Fatal(err)
	}

	for name, content := range want {
		packed, err := os.ReadFile(filepath.Join(built, name))
		got, damaged := io.ReadAll(brotli.NewReader(bytes.NewReader(packed)))
		if err != nil || damaged != nil || !bytes.Equal(got, content) {
			t.Errorf("%s is not what the modules make: run `make generate` (%v, %v)", name, err, damaged)
		}
		if len(content) < shortFile && !bytes.Equal(packed, compress(content)) {
			t.Errorf("%s is not compressed as `make generate` does", name)
		}
	}
	err = fs.WalkDir(os.DirFS(built), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && want[name] == nil {
			t.Errorf("%s is made of no module any more: run `make generate`", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
