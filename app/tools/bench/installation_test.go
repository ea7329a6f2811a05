package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"confab/app/tools/rig"
)

func TestAnInstallationThatCannotOpenSaysWhy(t *testing.T) {
	for name, spoil := range map[string]func(b *bench, missing string){
		"without a provider": func(b *bench, missing string) { b.confab.Path = missing },
		"without a receiver": func(b *bench, missing string) { b.self.Path = missing },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.dir = t.TempDir()
			spoil(b, filepath.Join(b.dir, "nothing"))
			defer rig.Clean()
			if err := rig.Catch(func() { b.openInstallation(0) }); !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
		})
	}
}
