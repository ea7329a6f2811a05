package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"confab/app/datadir"
)

// printInstructions prints how to make the first calls, as commands for a shell.
func (b *sandbox) printInstructions(out io.Writer) {
	s := b.state
	fmt.Fprintf(out, "The sandbox is ready: %s\n\n", s.ConsoleURL)
	clock := ""
	if b.clock.Offset() != 0 {
		clock = fmt.Sprintf("%s, moved ahead by %s (--fresh starts over)", b.clock.Now(), b.clock.Offset())
	}
	printFacts(out, [][]string{
		{"  console", s.ConsoleURL + " (signs you in automatically)"},
		{"  phone", s.ConsoleURL + "phone (write as a customer)"},
		{"  base URL", s.BaseURL},
		{"  API key", s.APIKey},
		{"  number", fmt.Sprintf("%s (phone_number_id %s)", s.PhoneNumber, s.PhoneNumberID)},
		{"  simulator", s.SimulatorURL + " (simulated provider)"},
		{"  saved in", filepath.Join(b.dir, datadir.SandboxFile)},
		{"  clock", clock},
		{"  /_sim token", b.token},
		{"  webhook secret", b.webhookSecret},
	})

	fmt.Fprintf(out, `
%s (%s) sent %q to the number. Reply to her:

%s
See what reached the provider, and send another message from her:

%s
  %s

Follow events as they happen:

  curl -N '%s/events/stream?after=oldest' \
    -H 'Authorization: Bearer %s'

See what your API key belongs to:

  curl %s/me \
    -H 'Authorization: Bearer %s'

Ctrl-C stops it. Everything is kept for the next start, including the key; --fresh starts over.
`,
		samplePersonName, samplePerson, sampleGreeting,
		curlSend(s.BaseURL, s.PhoneNumberID, s.APIKey, "chat", `"type": "text", "text": {"body": "Hello Ana, how can I help?"}`),
		curlMessages(s.SimulatorURL, b.token), triggerCommand(b.dir, defaultSandboxDir),
		s.BaseURL, s.APIKey, s.BaseURL, s.APIKey)
}

// curlSend is the command that writes to the sample person, through our API or the provider's.
func curlSend(baseURL, phoneNumberID, key, product, content string) string {
	return fmt.Sprintf(`  curl %s/%s/messages \
    -H 'Authorization: Bearer %s' \
    -H 'Content-Type: application/json' \
    -d '{"messaging_product": "%s", "to": "%s", %s}'
`, baseURL, phoneNumberID, key, product, strings.TrimPrefix(samplePerson, "+"), content)
}

func curlMessages(simulatorURL, controlToken string) string {
	if controlToken == "" {
		return fmt.Sprintf("  curl %s/_sim/messages", simulatorURL)
	}
	return fmt.Sprintf("  curl %s/_sim/messages \\\n    -H 'Authorization: Bearer %s'", simulatorURL, controlToken)
}

// printFacts prints rows of a name and a value in columns, without those that have no value.
func printFacts(out io.Writer, rows [][]string) {
	printColumns(out, slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" }))
}

// triggerCommand is the command that lets a person write, with this program's path as it was called.
func triggerCommand(dir, usual string) string {
	command := shellWord(os.Args[0]) + " trigger inbound"
	if filepath.Clean(dir) != filepath.Clean(usual) {
		command += " --data-dir " + shellWord(dir)
	}
	return command
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// shellWord quotes a word for a shell, if it needs that.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
