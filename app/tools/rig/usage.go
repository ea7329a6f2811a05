package rig

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Memory returns the resident size of the process in bytes.
func (p *Process) Memory() (int64, error) { return p.readSize("VmRSS:") }

// PeakMemory returns the largest resident size that the process has had, in bytes.
func (p *Process) PeakMemory() (int64, error) { return p.readSize("VmHWM:") }

// readSize reads a size out of /proc/PID/status.
func (p *Process) readSize(name string) (int64, error) {
	text, err := os.ReadFile(p.file("status"))
	if err != nil {
		return 0, err
	}
	return parseSize(text, name)
}

func parseSize(status []byte, name string) (int64, error) {
	for line := range bytes.SplitSeq(status, []byte("\n")) {
		if value, ok := bytes.CutPrefix(line, []byte(name)); ok {
			if fields := bytes.Fields(value); len(fields) > 0 {
				kb, err := strconv.ParseInt(string(fields[0]), 10, 64)
				return kb << 10, err
			}
		}
	}

	return 0, fmt.Errorf("no %s in /proc", name)
}

// CPUTime returns the processor time that the process has used so far, in all its
// threads.
func (p *Process) CPUTime() (time.Duration, error) {
	text, err := os.ReadFile(p.file("stat"))
	if err != nil {
		return 0, err
	}
	return parseCPUTime(text)
}

func parseCPUTime(stat []byte) (time.Duration, error) {
	const tick = 10 * time.Millisecond                              // the unit of /proc
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the name of the program may contain spaces

	if len(fields) < 13 {
		return 0, fmt.Errorf("no processor time in /proc: %q", stat)
	}

	user, err := strconv.ParseInt(string(fields[11]), 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(string(fields[12]), 10, 64)
	return time.Duration(user+system) * tick, err
}

func (p *Process) file(name string) string {
	return filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), name)
}
