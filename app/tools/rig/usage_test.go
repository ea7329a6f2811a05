package rig

import (
	"testing"
	"time"
)

func TestSizeIn(t *testing.T) {
	status := []byte("Name:\tconfab\nVmHWM:\t   20480 kB\nVmRSS:\t   10240 kB\n")
	for name, want := range map[string]int64{"VmRSS:": 10 << 20, "VmHWM:": 20 << 20} {
		if got := parseSize(status, name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	if Catch(func() { parseSize(status, "VmSwap:") }) == nil {
		t.Error("a size that is not there was found")
	}
}

func TestCPUTimeIn(t *testing.T) {
	stat := []byte("4711 (a name) with) S 1 2 3 0 -1 4194304 1 0 0 0 150 50 7 8 20 0 9 0 100 200 300")
	if got := parseCPUTime(stat); got != 2*time.Second {
		t.Errorf("%v, want 2s", got)
	}
	if Catch(func() { parseCPUTime([]byte("4711 (cut) S 1 2")) }) == nil {
		t.Error("processor time was read out of nothing")
	}
}
