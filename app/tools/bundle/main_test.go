package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestTheBundlesAreThoseOfTheModules(t *testing.T) {
	const built = "../../console/built"
	want, err := build(os.DirFS("../../console/assets"))
	if err != nil {
		t.Fatal(err)
	}

	for name, content := range want {
		got, err := os.ReadFile(filepath.Join(built, name))
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s is not what the modules make: run `make generate` (%v)", name, err)
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
