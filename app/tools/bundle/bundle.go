package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/evanw/esbuild/pkg/api"

	"confab/jobs/language"
)

const namespace = "console"

// bundle bundles entries and all that they import. Modules that several entries need, or that are
// imported later, are files of their own. Every name has a hash of the content. Imports of texts
// are those of a language, whose name scripts have in theirs. English ones have none, and have
// source maps, which name the modules by their paths.
func bundle(trees []fs.FS, spoken string, entries ...string) (map[string][]byte, error) {
	scriptNames, maps := "[name]."+spoken+"-[hash]", api.SourceMapNone
	if spoken == language.English {
		scriptNames, maps = "[name]-[hash]", api.SourceMapExternal
	}
	built := api.Build(api.BuildOptions{
		EntryPoints: entries,
		Outdir:      "/",
		EntryNames:  scriptNames,
		ChunkNames:  scriptNames,
		AssetNames:  "[name]-[hash]",

		Bundle:            true,
		Splitting:         true,
		Format:            api.FormatESModule,
		Target:            api.ESNext,
		Charset:           api.CharsetUTF8,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		Sourcemap:         maps,
		SourcesContent:    api.SourcesContentExclude,

		Plugins: []api.Plugin{readFrom(trees, spoken)},
	})
	if faults := append(built.Errors, built.Warnings...); len(faults) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(faults, api.FormatMessagesOptions{}), "\n"))
	}

	files := make(map[string][]byte)
	for _, file := range built.OutputFiles {
		name := strings.TrimPrefix(file.Path, "/")
		switch {
		case strings.HasSuffix(name, ".css.map"):
			continue
		case strings.HasSuffix(name, ".map"):
			file.Contents = bytes.ReplaceAll(file.Contents, []byte(`"`+namespace+`:`), []byte(`"`))
		}
		files[name] = file.Contents
	}
	return files, nil
}

// loaderOf says what the bundler does with a file. An icon that a module imports is an asset of
// its own, and the module gets its address; those of the page and of the app are only served.
func loaderOf(name string) api.Loader {
	switch {
	case name == "icon.svg" || path.Ext(name) == ".png":
		return api.LoaderCopy
	case path.Ext(name) == ".svg":
		return api.LoaderFile
	case path.Ext(name) == ".css":
		return api.LoaderCSS
	}
	return api.LoaderJS
}

// readFrom lets the bundler read from file systems, the first of which that has a file wins, and
// the texts of a language.
func readFrom(trees []fs.FS, spoken string) api.Plugin {
	resolve := func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		if name, isText := strings.CutPrefix(a.Path, "texts/"); isText {
			return api.OnResolveResult{Path: path.Join("texts", spoken, name), Namespace: namespace}, nil
		}
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

func compress(content []byte) []byte {
	var b bytes.Buffer
	w := brotli.NewWriterLevel(&b, brotli.BestCompression)
	w.Write(content) // to memory, which cannot fail
	w.Close()
	return b.Bytes()
}
