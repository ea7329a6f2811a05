package rig

import (
	"io"
	"sync/atomic"
	"time"
)

// Server is `confab serve` on a data directory, which can be stopped and started again.
type Server struct {
	Program
	Dir     string
	Address string   // kept over restarts
	Env     []string // settings
	Log     io.Writer

	// process is what was started last, or nil. A fault may kill it while others measure it.
	process atomic.Pointer[Process]
}

// Command runs a command of confab on the server's data directory, with its
// settings.
func (s *Server) Command(args ...string) (string, error) {
	return s.output(s.Env, append(args, "--data-dir", s.Dir)...)
}

// URL returns the base URL of the server.
func (s *Server) URL() string { return "http://" + s.Address }

// Start starts the process and waits until it is ready.
func (s *Server) Start() error {
	p, err := s.Program.Start(s.Log, s.Env, "serve", "--data-dir", s.Dir, "--listen", s.Address)
	if err != nil {
		return err
	}
	s.process.Store(p)
	return p.WaitReady(s.URL() + "/readyz")
}

// NewOrganization makes an organization with a key.
func (s *Server) NewOrganization(name string) (org, key string, err error) {
	if org, err = s.Command("orgs", "create", name); err == nil {
		key, err = s.Command("keys", "create", "--org", org)
	}
	return org, key, err
}

// ConnectNumber connects a number of the provider to an organization.
func (s *Server) ConnectNumber(org, number, waba, token string) error {
	_, err := s.Command("accounts", "connect", "--org", org, "--phone-number-id", number, "--waba-id", waba, "--access-token", token)
	return err
}

// Kill kills the process, if one was started.
func (s *Server) Kill() {
	if p := s.process.Load(); p != nil {
		p.Kill()
	}
}

// Stop sends SIGTERM to the process, if one was started, and waits for its end.
func (s *Server) Stop() error {
	if p := s.process.Load(); p != nil {
		return p.Stop()
	}
	return nil
}

// Pause stops the process where it is until Resume.
func (s *Server) Pause() error { return s.process.Load().Pause() }

// Resume lets a paused process go on.
func (s *Server) Resume() error { return s.process.Load().Resume() }

// Memory returns the resident size of the process in bytes. It fails if none runs, as the
// two below do.
func (s *Server) Memory() (int64, error) { return s.process.Load().Memory() }

// PeakMemory returns the largest resident size of the process in bytes.
func (s *Server) PeakMemory() (int64, error) { return s.process.Load().PeakMemory() }

// CPUTime returns the processor time that the process has used.
func (s *Server) CPUTime() (time.Duration, error) { return s.process.Load().CPUTime() }
