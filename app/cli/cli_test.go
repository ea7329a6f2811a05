package cli

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"
	"github.com/spf13/cobra"

	"confab/app/config"
	consoleapi "confab/app/console/api"
)

func TestEveryCommandExplainsItself(t *testing.T) {
	is := is.New(t)
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		if strings.HasPrefix(path, "confab completion ") {
			return // cobra's own
		}
		if cmd.Hidden {
			return // nobody is to run it
		}
		is.True(cmd.Short != "") // a line in the help above it
		if cmd.IsAdditionalHelpTopicCommand() {
			is.True(cmd.Long != "") // a text is all that it is
			return
		}
		is.True(strings.Contains(cmd.Example, "confab")) // and an example
		is.True(cmd.RunE != nil || cmd.Run != nil)       // and does something
		is.True(cmd.Args != nil)                         // and refuses arguments that it does not want
		is.True(!strings.HasSuffix(cmd.Short, "."))      // in one style
		switch name := cmd.Name(); name {
		case "list", "create", "show", "logs":
			is.True(cmd.Flags().Lookup("json") != nil) // machines read it too
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk((&env{}).root())
}

// TestANounAloneIsWrongUsage tries every command that only has commands, and
// each with one that it does not have.
func TestANounAloneIsWrongUsage(t *testing.T) {
	tried := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		if !cmd.HasParent() || !cmd.HasSubCommands() || cmd.Name() == "sandbox" { // which does something by itself
			return
		}
		tried++
		args := strings.Fields(cmd.CommandPath())[1:]
		for _, line := range [][]string{args, append(args, "bogus")} {
			if got := Run(t.Context(), Assets{}, line); got != exitUsage {
				t.Errorf("confab %s: exit status %d", strings.Join(line, " "), got)
			}
		}
		if got := Run(t.Context(), Assets{}, append(args, "--help")); got != exitOK {
			t.Errorf("%s --help: exit status %d", cmd.CommandPath(), got)
		}
	}
	walk((&env{}).root())
	is.New(t).True(tried >= 13) // every noun
}

// elsewhere are the commands that are no administrator's, and tested where they
// belong: those that serve, play, or print something for a shell.
var elsewhere = regexp.MustCompile(`^confab (serve|standby|ready|mcp|listen|sandbox|simulator|trigger|completion|help)\b`)

// TestEveryAdminCommandIsInTheMatrix keeps testdata/matrix.txt complete.
func TestEveryAdminCommandIsInTheMatrix(t *testing.T) {
	text, err := os.ReadFile("testdata/matrix.txt")
	is.New(t).NoErr(err)
	tried := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		if elsewhere.MatchString(path) || cmd.IsAdditionalHelpTopicCommand() || cmd.Hidden {
			return
		}
		if !cmd.HasSubCommands() {
			tried++
		}
		if !cmd.HasSubCommands() && !regexp.MustCompile(`(?m)\b`+path+`\b`).Match(text) {
			t.Errorf("testdata/matrix.txt does not try '%s' with and without a server", path)
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk((&env{}).root())
	is.New(t).True(tried >= 30)
}

// TestTheREADMENamesEveryCommand keeps its list complete.
func TestTheREADMENamesEveryCommand(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	is.New(t).NoErr(err)
	_, list, _ := strings.Cut(string(text), "\n## The command line\n")
	list, _, _ = strings.Cut(list, "\n## ")
	for _, cmd := range (&env{}).root().Commands() {
		if !cmd.IsAdditionalHelpTopicCommand() && !cmd.Hidden && !strings.Contains(list, "`"+cmd.Name()+"`") {
			t.Errorf("the README does not name %s", cmd.CommandPath())
		}
	}
}

func TestParseStatuses(t *testing.T) {
	for text, want := range map[string][2]int{
		"5xx": {500, 599}, "4XX": {400, 499}, "404": {404, 404}, "100": {100, 100}, "599": {599, 599},
		"": {}, "xx": {}, "0xx": {}, "6xx": {}, "50x": {}, "99": {}, "600": {}, "4xxx": {}, "-4xx": {},
	} {
		t.Run(text, func(t *testing.T) {
			is := is.New(t)
			lowest, highest, ok := consoleapi.ParseStatuses(text)
			is.Equal([2]int{lowest, highest}, want)
			is.Equal(ok, want != [2]int{})
		})
	}
}

func TestParseEmail(t *testing.T) {
	is := is.New(t)
	for text, good := range map[string]bool{
		"ana@example.com": true, "a.b+c@sub.example.org": true,
		"": false, "ana": false, "ana@": false, "@example.com": false, "Ana <ana@example.com>": false,
		" ana@example.com": false, "ana@example.com, bo@example.com": false, strings.Repeat("a", 250) + "@example.com": false,
	} {
		t.Logf("%q", text)
		_, err := parseEmail(text)
		is.Equal(err == nil, good)
	}
}

func TestParseName(t *testing.T) {
	is := is.New(t)
	for text, good := range map[string]bool{
		"Acme": true, strings.Repeat("ü", maxName): true,
		"": false, "  ": false, strings.Repeat("a", maxName+1): false, "a\nb": false, "\x1b[31mred": false, "\xff": false,
	} {
		t.Logf("%q", text)
		_, err := parseName(text)
		is.Equal(err == nil, good)
	}
}

func TestPrintableCannotSteerTheTerminal(t *testing.T) {
	is := is.New(t)
	is.Equal(printable("Ünïcode 漢字 👩‍👩‍👧"), "Ünïcode 漢字 👩‍👩‍👧")
	is.Equal(printable("\x1b[31m\tred\n\u0085"), "?[31m?red??")
	is.Equal(printable("a\u202eb"), "a?b")
	is.Equal(printable(""), "-")
}

func TestServerIsAskedWhereItListens(t *testing.T) {
	for _, c := range []struct {
		server config.Server
		want   string
	}{
		{config.Server{Listen: "127.0.0.1:8080"}, "http://127.0.0.1:8080"},
		{config.Server{Listen: ":8080"}, "http://127.0.0.1:8080"},
		{config.Server{Listen: "0.0.0.0:80", PublicURL: "https://chat.example.com"}, "http://127.0.0.1:80"},
		{config.Server{Listen: "[::]:8080"}, "http://127.0.0.1:8080"},
		{config.Server{Listen: "[::1]:8080"}, "http://[::1]:8080"},
		{config.Server{Listen: "[fd00::1]:8080"}, "http://[fd00::1]:8080"},
		{config.Server{Listen: "chat.internal:8080"}, "http://chat.internal:8080"},
		{config.Server{Listen: ":443", TLSCert: "cert.pem"}, "https://127.0.0.1:443"},
		{config.Server{Listen: ":443", TLSDomains: []string{"chat.example.com"}}, "https://127.0.0.1:443"},
	} {
		t.Run(c.server.Listen, func(t *testing.T) {
			is := is.New(t)
			got, err := c.server.LocalURL()
			is.NoErr(err)
			is.Equal(got.String(), c.want)
		})
	}
}

func TestAskReady(t *testing.T) {
	var status atomic.Int32
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "so it is", int(status.Load()))
	})
	for name, server := range map[string]*httptest.Server{"http": httptest.NewServer(answer), "https": httptest.NewTLSServer(answer)} {
		defer server.Close()
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			target, err := url.Parse(server.URL)
			is.NoErr(err)
			status.Store(http.StatusOK)
			is.NoErr(checkReady(t.Context(), target, ""))
			for _, other := range []int32{http.StatusServiceUnavailable, http.StatusNoContent, http.StatusFound} {
				status.Store(other)
				is.True(checkReady(t.Context(), target, "") != nil) // only 200 is ready
			}
		})
	}
}
