package rig

import (
	"io"
	"sync"
	"time"
)

// Server is `confab serve` on a data directory, which can be stopped and started again.
// mu guards the fields below it: a fault may kill the server while others measure it.
type Server struct {
	Program
	Dir     string
	Address string   // kept over restarts
	Env     []string // settings
	Log     io.Writer

	mu            sync.Mutex
	process       *Process
	startDuration time.Duration
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
	cmd := s.command(s.Env, "serve", "--data-dir", s.Dir, "--listen", s.Address)
	cmd.Stderr = s.Log

	began := time.Now()
	p, err := Start(cmd)
	if err != nil {
		return err
	}

	s.mu.Lock()
	s.process = p
	s.mu.Unlock()

	err = p.WaitReady(s.URL() + "/readyz")

	s.mu.Lock()
	s.startDuration = time.Since(began)
	s.mu.Unlock()
	return err
}

// StartDuration returns how long the last start took, up to the first answer of /readyz.
func (s *Server) StartDuration() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.startDuration
}

// running returns the process that was started last, or nil. It may have ended.
func (s *Server) running() *Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

// Kill kills the process, if one was started.
func (s *Server) Kill() {
	if p := s.running(); p != nil {
		p.Kill()
	}
}

// Stop sends SIGTERM to the process, if one was started, and waits for its end.
func (s *Server) Stop() error {
	if p := s.running(); p != nil {
		return p.Stop()
	}
	return nil
}

// Pause stops the process where it is until Resume.
func (s *Server) Pause() error { return s.running().Pause() }

// Resume lets a paused process go on.
func (s *Server) Resume() error { return s.running().Resume() }

// Memory returns the resident size of the process in bytes. It fails if none runs, as the
// two below do.
func (s *Server) Memory() (int64, error) { return s.running().Memory() }

// PeakMemory returns the largest resident size of the process in bytes.
func (s *Server) PeakMemory() (int64, error) { return s.running().PeakMemory() }

// CPUTime returns the processor time that the process has used.
func (s *Server) CPUTime() (time.Duration, error) { return s.running().CPUTime() }
