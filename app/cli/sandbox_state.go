package cli

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"confab/app/datadir"
	"confab/storage"
)

// sandboxState is what a client of the sandbox needs. Its file is the only place that has the key.
type sandboxState struct {
	BaseURL        string `json:"base_url"` // with /v1
	ConsoleURL     string `json:"console_url"`
	APIKey         string `json:"api_key"`
	OrganizationID string `json:"organization_id"`
	TeamID         string `json:"team_id"`
	UserID         string `json:"user_id"` // as whom the console signs in visitors of this machine
	simulatorAccess
}

func sandboxFile(dir datadir.Dir) string { return dir.File(datadir.SandboxFile) }

// readSandbox reads what an earlier start has written, and generates the
// credentials of the provider's app where there are none yet.
func readSandbox(dir datadir.Dir) (*sandboxState, error) {
	s := &sandboxState{}
	if _, err := readStateFile(sandboxFile(dir), s); err != nil {
		return nil, err
	}

	s.AppID = cmp.Or(s.AppID, strconv.FormatInt(1e14+mathrand.Int64N(9e14), 10)) // fifteen digits, and no secret
	s.AppSecret = cmp.Or(s.AppSecret, rand.Text())
	s.VerifyToken = cmp.Or(s.VerifyToken, "verify-"+rand.Text())
	s.AccessToken = cmp.Or(s.AccessToken, newAccessToken())
	return s, nil
}

// newAccessToken generates a token that looks like the provider's but is short enough to be copied.
func newAccessToken() string { return "EAA" + rand.Text() }

func (e *env) sandboxEnv() *cobra.Command {
	return &cobra.Command{
		Use:   "env",
		Short: "Print a sandbox's address and key as shell variables",
		Long: "Print CONFAB_BASE_URL, CONFAB_API_KEY, CONFAB_PHONE_NUMBER_ID and CONFAB_SIMULATOR_URL of the sandbox in the\n" +
			"data directory (default " + defaultSandboxDir + ") as shell variables, whether it is running or not.",
		Example: "  eval \"$(confab sandbox env)\"\n  confab sandbox env --data-dir ./my-sandbox",
		RunE: e.run(func(cmd *cobra.Command, _ []string) error {
			var s sandboxState
			if err := e.readSandboxFile(cmd, &s); err != nil {
				return err
			}

			for _, variable := range s.environment() {
				name, value, _ := strings.Cut(variable, "=")
				fmt.Fprintf(cmd.OutOrStdout(), "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
			}
			return nil
		}),
	}
}

// environment has the variables by which a command finds the sandbox.
func (s *sandboxState) environment() []string {
	return []string{
		baseURLVariable + "=" + s.BaseURL,
		apiKeyVariable + "=" + s.APIKey,
		"CONFAB_PHONE_NUMBER_ID=" + s.PhoneNumberID,
		simulatorURLVariable + "=" + s.SimulatorURL,
	}
}

// readStateFile reads a file that writeStateFile has written, and reports whether it exists.
func readStateFile(path string, v any) (found bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}

	if err == nil {
		err = json.Unmarshal(text, v)
	}

	if err != nil {
		return true, fmt.Errorf("%s: %w: remove the file to get a new one", path, err)
	}
	return true, nil
}

// writeStateFile replaces a JSON file in one step, because other processes may
// read it at any time. It holds secrets: only its owner may read it.
func writeStateFile(path string, v any) error {
	var text bytes.Buffer
	if err := printJSON(&text, v); err != nil {
		return err
	}
	return storage.ReplaceFile(path, text.Bytes())
}
