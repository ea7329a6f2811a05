// Package rig runs confab, the played provider and those who listen to them as
// processes of their own, for measurements and trials that must not share a
// process with what they watch.
package rig

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Program is how to start confab: its path, and variables that every start gets.
type Program struct {
	Path string
	Env  []string
}

// command prepares a run.
func (p Program) command(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(p.Path, args...)
	cmd.Env = append(append(os.Environ(), p.Env...), env...)
	return cmd
}

// output runs a command of confab to its end and returns what it printed.
func (p Program) output(env []string, args ...string) (string, error) {
	cmd := p.command(env, args...)
	var words bytes.Buffer
	cmd.Stderr = &words
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("confab %s: %w: %s", strings.Join(args, " "), err, words.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}

// Process is one that runs.
type Process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed once it has
	how   error         // it ended
}

// Start starts a prepared command. What it complains of is let through, unless
// the command says where else it should go.
func Start(cmd *exec.Cmd) (*Process, error) {
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		p.how = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// Kill ends the process without giving it a chance, if it still runs.
func (p *Process) Kill() {
	p.cmd.Process.Kill()
	<-p.ended
}

// stopPatience is how long a process may take to end when it is asked to.
const stopPatience = 20 * time.Second

// Stop asks the process to end and waits for it.
func (p *Process) Stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return p.how
	case <-time.After(stopPatience):
		p.Kill()
		return errors.New("the process did not end when asked")
	}
}

// startPatience is how long a process may take to answer.
const startPatience = 20 * time.Second

// Await waits until a URL answers 200.
func (p *Process) Await(url string) error {
	for began := time.Now(); time.Since(began) < startPatience; time.Sleep(2 * time.Millisecond) {
		if res, err := http.Get(url); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-p.ended:
			return fmt.Errorf("the process ended: %v", p.how)
		default:
		}
	}
	return fmt.Errorf("%s did not answer within %s", url, startPatience)
}

// FreeAddress is an address of this machine that nobody listens on now.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
