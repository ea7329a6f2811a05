// Package rig runs confab, the simulator of the provider and receivers of webhooks as
// processes of their own, for the measurements and trials of app/tools/bench and app/tools/soak: they
// must not share a process with what they measure. It also knows which browser to take.
package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// With is the program with further variables.
func (p Program) With(env []string) Program { return Program{p.Path, slices.Concat(p.Env, env)} }

func (p Program) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.Path, args...)
	cmd.Env = append(os.Environ(), p.Env...)
	return cmd
}

// Run runs the program to its end and returns what it printed.
func (p Program) Run(args ...string) string {
	cmd := p.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	Require(err == nil, "%s %s: %w: %s", filepath.Base(p.Path), strings.Join(args, " "), err, stderr.Bytes())
	return strings.TrimSpace(string(out))
}

// Process is a process that was started.
type Process struct {
	cmd       *exec.Cmd
	ended     chan struct{} // closed when it has ended
	exitError error         // it ended
}

// Start starts the program, until it is killed or Clean is called. Its standard error goes to log.
func (p Program) Start(log io.Writer, args ...string) *Process {
	cmd := p.command(args...)
	cmd.Stderr = log
	Check(cmd.Start())

	started := &Process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		started.exitError = cmd.Wait()
		close(started.ended)
	}()
	Cleanup(started.Kill)
	return started
}

// Kill kills the process, if it still runs, and waits for its end.
func (p *Process) Kill() {
	p.cmd.Process.Kill()
	<-p.ended
}

// Signal sends a signal to the process.
func (p *Process) Signal(signal os.Signal) { Check(p.cmd.Process.Signal(signal)) }

// stopTimeout is how long a process may take to end when it is asked to.
const stopTimeout = 20 * time.Second

// Stop sends SIGTERM and waits for the end of the process.
func (p *Process) Stop() {
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		Check(p.exitError)
	case <-time.After(stopTimeout):
		p.Kill()
		Check(errors.New("the process did not end when asked"))
	}
}

// startTimeout is how long a process may take to answer.
const startTimeout = 20 * time.Second

// WaitReady waits until a URL answers 200.
func (p *Process) WaitReady(url string) {
	for began := time.Now(); time.Since(began) < startTimeout; time.Sleep(2 * time.Millisecond) {
		if status, _, _ := (Client{Base: url}).Do(context.Background(), Request{Method: "GET"}); status == http.StatusOK {
			return
		}

		select {
		case <-p.ended:
			Check(fmt.Errorf("the process ended: %v", p.exitError))
		default:
		}
	}
	Check(fmt.Errorf("%s did not answer within %s", url, startTimeout))
}

// RunParallel calls f once in each of n goroutines, and fails with the errors of all.
func RunParallel(n int, f func(i int)) {
	faults := make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { faults[i] = Catch(func() { f(i) }) })
	}
	group.Wait()
	Check(errors.Join(faults...))
}

// Go does something in a goroutine, and returns a function that waits for its end and fails as it did.
func Go(do func()) (wait func()) {
	ended := make(chan error, 1)
	go func() { ended <- Catch(do) }()
	return func() { Check(<-ended) }
}

// Percentile sorts s and returns the smallest value that p percent of it do not exceed.
func Percentile[T ~int64 | ~float64](s []T, p int) T {
	if len(s) == 0 {
		return 0
	}
	slices.Sort(s)
	return s[max(0, (len(s)*p+99)/100-1)]
}
