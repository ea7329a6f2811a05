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
	"context"
	"crypto/sha256"
	"debug/elf"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
)

// targets are the systems that binaries are made for.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}

// Names of what lies beside the binaries.
const (
	licencesFile  = "LICENCES.txt"
	changesFile   = "CHANGES.txt"
	checksumsFile = "SHA256SUMS"
)

// changesSource is the text of 'confab help changes'.
const changesSource = "app/cli/assets/changes.txt"

func main() {
	version := flag.String("version", "", "what 'confab version' says; a tag, or a commit")
	out := flag.String("out", "bin/release", "directory that is emptied and filled")
	only := flag.String("only", "", "build for one system, such as linux/amd64, to try it out")
	flag.Parse()
	chosen := slices.DeleteFunc(slices.Clone(targets), func(t string) bool { return *only != "" && t != *only })

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := release(ctx, *version, *out, chosen); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release fills a directory with everything that is handed out for the targets.
func release(ctx context.Context, version, out string, targets []string) error {
	if len(targets) == 0 {
		return fmt.Errorf("there is no such system")
	}
	changed, err := changesOf(version)
	if err != nil {
		return err
	}
	if err := cmp.Or(os.RemoveAll(out), os.MkdirAll(out, 0o755)); err != nil {
		return err
	}

	var parts []*debug.Module
	for _, t := range targets {
		path := filepath.Join(out, "confab-"+strings.ReplaceAll(t, "/", "-"))
		if err := build(ctx, t, version, path); err != nil {
			return err
		}
		if parts, err = addModules(parts, path); err != nil {
			return err
		}
	}

	notices, err := licences(ctx, parts)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{licencesFile: notices, changesFile: changed} {
		if err := os.WriteFile(filepath.Join(out, name), text, 0o644); err != nil {
			return err
		}
	}
	return writeChecksums(out)
}

// changesOf is the text of what changed, which must have a section for a version
// that is a tag such as v1.2.3.
func changesOf(version string) ([]byte, error) {
	text, err := os.ReadFile(changesSource)
	if err != nil {
		return nil, err // run it from the top of the repository
	}

	number, tagged := strings.CutPrefix(version, "v")
	if tagged && !strings.Contains(number, "-") && !strings.Contains(string(text), "\n"+number+"\n") {
		return nil, fmt.Errorf("%s has no section %s: say what changed", changesSource, number)
	}
	return text, nil
}

// build makes one binary.
func build(ctx context.Context, target, version, path string) error {
	system, arch, _ := strings.Cut(target, "/")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true",
		"-ldflags", "-s -w -buildid= -X main.version="+version, "-o", path, ".")
	cmd.Env = append(withoutGoSettings(os.Environ()),
		"CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0", "GOENV=off", "GOFLAGS=")
	cmd.Stderr = os.Stderr

	fmt.Printf("%s is built\n", target)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build for %s: %w", target, err)
	}
	if system == "linux" {
		return checkStatic(path)
	}
	return nil // there is no static binary on darwin: its system library is the system's interface
}

// withoutGoSettings leaves out the variables that change what the compiler makes.
func withoutGoSettings(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"GOEXPERIMENT", "GOFIPS140", "GODEBUG", "GOWORK"}, name)
	})
}

// checkStatic refuses a binary that needs a library or a loader where it runs.
func checkStatic(path string) error {
	file, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()

	libraries, err := file.ImportedLibraries()
	if err != nil {
		return err
	}
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP || len(libraries) > 0 {
			return fmt.Errorf("%s is not static: it needs %s", path, cmp.Or(strings.Join(libraries, ", "), "a loader"))
		}
	}
	return nil
}

// writeChecksums lists the SHA-256 of every file, as sha256sum does.
func writeChecksums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}

	var list strings.Builder
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(content), entry.Name())
	}

	fmt.Print(list.String())
	return os.WriteFile(filepath.Join(dir, checksumsFile), []byte(list.String()), 0o644)
}
