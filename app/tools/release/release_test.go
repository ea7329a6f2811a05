package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/tools/rig"
)

func TestEveryDependencyHasALicenceThatIsKnown(t *testing.T) {
	is := is.New(t)
	text := rig.Program{Path: "go"}.Run("list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "confab")
	var modules []*debug.Module
	seen := make(map[string]bool)
	for path := range strings.FieldsSeq(text) {
		if !seen[path] {
			seen[path] = true
			modules = append(modules, &debug.Module{Path: path, Version: "v1"})
		}
	}
	is.True(len(modules) >= 20)

	list := licences(modules)
	for _, want := range []string{"modernc.org/sqlite", "SQLite Is Public Domain", "Go and its standard library", "github.com/spf13/cobra"} {
		is.True(strings.Contains(string(list), want))
	}
}

func TestLicencesAreToldByTheirWords(t *testing.T) {
	is := is.New(t)
	is.Equal(licencesIn("Permission is hereby granted, free of charge,\n to any person obtaining a copy"), []string{"MIT"})
	is.Equal(licencesIn("Redistributions in binary form must reproduce … may be used to\nendorse or promote"), []string{"BSD-3-Clause"})
	is.Equal(licencesIn("REDISTRIBUTIONS in binary form must reproduce"), []string{"BSD-2-Clause"})
	is.Equal(licencesIn("Do what you like."), nil)

	for text, says := range map[string]string{"Do what you like.": "no licence that is known", "GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007": "may not be handed out"} {
		dir := t.TempDir()
		is.NoErr(os.WriteFile(filepath.Join(dir, "LICENSE"), []byte(text), 0o600))
		err := rig.Catch(func() { readComponent("example.com/x", dir) })
		is.True(err != nil && strings.Contains(err.Error(), says))
	}
}

func TestATagNeedsASectionOfChanges(t *testing.T) {
	is := is.New(t)
	t.Chdir("../../..")
	for version, good := range map[string]bool{
		"v0.1.0": true, "v0.1.0-3-g10b0da1": true, "10b0da1": true, "v99.0.0": false, "v0.1": false,
	} {
		err := rig.Catch(func() { changesOf(version) })
		is.Equal(err == nil, good) // of version
	}
}

func TestChecksumsAreAsThePlainToolWritesThem(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "confab-linux-amd64"), []byte("abc"), 0o600))
	writeChecksums(dir)
	text, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	is.NoErr(err)
	is.Equal(string(text), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  confab-linux-amd64\n")
}

func TestWhoeverBuildsLeavesNoTrace(t *testing.T) {
	is.New(t).Equal(withoutGoSettings([]string{"HOME=/root", "GOEXPERIMENT=x", "GODEBUG=y", "PATH=/bin"}), []string{"HOME=/root", "PATH=/bin"})
}
