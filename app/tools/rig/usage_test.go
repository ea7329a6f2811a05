package rig

import (
	"testing"
	"time"
)

func TestSizeIn(t *testing.T) {
	status := []byte("Name:\tconfab\nVmHWM:\t   20480 kB\nVmRSS:\t   10240 kB\n")
	for name, want := range map[string]int64{"VmRSS:": 10 << 20, "VmHWM:": 20 << 20} {
		if got, err := parseSize(status, name); err != nil || got != want {
			t.Errorf("%s is %d, %v; want %d", name, got, err, want)
		}
	}
	if _, err := parseSize(status, "VmSwap:"); err == nil {
		t.Error("a size that is not there was found")
	}
}

func TestCPUTimeIn(t *testing.T) {
	stat := []byte("4711 (a name) with) S 1 2 3 0 -1 4194304 1 0 0 0 150 50 7 8 20 0 9 0 100 200 300")
	got, err := parseCPUTime(stat)
	if err != nil || got != 2*time.Second {
		t.Errorf("%v, %v; want 2s", got, err)
	}
	if _, err := parseCPUTime([]byte("4711 (cut) S 1 2")); err == nil {
		t.Error("processor time was read out of nothing")
	}
}
