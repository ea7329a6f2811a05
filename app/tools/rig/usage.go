package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// Memory returns the resident size of the process in bytes.
func (p *Process) Memory() int64 { return int64(statusOf(p.cmd.Process.Pid).VmRSS) }

// PeakMemory returns the largest resident size that the process has had, in bytes.
func (p *Process) PeakMemory() int64 { return int64(statusOf(p.cmd.Process.Pid).VmHWM) }

func statusOf(pid int) procfs.ProcStatus { return Must(Must(procfs.NewProc(pid)).NewStatus()) }

// CPUTime returns the processor time that the process has used so far, in all its
// threads.
func (p *Process) CPUTime() time.Duration {
	stat := Must(Must(procfs.NewProc(p.cmd.Process.Pid)).Stat())
	return time.Duration(stat.CPUTime() * float64(time.Second))
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
