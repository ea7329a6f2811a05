package rig

import (
	"bytes"
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

func readSize(pid int, name string) int64 {
	return parseSize(Must(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))), name)
}

func parseSize(status []byte, name string) (bytesUsed int64) {
	_, rest, _ := bytes.Cut(status, []byte(name))
	Must(fmt.Sscanf(string(rest), "%d kB", &bytesUsed))
	return bytesUsed << 10
}

// CPUTime returns the processor time that the process has used so far, in all its
// threads.
func (p *Process) CPUTime() time.Duration {
	return parseCPUTime(Must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))))
}

func parseCPUTime(stat []byte) time.Duration {
	const tick = 10 * time.Millisecond                                        // the unit of /proc
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // the name of the program may contain spaces
	Require(len(fields) > 12, "no processor time in /proc: %q", stat)
	user, system := Must(strconv.Atoi(fields[11])), Must(strconv.Atoi(fields[12]))
	return time.Duration(user+system) * tick
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
