// Package rig runs confab, the simulator of the provider and receivers of webhooks as
// processes of their own, for the measurements and trials of app/tools/bench and app/tools/soak: they
// must not share a process with what they measure. It also knows which browser to take.
package rig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Program is how to start a program: its path, and variables that every start gets.
type Program struct {
	Path string
	Env  []string
}

// command prepares a run with further variables.
func (p Program) command(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(p.Path, args...)
	cmd.Env = append(append(os.Environ(), p.Env...), env...)
	return cmd
}

// output runs a command to its end and returns what it printed.
func (p Program) output(env []string, args ...string) (string, error) {
	cmd := p.command(env, args...)

	var stderr bytes.Buffer
	cmd.Stderr = &stderr

	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(p.Path), strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}

// Run runs the program to its end and returns what it printed.
func (p Program) Run(args ...string) (string, error) { return p.output(nil, args...) }

// Process is a process that was started.
type Process struct {
	cmd       *exec.Cmd
	ended     chan struct{} // closed when it has ended
	exitError error         // it ended
}

// Start starts the program with further variables. Its standard error goes to log.
func (p Program) Start(log io.Writer, env []string, args ...string) (*Process, error) {
	cmd := p.command(env, args...)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return nil, err
	}

	started := &Process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		started.exitError = cmd.Wait()
		close(started.ended)
	}()
	return started, nil
}

// Kill kills the process, if it still runs, and waits for its end.
func (p *Process) Kill() {
	p.cmd.Process.Kill()
	<-p.ended
}

// Pause stops the process where it is, without ending it, until Resume.
func (p *Process) Pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (p *Process) Resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// stopTimeout is how long a process may take to end when it is asked to.
const stopTimeout = 20 * time.Second

// Stop sends SIGTERM and waits for the end of the process.
func (p *Process) Stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}

	select {
	case <-p.ended:
		return p.exitError
	case <-time.After(stopTimeout):
		p.Kill()
		return errors.New("the process did not end when asked")
	}
}

// startTimeout is how long a process may take to answer.
const startTimeout = 20 * time.Second

// WaitReady waits until a URL answers 200.
func (p *Process) WaitReady(url string) error {
	for began := time.Now(); time.Since(began) < startTimeout; time.Sleep(2 * time.Millisecond) {
		if res, err := http.Get(url); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}

		select {
		case <-p.ended:
			return fmt.Errorf("the process ended: %v", p.exitError)
		default:
		}
	}
	return fmt.Errorf("%s did not answer within %s", url, startTimeout)
}

// RunParallel calls f once in each of n goroutines, and returns the errors of all.
func RunParallel(n int, f func(i int) error) error {
	faults := make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { faults[i] = f(i) })
	}
	group.Wait()
	return errors.Join(faults...)
}
