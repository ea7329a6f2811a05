package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"confab/app/datadir"
	"confab/app/simulator"
)

const (
	controlTimeout = 30 * time.Second // the simulator may have to fetch a link before it answers
	probeTimeout   = time.Second
)

// simulatorClient calls the control API (/_sim) of a simulator.
type simulatorClient struct {
	simulatorAccess
	client http.Client
}

// simulatorAccess is the data needed to call a simulator: the fields that
// sandbox.json and simulator.json have in common.
type simulatorAccess struct {
	SimulatorURL  string `json:"simulator_url"`
	PhoneNumberID string `json:"phone_number_id"`
	PhoneNumber   string `json:"phone_number"`
	WABAID        string `json:"waba_id"`
	simulator.Credentials
	ControlToken string `json:"control_token,omitempty"` // for /_sim, where it is demanded
}

// readSimulatorAccess reads the file that a sandbox or a simulator wrote into its data directory.
func readSimulatorAccess(dir string) (a simulatorAccess, found bool, err error) {
	for _, name := range []string{datadir.SandboxFile, datadir.SimulatorFile} {
		found, err := readStateFile(filepath.Join(dir, name), &a)
		if err != nil || found && a.SimulatorURL != "" {
			return a, found, err
		}
	}
	return a, false, nil
}

// findSimulatorAccess finds the simulator: at the address or in the directory of a flag, by the
// variable that 'sandbox exec' sets, in $CONFAB_DATA_DIR, or in one of the two default directories.
// Where both of these have a file, the simulator that is running is taken.
func findSimulatorAccess(ctx context.Context, flag *url.URL, dir string) (a simulatorAccess, found bool, err error) {
	at := os.Getenv(simulatorURLVariable)
	switch {
	case flag != nil:
		at = flag.String()
	case dir != "":
		return readSimulatorAccess(dir)
	}
	if at != "" {
		return simulatorAccess{SimulatorURL: strings.TrimRight(at, "/")}, true, nil
	}

	// It may be a server's directory, without a simulator: then the search goes on.
	if dir := os.Getenv("CONFAB_DATA_DIR"); dir != "" {
		if a, found, err = readSimulatorAccess(dir); found || err != nil {
			return a, found, err
		}
	}

	a, found, err = readSimulatorAccess(defaultSandboxDir)
	if err != nil || found && a.isReachable(ctx) {
		return a, found, err
	}
	if other, ok, err := readSimulatorAccess(defaultSimulatorDir); err != nil || ok && (!found || other.isReachable(ctx)) {
		return other, ok, err
	}
	return a, found, nil
}

// isReachable reports whether something listens at the simulator's address.
func (a simulatorAccess) isReachable(ctx context.Context) bool {
	u, err := url.Parse(a.SimulatorURL)
	if err != nil {
		return false
	}

	conn, err := (&net.Dialer{Timeout: probeTimeout}).DialContext(ctx, "tcp", u.Host)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// do calls the simulator and decodes its answer into out. With a nil out the
// answer must be JSON, and is dropped.
func (c *simulatorClient) do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}

	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, method, c.SimulatorURL+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.ControlToken != "" {
		req.Header.Set("Authorization", "Bearer "+c.ControlToken)
	}

	res, err := c.client.Do(req)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("no sandbox is running at %s: start one with 'confab sandbox'", c.SimulatorURL)
	}
	if err != nil {
		return fmt.Errorf("the simulator did not answer: %w", err)
	}
	defer res.Body.Close()

	if res.StatusCode != http.StatusOK {
		return c.refusalError(res)
	}
	if out == nil {
		out = &map[string]any{}
	}
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		return c.notASimulator(res)
	}
	return nil
}

func (c *simulatorClient) refusalError(res *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	message := errorMessage(text)
	switch {
	case message == "":
		return c.notASimulator(res)
	case res.StatusCode == http.StatusUnauthorized:
		return errors.New("the simulator requires its control token: set --control-token or " + controlTokenVariable)
	}
	return fmt.Errorf("the simulator refused: %s", printable(message))
}

// notASimulator is the error of an answer that no simulator would give.
func (c *simulatorClient) notASimulator(res *http.Response) error {
	return fmt.Errorf("%s is not a simulator (%s): check --simulator-url", c.SimulatorURL, res.Status)
}
