package app_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// allowed lists, for each package, the only packages of ours that it may
// import. Arrows point down: app → jobs → storage.
var allowed = map[string][]string{
	"":                      {"app/cli"},
	"app":                   {"app/api", "app/api/rest", "app/callback", "app/config", "app/console", "app/console/api", "app/datadir", "app/factor", "app/gateway", "app/limit", "app/live", "app/mcp", "app/oidc", "app/pages", "app/password", "app/replica", "app/stream", "jobs", "jobs/guard", "jobs/messaging", "jobs/provider", "jobs/provisioning", "jobs/push", "jobs/queue", "jobs/webhook", "storage"},
	"app/api":               {"app/api/content", "app/api/rest", "app/api/template", "app/live", "app/stream", "jobs", "jobs/contactsheet", "jobs/errorcode", "jobs/event", "jobs/filetype", "jobs/guard", "jobs/mergefield", "jobs/messaging", "jobs/provider", "jobs/provisioning", "jobs/rates", "jobs/rules", "storage"},
	"app/api/rest":          {"app/config", "app/limit", "jobs", "jobs/contactsheet", "jobs/errorcode", "jobs/filetype", "jobs/provider", "storage"},
	"app/api/content":       {"app/api/rest", "jobs/filetype", "jobs/guard", "jobs/provider", "storage"},
	"app/api/template":      {"app/api/content", "app/api/rest", "jobs/mergefield", "jobs/provisioning", "storage"},
	"app/backup":            {"app/datadir", "storage"},
	"app/callback":          {"app/limit", "jobs", "jobs/event", "jobs/messaging", "jobs/provider", "jobs/provisioning", "storage"},
	"app/tools/bench":       {"app/tools/rig", "jobs/guard", "jobs/queue", "jobs/webhook", "storage"},
	"app/cli":               {"app", "app/api", "app/api/rest", "app/backup", "app/config", "app/console", "app/console/api", "app/datadir", "app/doctor", "app/mcp", "app/pages/guides", "app/replica", "app/simulator", "app/stream", "jobs", "jobs/contactsheet", "jobs/event", "jobs/guard", "jobs/messaging", "jobs/provider", "jobs/provisioning", "jobs/queue", "jobs/rates", "jobs/rules", "jobs/webhook", "storage", "storage/objects"},
	"app/config":            {"storage/objects"},
	"app/console":           {"app/api/rest", "app/console/api", "app/factor", "app/limit", "app/oidc", "app/password", "app/theme", "app/ticket", "jobs/language", "storage"},
	"app/console/api":       {"app/api", "app/api/rest", "app/factor", "app/limit", "app/live", "app/password", "app/stream", "app/ticket", "jobs", "jobs/errorcode", "jobs/event", "jobs/guard", "jobs/language", "jobs/messaging", "jobs/provider", "jobs/provisioning", "jobs/push", "jobs/webhook", "storage"},
	"app/password":          {"app/limit"},
	"app/datadir":           {"app/config", "storage"},
	"app/doctor":            {"app", "app/config", "app/datadir", "app/oidc", "app/replica", "jobs/provider", "storage", "storage/objects"},
	"app/factor":            {},
	"app/gateway":           {"app/api", "app/api/content", "app/api/rest", "app/limit", "jobs", "jobs/errorcode", "jobs/filetype", "jobs/provider", "storage"},
	"app/limit":             {},
	"app/live":              {"app/limit", "app/stream", "storage"},
	"app/mcp":               {},
	"app/oidc":              {"app/config", "app/limit"},
	"app/pages":             {"app/api/rest", "app/config", "app/limit", "app/pages/guides", "app/pages/reference", "app/theme", "jobs/language", "jobs/provider", "storage"},
	"app/pages/guides":      {},
	"app/pages/reference":   {"app/pages/guides", "app/theme"},
	"app/tools/bundle":      {"app/theme", "jobs/language"},
	"app/tools/release":     {"app/tools/rig"},
	"app/tools/rig":         {},
	"app/tools/rig/rigtest": {"app/cli", "app/tools/rig", "storage", "storage/storagetest"},
	"app/replica":           {"app/config", "app/datadir", "storage", "storage/objects"},
	"app/simulator":         {},
	"app/stream":            {"app/limit", "storage"},
	"app/tools/soak":        {"app/datadir", "app/tools/rig", "jobs/errorcode", "jobs/webhook", "storage", "storage/storageaudit"},
	"app/theme":             {},
	"app/ticket":            {"storage"},
	"jobs":                  {"jobs/attempts", "jobs/clockwatch", "jobs/contactsheet", "jobs/errorcode", "jobs/event", "jobs/filetype", "jobs/guard", "jobs/language", "jobs/mergefield", "jobs/messaging", "jobs/provider", "jobs/provisioning", "jobs/push", "jobs/queue", "jobs/rules", "jobs/webhook", "storage"},
	"jobs/attempts":         {},
	"jobs/clockwatch":       {"storage"},
	"jobs/contactsheet":     {"jobs/provider", "storage"},
	"jobs/errorcode":        {},
	"jobs/event":            {"storage"},
	"jobs/filetype":         {},
	"jobs/guard":            {},
	"jobs/guard/guardtest":  {},
	"jobs/language":         {},
	"jobs/mergefield":       {"storage"},
	"jobs/messaging":        {"jobs/errorcode", "jobs/event", "jobs/provider", "storage"},
	"jobs/provider":         {"jobs/errorcode", "jobs/timeout"},
	"jobs/provisioning":     {"jobs/errorcode", "jobs/event", "jobs/messaging", "jobs/provider", "storage"},
	"jobs/push":             {"jobs/guard", "jobs/timeout", "storage"},
	"jobs/queue":            {"jobs/timeout", "storage"},
	"jobs/rates":            {"jobs/provider", "storage"},
	"jobs/rules":            {"storage"},
	"jobs/timeout":          {},
	"jobs/webhook":          {"jobs/guard", "jobs/timeout"},
	"storage":               {"storage/objects", "storage/search", "storage/sqlite"},
	"storage/search":        {"storage/sqlite"},
	"storage/sqlite":        {},
	"storage/storageaudit":  {"storage", "storage/sqlite"},
	"storage/storagetest":   {"storage", "storage/sqlite"},

	"storage/objects":             {},
	"storage/objects/objectstest": {},
}

// sqlText finds what only storage may hold.
var sqlText = regexp.MustCompile(`(?s)^\s*(SELECT\s.*\sFROM\s|INSERT\s+(OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|PRAGMA\s)`)

// source is one file of the program, tests left out.
type source struct {
	path string // relative to the module
	pkg  string
	set  *token.FileSet
	file *ast.File
	size int
}

func sources(t *testing.T) []source {
	t.Helper()
	all, err := parseSources()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 200 {
		t.Fatalf("only %d files were found", len(all))
	}
	return all
}

// parseSources reads every file of the program, once for all tests.
var parseSources = sync.OnceValues(func() (all []source, err error) {
	err = filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("..", path)
		pkg := filepath.ToSlash(filepath.Dir(rel))
		if pkg == "." {
			pkg = ""
		}
		all = append(all, source{path: rel, pkg: pkg, set: set, file: file, size: strings.Count(string(text), "\n")})
		return err
	})
	return all, err
})

func TestImportsPointOneWay(t *testing.T) {
	for _, s := range sources(t) {
		may, known := allowed[s.pkg]
		if !known {
			t.Errorf("%s: package %q is not in the table of packages", s.path, s.pkg)
		}
		for _, spec := range s.file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if ours, ok := strings.CutPrefix(path, "confab/"); ok && !slices.Contains(may, ours) {
				t.Errorf("%s must not import %s", s.path, path)
			}
		}
	}
}

func TestSQLStaysInStorage(t *testing.T) {
	for _, s := range sources(t) {
		if strings.HasPrefix(s.pkg, "storage") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && sqlText.MatchString(text) {
					t.Errorf("%s holds SQL: %.60s", s.path, text)
				}
			}
			return true
		})
	}
}

// TestTheEngineNamesNoTable: what knows a table belongs to storage, a folder up.
func TestTheEngineNamesNoTable(t *testing.T) {
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for _, m := range regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`).FindAllStringSubmatch(string(schema), -1) {
		tables = append(tables, m[1])
	}
	if len(tables) < 20 {
		t.Fatalf("only %d tables were found", len(tables))
	}

	named := regexp.MustCompile(`(?i)\b(FROM|INTO|UPDATE|JOIN|TABLE)\s+"?(` + strings.Join(tables, "|") + `)\b`)
	for _, s := range sources(t) {
		if s.pkg != "storage/sqlite" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && named.MatchString(lit.Value) {
				t.Errorf("%s names a table: %.60s", s.path, lit.Value)
			}
			return true
		})
	}
}

// TestRestNamesNoRoute: what knows a route belongs to a table of routes, in app/api or in
// app/console/api.
func TestRestNamesNoRoute(t *testing.T) {
	path := regexp.MustCompile(`^"/[a-z:]`)
	prefixes := []string{`"/v1"`, `"/console/api"`}
	for _, s := range sources(t) {
		if s.pkg != "app/api/rest" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && path.MatchString(lit.Value) && !slices.Contains(prefixes, lit.Value) {
				t.Errorf("%s names a route: %s", s.path, lit.Value)
			}
			return true
		})
	}
}

// TestTheShippedBuildHasNothingOfTheTrials: with the tag trial, a server has a clock that
// a file sets, and short leases.
func TestTheShippedBuildHasNothingOfTheTrials(t *testing.T) {
	trials := 0
	for _, s := range sources(t) {
		if !strings.HasSuffix(s.path, "_trial.go") {
			continue
		}
		trials++

		shipped, err := build.Default.MatchFile(filepath.Join("..", s.pkg), filepath.Base(s.path))
		if err != nil || shipped {
			t.Errorf("%s is in every build (%v)", s.path, err)
		}
	}
	if trials == 0 {
		t.Error("no file was looked at")
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	documented := make(map[string]bool)
	for _, s := range sources(t) {
		documented[s.pkg] = documented[s.pkg] || s.file.Doc != nil
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("package %q has no doc comment", pkg)
		}
	}
}

func TestNoFileGrowsPast400Lines(t *testing.T) {
	for _, s := range sources(t) {
		if s.size > 400 {
			t.Errorf("%s has %d lines", s.path, s.size)
		}
	}
}
