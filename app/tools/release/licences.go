package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"confab/app/tools/rig"
)

// noticeFile finds the files of a module that say under what it may be used.
var noticeFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// ownTerms is the one among them that is about the module itself. Others are about
// parts of it, or about what it was tested with: they are handed on, not judged.
var ownTerms = regexp.MustCompile(`(?i)^(licen[cs]e|copying)([.](md|txt))?$`)

// licenceNames finds licences by words that only they have, in this order.
var licenceNames = []struct{ name, words string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
	{"GPL", "GNU General Public License Version"}, // the title: others name it with a comma
	{"LGPL", "GNU Lesser General Public License Version"},
	{"BSD-3-Clause", "may be used to endorse or promote"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose"},
	{"public domain", "dedicated to the public domain"},
	{"Unlicense", "This is free and unencumbered software"},
}

// forbidden are licences whose terms a binary under the MIT licence cannot keep.
var forbidden = []string{"GPL", "LGPL"}

// component is something that is in the binaries, with its terms.
type component struct {
	name, version, sum string
	licences           []string
	notices            []notice
}

type notice struct{ file, text string }

// addModules adds the modules that a binary has inside, by its own account.
func addModules(known []*debug.Module, path string) []*debug.Module {
	for _, m := range rig.Must(buildinfo.ReadFile(path)).Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if !slices.ContainsFunc(known, func(k *debug.Module) bool { return k.Path == m.Path }) {
			known = append(known, m)
		}
	}

	slices.SortFunc(known, func(a, b *debug.Module) int { return strings.Compare(a.Path, b.Path) })
	return known
}

// licences lists the modules in the binaries and their terms, then every text.
// A module without terms that are known here is an error.
func licences(modules []*debug.Module) []byte {
	goTool := rig.Program{Path: "go"}
	parts := []component{readComponent("Go and its standard library", goTool.Run("env", "GOROOT"))}
	parts[0].version = runtime.Version()
	for _, m := range modules {
		part := readComponent(m.Path, goTool.Run("list", "-m", "-f", "{{.Dir}}", m.Path))
		part.version, part.sum = m.Version, m.Sum
		parts = append(parts, part)
	}
	return render(parts)
}

func readComponent(name, dir string) component {
	c := component{name: name}
	for _, entry := range rig.Must(os.ReadDir(dir)) {
		if entry.IsDir() || !noticeFile.MatchString(entry.Name()) || strings.HasSuffix(entry.Name(), ".go") {
			continue
		}
		text := string(rig.Must(os.ReadFile(filepath.Join(dir, entry.Name()))))
		c.notices = append(c.notices, notice{entry.Name(), strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))})
		if ownTerms.MatchString(entry.Name()) {
			c.licences = append(c.licences, licencesIn(text)...)
		}
	}

	isForbidden := slices.ContainsFunc(c.licences, func(l string) bool { return slices.Contains(forbidden, l) })
	rig.Require(len(c.licences) > 0, "%s: no licence that is known here is in %s", name, dir)
	rig.Require(!isForbidden, "%s: it may not be handed out under our terms: %s", name, strings.Join(c.licences, ", "))
	return c
}

// licencesIn names the licences of which a text has the words.
func licencesIn(text string) (names []string) {
	plain := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, l := range licenceNames {
		twoClauses := l.name == "BSD-2-Clause" && slices.Contains(names, "BSD-3-Clause")
		if strings.Contains(plain, strings.ToLower(l.words)) && !twoClauses {
			names = append(names, l.name)
		}
	}
	return names
}

func render(parts []component) []byte {
	var b bytes.Buffer
	b.WriteString("confab is MIT licensed. Inside its binaries is also:\n\n")
	for _, c := range parts {
		fmt.Fprintf(&b, "  %-50s %-42s %s\n", c.name, c.version, strings.Join(c.licences, ", "))
	}

	for _, c := range parts {
		for _, n := range c.notices {
			fmt.Fprintf(&b, "\n%s\n%s %s, %s\n", strings.Repeat("=", 100), c.name, c.version, n.file)
			if c.sum != "" {
				fmt.Fprintf(&b, "%s\n", c.sum)
			}
			fmt.Fprintf(&b, "%s\n\n%s\n", strings.Repeat("=", 100), n.text)
		}
	}
	return b.Bytes()
}
