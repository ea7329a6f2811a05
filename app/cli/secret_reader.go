package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Variables that 'confab sandbox', 'simulator', 'trigger' and 'accounts' read.
// They are no settings of a server.
const (
	simulatorURLVariable = "CONFAB_SIMULATOR_URL"
	controlTokenVariable = "CONFAB_CONTROL_TOKEN"
	appSecretVariable    = "CONFAB_APP_SECRET"
	verifyTokenVariable  = "CONFAB_VERIFY_TOKEN"
	accessTokenVariable  = "CONFAB_ACCESS_TOKEN"
)

// secretReader reads secrets, which should not be seen on a command line: a flag
// may be - for a line of standard input, or absent in favour of a variable. One
// reader serves all flags of a command, which take their lines one after the other.
type secretReader struct{ lines *bufio.Reader }

func newSecretReader(in io.Reader) *secretReader { return &secretReader{bufio.NewReader(in)} }

// read returns the secret of a flag with this value; empty if there is none.
func (s *secretReader) read(flag, value, variable string) (string, error) {
	switch value {
	case "":
		return os.Getenv(variable), nil
	case "-":
		line, err := s.lines.ReadString('\n')
		line = strings.TrimRight(line, "\r\n")
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("--%s: %w", flag, err)
		}
		if line == "" {
			return "", fmt.Errorf("--%s is -, but there is no line on standard input", flag)
		}
		return line, nil
	}

	return value, nil
}
