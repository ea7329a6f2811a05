package rig

import (
	"io"
	"sync"
)

// Server is `confab serve` on a data directory, stopped and started at will.
type Server struct {
	Program
	Dir     string
	Address string   // kept over restarts
	Env     []string // settings
	Log     io.Writer

	mu      sync.Mutex
	process *Process
}

// Command runs a command of confab on the server's data directory, with its
// settings.
func (s *Server) Command(args ...string) (string, error) {
	return s.output(s.Env, append(args, "--data-dir", s.Dir)...)
}

// URL is where the server answers.
func (s *Server) URL() string { return "http://" + s.Address }

// Start starts the process and waits until it is ready.
func (s *Server) Start() error {
	cmd := s.command(s.Env, "serve", "--data-dir", s.Dir, "--listen", s.Address)
	cmd.Stderr = s.Log
	p, err := Start(cmd)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.process = p
	s.mu.Unlock()
	return p.Await(s.URL() + "/readyz")
}

// take is the process that runs, or nil, and nobody's from now on.
func (s *Server) take() *Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.process
	s.process = nil
	return p
}

// Kill ends the process, if one runs, without giving it a chance.
func (s *Server) Kill() {
	if p := s.take(); p != nil {
		p.Kill()
	}
}

// Stop asks the process, if one runs, to end and waits for it.
func (s *Server) Stop() error {
	if p := s.take(); p != nil {
		return p.Stop()
	}
	return nil
}

// Memory is the resident size of the process in bytes, 0 when none runs.
func (s *Server) Memory() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return 0, nil
	}
	return s.process.Memory()
}
