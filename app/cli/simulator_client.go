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
)

const (
	controlTimeout = 30 * time.Second // a link may have to be fetched meanwhile
	probeTimeout   = time.Second
)

// simulatorClient speaks to the control surface of a simulator.
type simulatorClient struct {
	simulatorAccess
	client http.Client
}

// simulatorAccess is what sandbox.json and simulator.json have in common.
type simulatorAccess struct {
	SimulatorURL string `json:"simulator_url"`
	WABAID       string `json:"waba_id"`
	AccessToken  string `json:"access_token"`
	ControlToken string `json:"control_token"`
}

// readSimulatorAccess finds the file that a running simulator has left in a directory.
func readSimulatorAccess(dir string) (w simulatorAccess, found bool, err error) {
	for _, name := range []string{sandboxFileName, simulatorFileName} {
		found, err := readStateFile(filepath.Join(dir, name), &w)
		if err != nil || found && w.SimulatorURL != "" {
			return w, found, err
		}
	}
	return w, false, nil
}

// findSimulatorAccess finds the simulator without being told: by the variable that
// 'sandbox exec' sets, or in one of the usual directories. Of two, the one that
// runs is meant.
func findSimulatorAccess(ctx context.Context) (w simulatorAccess, found bool, err error) {
	if at := os.Getenv(simulatorURLVariable); at != "" {
		return simulatorAccess{SimulatorURL: strings.TrimRight(at, "/")}, true, nil
	}

	if dir := os.Getenv("CONFAB_DATA_DIR"); dir != "" {
		if w, found, err = readSimulatorAccess(dir); found || err != nil {
			return w, found, err
		}
	}

	// One that is found but does not answer may have been stopped; the other is
	// taken then if it answers.
	w, found, err = readSimulatorAccess(defaultSandboxDir)
	if err != nil || found && w.isReachable(ctx) {
		return w, found, err
	}

	if other, ok, err := readSimulatorAccess(defaultSimulatorDir); err != nil || ok && (!found || other.isReachable(ctx)) {
		return other, ok, err
	}

	return w, found, nil
}

// isReachable tells whether somebody listens where the simulator was.
func (w simulatorAccess) isReachable(ctx context.Context) bool {
	u, err := url.Parse(w.SimulatorURL)
	if err != nil {
		return false
	}

	conn, err := (&net.Dialer{Timeout: probeTimeout}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return false
	}

	conn.Close()
	return true
}

// do calls the simulator and decodes its answer into out; nil is for an answer
// that says no more than that it went well.
func (c *simulatorClient) do(ctx context.Context, method, path string, in, out any) error {
	return c.request(ctx, method, path, c.ControlToken, in, func(body io.Reader) error {
		if out == nil {
			out = &map[string]any{}
		}
		return json.NewDecoder(body).Decode(out)
	})
}

// request makes one request with a token and hands a good answer to read.
func (c *simulatorClient) request(ctx context.Context, method, path, token string, in any, read func(io.Reader) error) error {
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
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}

	res, err := c.client.Do(req)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("no sandbox runs at %s: start one with 'confab sandbox'", c.SimulatorURL)
	}
	if err != nil {
		return fmt.Errorf("the simulator did not answer: %w", err)
	}

	defer res.Body.Close()

	if res.StatusCode != http.StatusOK {
		return c.refusalError(res)
	}
	if err := read(res.Body); err != nil {
		return c.notASimulator(res)
	}
	return nil
}

// refusalError is what the simulator has against a request.
func (c *simulatorClient) refusalError(res *http.Response) error {
	var answer struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}

	err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&answer)
	switch {
	case err != nil || answer.Error.Message == "":
		return c.notASimulator(res)
	case res.StatusCode == http.StatusUnauthorized:
		return errors.New("the simulator wants its control token: give it with --control-token or " + controlTokenVariable)
	}
	return fmt.Errorf("the simulator refuses: %s", printable(answer.Error.Message))
}

func (c *simulatorClient) notASimulator(res *http.Response) error {
	return fmt.Errorf("%s does not answer as a simulator does (%s): check --simulator-url", c.SimulatorURL, res.Status)
}
