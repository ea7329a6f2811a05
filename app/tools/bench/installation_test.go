package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
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
			if o, err := b.openInstallation(t.Context(), 0); o != nil || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v, %v", o, err)
			}
		})
	}
}
