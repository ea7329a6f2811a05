package rig

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
)

// Simulator is a running simulator of the provider, and what a server needs to use it.
type Simulator struct {
	*Service      `json:"-"`
	PhoneNumberID string `json:"phone_number_id"`
	PhoneNumber   string `json:"phone_number"`
	WABAID        string `json:"waba_id"`
	AccessToken   string `json:"access_token"`
	AppSecret     string `json:"app_secret"`
	VerifyToken   string `json:"verify_token"`
}

// Uncapped are settings of the simulator without any limits, as a part of a JSON object.
const Uncapped = `"messages_per_second":0,"pair_limit":false,"service_window":false`

// StartSimulator runs the simulator in a directory. Its callbacks go to the URL webhook,
// its standard error to log. flags are added to its command line.
func (p Program) StartSimulator(dir, webhook string, log io.Writer, flags ...string) (*Simulator, error) {
	address, err := FreeAddress()
	if err != nil {
		return nil, err
	}

	args := append([]string{"simulator", "--listen", address, "--data-dir", dir, "--webhook-url", webhook}, flags...)
	process, err := p.Start(log, nil, args...)
	if err != nil {
		return nil, err
	}

	s := &Simulator{Service: &Service{process, "http://" + address}}
	if err := s.WaitReady(s.URL + "/_sim/settings"); err != nil {
		return s, err
	}

	text, err := os.ReadFile(filepath.Join(dir, "simulator.json"))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, s)
}

// Settings returns the variables that make a server use this provider.
func (s *Simulator) Settings() []string {
	return []string{
		"CONFAB_PROVIDER__BASE_URL=" + s.URL,
		"CONFAB_PROVIDER__APP_SECRET=" + s.AppSecret,
		"CONFAB_PROVIDER__VERIFY_TOKEN=" + s.VerifyToken,
	}
}
