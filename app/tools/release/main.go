// Command release makes the files of a release: static binaries for every system, the
// licences of all that is in them, what changed, and checksums over all of it.
//
// Two builds of one commit with one version of Go are the same bytes, on any machine
// and in any directory: paths are trimmed, nothing is asked of a C compiler, no time
// is written but the commit's, and the builder's settings are left out. 'make
// reproduce' proves it, in a clone with an empty cache. A build that does not know its
// commit fails: Go does not find it in a worktree of git.
package main

import (
	"cmp"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"confab/app/tools/rig"
)

// targets are the systems that binaries are made for.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}

// changesSource is the text of 'confab help changes'.
const changesSource = "app/cli/assets/changes.txt"

func main() {
	version := flag.String("version", "", "what 'confab version' says; a tag, or a commit")
	out := flag.String("out", "bin/release", "directory that is emptied and filled")
	only := flag.String("only", "", "build for one system, such as linux/amd64, to try it out")
	flag.Parse()
	chosen := slices.DeleteFunc(slices.Clone(targets), func(t string) bool { return *only != "" && t != *only })

	if err := rig.Catch(func() { release(*version, *out, chosen) }); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release fills a directory with everything that is handed out for the targets.
func release(version, out string, targets []string) {
	rig.Require(len(targets) > 0, "there is no such system")
	changed := changesOf(version)
	rig.Check(cmp.Or(os.RemoveAll(out), os.MkdirAll(out, 0o755)))

	var parts []*debug.Module
	for _, t := range targets {
		path := filepath.Join(out, "confab-"+strings.ReplaceAll(t, "/", "-"))
		build(t, version, path)
		parts = addModules(parts, path)
	}

	rig.Check(os.WriteFile(filepath.Join(out, "LICENCES.txt"), licences(parts), 0o644))
	rig.Check(os.WriteFile(filepath.Join(out, "CHANGES.txt"), changed, 0o644))
	writeChecksums(out)
}

// changesOf is the text of what changed, which must have a section for a version
// that is a tag such as v1.2.3.
func changesOf(version string) []byte {
	text := rig.Must(os.ReadFile(changesSource)) // run it from the top of the repository
	number, tagged := strings.CutPrefix(version, "v")
	rig.Require(!tagged || strings.Contains(number, "-") || strings.Contains(string(text), "\n"+number+"\n"),
		"%s has no section %s: say what changed", changesSource, number)
	return text
}

func build(target, version, path string) {
	system, arch, _ := strings.Cut(target, "/")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=true",
		"-ldflags", "-s -w -buildid= -X main.version="+version, "-o", path, ".")
	cmd.Env = append(withoutGoSettings(os.Environ()),
		"CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0", "GOENV=off", "GOFLAGS=")
	cmd.Stderr = os.Stderr

	fmt.Printf("%s is built\n", target)
	rig.Within("build for "+target, func() { rig.Check(cmd.Run()) })
}

// withoutGoSettings leaves out the variables that change what the compiler makes.
func withoutGoSettings(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"GOEXPERIMENT", "GOFIPS140", "GODEBUG", "GOWORK"}, name)
	})
}

// writeChecksums lists the SHA-256 of every file, as sha256sum does.
func writeChecksums(dir string) {
	var list strings.Builder
	for _, entry := range rig.Must(os.ReadDir(dir)) {
		content := rig.Must(os.ReadFile(filepath.Join(dir, entry.Name())))
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(content), entry.Name())
	}
	fmt.Print(list.String())
	rig.Check(os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(list.String()), 0o644))
}
