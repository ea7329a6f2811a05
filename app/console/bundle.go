package console

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// What browsers get is bundled and minified by esbuild when a process first needs it, and not
// by a tool that writes files to be committed: an edit of a module is seen at the next start,
// and two people who edit modules have no generated files to merge. It takes a tenth of a
// second, and Prepare does it before the first visit.

// loaderOf says what the bundler does with a file. An icon that a module imports is an asset of
// its own, and the module gets its address; the one of the page is only served.
func loaderOf(name string) api.Loader {
	switch {
	case name == "icon.svg":
		return api.LoaderCopy
	case path.Ext(name) == ".svg":
		return api.LoaderFile
	case path.Ext(name) == ".css":
		return api.LoaderCSS
	}
	return api.LoaderJS
}

// bundle makes assets of entries and of all that they import. What several of them need, and
// what is imported later, are files of their own.
func bundle(trees []fs.FS, withMaps bool, entries ...string) (*assets, error) {
	o := api.BuildOptions{
		EntryPoints: entries,
		Outdir:      "/",
		EntryNames:  "[name]-[hash]",
		ChunkNames:  "[name]-[hash]",
		AssetNames:  "[name]-[hash]",

		Bundle:            true,
		Splitting:         true,
		Format:            api.FormatESModule,
		Target:            api.ESNext,
		Charset:           api.CharsetUTF8,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,

		Plugins: []api.Plugin{readFrom(trees)},
	}
	if withMaps {
		o.Sourcemap = api.SourceMapLinked
	}

	built := api.Build(o)
	if faults := append(built.Errors, built.Warnings...); len(faults) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(faults, api.FormatMessagesOptions{}), "\n"))
	}

	all := &assets{byName: make(map[string]*asset), byServed: make(map[string]*asset)}
	for _, file := range built.OutputFiles {
		all.add(strings.TrimPrefix(file.Path, "/"), file.Contents)
	}
	slices.Sort(all.chunks)
	return all, nil
}

// readFrom lets the bundler read from file systems, as embedded ones are.
func readFrom(trees []fs.FS) api.Plugin {
	const namespace = "console"

	resolve := func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		return api.OnResolveResult{Path: path.Join(path.Dir(a.Importer), a.Path), Namespace: namespace}, nil
	}

	load := func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		for _, tree := range trees {
			content, err := fs.ReadFile(tree, a.Path)
			if err == nil {
				text := string(content)
				return api.OnLoadResult{Contents: &text, Loader: loaderOf(a.Path)}, nil
			}
		}
		return api.OnLoadResult{}, fmt.Errorf("there is no file %s", a.Path)
	}

	return api.Plugin{Name: namespace, Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: ".*"}, resolve)
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: namespace}, load)
	}}
}

// hash is the part of a served name that changes with the content.
var hash = regexp.MustCompile(`-[A-Z0-9]{8}(\.\w+)$`)
