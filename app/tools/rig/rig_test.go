package rig

import (
	"os"
	"strings"
	"testing"
)

func TestAProcessThatEndedMayBeKilledAndAwaited(t *testing.T) {
	p := Program{Path: "sleep"}.Start(os.Stderr, "600")
	p.Kill()
	p.Kill()
	err := Catch(func() { p.WaitReady("http://127.0.0.1:1") })
	if err == nil || !strings.Contains(err.Error(), "the process ended: signal: killed") {
		t.Error(err)
	}
}
