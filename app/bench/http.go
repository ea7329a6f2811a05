package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// server is confab in a process of its own, with nothing that caps it.
type server struct {
	cmd     *exec.Cmd
	dir     string
	address string
	key     string
	started time.Duration // until the first answer
}

// unlimited switches off what would cap a benchmark by design.
var unlimited = []string{"CONFAB_PLANS__SELF_HOSTED__RATE_PER_SECOND=0", "CONFAB_LOG__LEVEL=warn"}

func (b *bench) startServer() (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return b.startServerAt(address)
}

// startServerAt serves an address with further settings as variables.
func (b *bench) startServerAt(address string, variables ...string) (*server, error) {
	dir, err := os.MkdirTemp("", "confab-bench-*")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, address: address}
	org, err := s.command(b.confab, "orgs", "create", "Bench")
	if err != nil {
		return s, err
	}
	if s.key, err = s.command(b.confab, "keys", "create", "--org", org); err != nil {
		return s, err
	}
	s.cmd = exec.Command(b.confab, "serve", "--data-dir", dir, "--listen", s.address)
	s.cmd.Env = append(append(os.Environ(), unlimited...), variables...)
	s.cmd.Stderr = os.Stderr
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		return s, err
	}
	for time.Since(began) < 10*time.Second {
		if res, err := http.Get("http://" + s.address + "/v1/health"); err == nil {
			res.Body.Close()
			s.started = time.Since(began)
			return s, nil
		}
		time.Sleep(time.Millisecond)
	}
	return s, fmt.Errorf("the server did not answer within 10 s")
}

// command runs the command line on the server's directory and returns its output.
func (s *server) command(confab string, args ...string) (string, error) {
	out, err := exec.Command(confab, append(args, "--data-dir", s.dir)...).Output()
	return strings.TrimSpace(string(out)), err
}

func (s *server) stop() {
	if s.cmd != nil && s.cmd.Process != nil {
		s.cmd.Process.Signal(os.Interrupt)
		s.cmd.Wait()
	}
	os.RemoveAll(s.dir)
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// memory is the resident size of the process in MB.
func (s *server) memory() (float64, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid), "status"))
	if err != nil {
		return 0, err
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if value, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			kb, err := strconv.ParseFloat(string(bytes.Fields(value)[0]), 64)
			return kb / 1024, err
		}
	}
	return 0, fmt.Errorf("no VmRSS in /proc")
}

// cpu is the processor time that a command has used so far.
func cpu(cmd *exec.Cmd) time.Duration { return cpuOf(cmd.Process.Pid) }

// cpuOf is the processor time that a process has used, all its threads together.
func cpuOf(pid int) time.Duration {
	const tick = 10 * time.Millisecond // what /proc counts in
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // a name may hold spaces
	user, _ := strconv.Atoi(string(fields[11]))
	system, _ := strconv.Atoi(string(fields[12]))
	return time.Duration(user+system) * tick
}

func micros(d time.Duration) float64 { return float64(d.Microseconds()) }

// http measures the server over real connections.
func (b *bench) http() error {
	s, err := b.startServer()
	if s != nil {
		defer s.stop()
	}
	if err != nil {
		return err
	}
	b.add("start to first answer", fmt.Sprintf("%.0f ms", ms(s.started)), "")
	time.Sleep(2 * time.Second) // settled, doing nothing
	idle, err := s.memory()
	if err != nil {
		return err
	}
	b.add("memory, idle", fmt.Sprintf("%.0f MB", idle), "")
	if err := b.endpoint(s, "GET /v1/me", 200, func() []byte { return s.request("GET", "/v1/me", "") }); err != nil {
		return err
	}
	var posts atomic.Int64
	if err := b.endpoint(s, "POST /v1/labels", 201, func() []byte {
		return s.request("POST", "/v1/labels", `{"name":"label `+strconv.FormatInt(posts.Add(1), 10)+`"}`)
	}); err != nil {
		return err
	}
	busy, err := s.memory()
	b.add("memory, after load", fmt.Sprintf("%.0f MB", busy), "")
	return err
}

// endpoint measures one endpoint at 1, 16 and 64 connections.
func (b *bench) endpoint(s *server, name string, want int, request func() []byte) error {
	var single float64
	for _, connections := range []int{1, 16, 64} {
		var rates []float64
		var waits []time.Duration
		for range b.rounds {
			l, err := drive(s.address, connections, b.length, want, request)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			rates, waits = append(rates, l.perSecond), append(waits, l.waits...)
		}
		rate := median(rates)
		if connections == 1 {
			single = rate
		}
		b.add(fmt.Sprintf("%s, %d connections", name, connections), perSecond(rate),
			fmt.Sprintf("%s one connection; p50 %.2f ms, p99 %.2f ms", times(rate, single), ms(percentile(waits, 50)), ms(percentile(waits, 99))))
	}
	return nil
}

func (s *server) request(method, path, body string) []byte {
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", method, path, s.address, s.key, len(body), body)
}
