package rig

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Memory returns the resident size of the process in bytes.
func (p *Process) Memory() int64 { return readSize(p.cmd.Process.Pid, "VmRSS:") }

// PeakMemory returns the largest resident size that the process has had, in bytes.
func (p *Process) PeakMemory() int64 { return readSize(p.cmd.Process.Pid, "VmHWM:") }

// readSize reads a size out of /proc/PID/status.
func readSize(pid int, name string) int64 {
	return Must(parseSize(Must(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))), name))
}

func parseSize(status []byte, name string) (int64, error) {
	for line := range bytes.SplitSeq(status, []byte("\n")) {
		if fields := strings.Fields(string(line)); len(fields) > 1 && fields[0] == name {
			kb, err := strconv.ParseInt(fields[1], 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("no %s in /proc", name)
}

// CPUTime returns the processor time that the process has used so far, in all its
// threads.
func (p *Process) CPUTime() time.Duration {
	return Must(parseCPUTime(Must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid)))))
}

func parseCPUTime(stat []byte) (time.Duration, error) {
	const tick = 10 * time.Millisecond                                        // the unit of /proc
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // the name of the program may contain spaces
	if len(fields) < 13 {
		return 0, fmt.Errorf("no processor time in /proc: %q", stat)
	}

	user, err := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, errors.Join(err, err2)
}

// ChildrenOf are the processes that a process has started.
func ChildrenOf(pid int) (all []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // any thread may have started it
	for _, name := range lists {
		text, _ := os.ReadFile(name) // a thread may have ended
		for id := range strings.FieldsSeq(string(text)) {
			n, _ := strconv.Atoi(id)
			all = append(all, n)
		}
	}
	return all
}

// Lose kills a process with those that it has started, as the loss of the machine does.
func Lose(pid int) {
	for _, id := range append(ChildrenOf(pid), pid) {
		_ = syscall.Kill(id, syscall.SIGKILL) // it may have seen the end of another already
	}
}
