package rig

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
)

// Server is `confab serve` on a data directory, which can be stopped and started again.
type Server struct {
	Program
	Dir     string
	Address string   // kept over restarts
	Env     []string // settings
	Log     io.Writer

	*Process // what was started last, or nil
}

// Command runs a command of confab on the server's data directory, with its settings.
func (s *Server) Command(args ...string) string {
	return s.With(s.Env).Run(append(args, "--data-dir", s.Dir)...)
}

// URL returns the base URL of the server.
func (s *Server) URL() string { return "http://" + s.Address }

// Start starts the process and waits until it is ready.
func (s *Server) Start() {
	s.Process = s.With(s.Env).Start(s.Log, "serve", "--data-dir", s.Dir, "--listen", s.Address)
	s.WaitReady(s.URL() + "/readyz")
}

// NewOrganization makes an organization with a key.
func (s *Server) NewOrganization(name string) (org, key string) {
	org = s.Command("orgs", "create", name)
	return org, s.Command("keys", "create", "--org", org)
}

// ConnectNumber connects a number of the provider to an organization.
func (s *Server) ConnectNumber(org, number, waba, token string) {
	s.Command("accounts", "connect", "--org", org, "--phone-number-id", number, "--waba-id", waba, "--access-token", token)
}

// Lose is the loss of the machine.
func (s *Server) Lose() {
	Lose(s.cmd.Process.Pid)
	s.Kill()
}

// ChildMemory is the largest resident size of the processes that the server has started.
func (s *Server) ChildMemory() (most int64) {
	for _, id := range ChildrenOf(s.cmd.Process.Pid) {
		_ = Catch(func() { most = max(most, int64(statusOf(id).VmHWM)) }) // it may have ended
	}
	return most
}

// Service is a running program that serves HTTP.
type Service struct {
	*Process
	URL string
}

// StartService runs the program with the name of one of its roles, an address to listen on
// and arguments, and waits until its front page answers.
func (p Program) StartService(role string, args ...string) *Service {
	address := Must(FreeAddress())
	s := &Service{p.Start(os.Stderr, append([]string{role, address}, args...)...), "http://" + address}
	s.WaitReady(s.URL)
	return s
}

// Call makes a request to the service, which must succeed, and reads the answer into out,
// unless that is nil.
func (s *Service) Call(method, path, body string, out any) {
	Client{Base: s.URL}.Call(method, path, body, out)
}

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
func (p Program) StartSimulator(dir, webhook string, log io.Writer, flags ...string) *Simulator {
	address := Must(FreeAddress())
	args := append([]string{"simulator", "--listen", address, "--data-dir", dir, "--webhook-url", webhook}, flags...)
	s := &Simulator{Service: &Service{p.Start(log, args...), "http://" + address}}
	s.WaitReady(s.URL + "/_sim/settings")
	Check(json.Unmarshal(Must(os.ReadFile(filepath.Join(dir, "simulator.json"))), s))
	return s
}

// AddNumber makes another number of the provider. settings is a JSON object.
func (s *Simulator) AddNumber(settings string) (number, waba string) {
	var made Simulator
	s.Call("POST", "/_sim/numbers", settings, &made)
	return made.PhoneNumberID, made.WABAID
}

// Settings returns the variables that make a server use this provider.
func (s *Simulator) Settings() []string {
	return []string{
		"CONFAB_PROVIDER__BASE_URL=" + s.URL,
		"CONFAB_PROVIDER__APP_SECRET=" + s.AppSecret,
		"CONFAB_PROVIDER__VERIFY_TOKEN=" + s.VerifyToken,
	}
}
