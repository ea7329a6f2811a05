// Command bundle writes app/console/built: what browsers get of the console's modules and
// style sheets, bundled and minified by esbuild and compressed by brotli. Run it by `make
// generate` after an edit of them.
//
// The files are in the repository, and not made when a server starts, because a bundler in the
// server takes up memory, and the first visitor after a start waits for it.
package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"confab/app/theme"
	"confab/jobs/language"
)

// scripts are those of the pages by the directories of their files: the console, with the page of
// signing in and what makes an app of it, and the phone of a simulator that runs alone. Only the
// first of each has texts.
var scripts = map[string][]string{"console": {"app.js", "passkey.js", "sw.js", "icon-192.png", "icon-512.png"}, "phone": {"solo.js"}}

// entries are what every page is made of, besides its script.
var entries = []string{"theme.js", "icon.svg", "base.css", "page.css", "screens.css"}

func main() {
	if err := write("app/console/assets", "app/console/built"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write bundles the modules of a directory, and replaces another by what comes of them.
func write(sources, target string) error {
	files, err := build(os.DirFS(sources))
	if err != nil {
		return err
	}
	if err := os.RemoveAll(target); err != nil {
		return err
	}

	for name, content := range files {
		path := filepath.Join(target, name)
		if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, compress(content), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// build makes the files of all pages in all languages, by their paths. They are not compressed yet.
func build(sources fs.FS) (map[string][]byte, error) {
	all := make(map[string][]byte)
	for _, spoken := range language.All() {
		for page, own := range scripts {
			needed := own[:1]
			if spoken == language.English {
				needed = slices.Concat(own, entries)
			}
			files, err := bundle([]fs.FS{sources, theme.Files}, spoken, needed...)
			if err != nil {
				return nil, err
			}

			for name, content := range files {
				if page == "console" || path.Ext(name) != ".map" { // only a sandbox's console shows its sources
					all[page+"/"+name+".br"] = content
				}
			}
		}
	}
	return all, nil
}
