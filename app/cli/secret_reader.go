package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Variables by which the commands that try things out may be told what is no
// setting of a server.
const (
	simulatorURLVariable = "CONFAB_SIMULATOR_URL"
	controlTokenVariable = "CONFAB_CONTROL_TOKEN"
	appSecretVariable    = "CONFAB_APP_SECRET"
	verifyTokenVariable  = "CONFAB_VERIFY_TOKEN"
	accessTokenVariable  = "CONFAB_ACCESS_TOKEN"
)

// secretReader reads what should not be seen on a command line: a flag may say - for
// a line of standard input, or leave it to a variable.
type secretReader struct{ lines *bufio.Reader }

func newSecretReader(in io.Reader) *secretReader { return &secretReader{bufio.NewReader(in)} }

// read returns a flag's secret.
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
