package rig

import (
	"os"
	"strings"
	"testing"
)

func TestAProcessThatEndedMayBeKilledAndAwaited(t *testing.T) {
	p, err := Program{Path: "sleep"}.Start(os.Stderr, nil, "600")
	if err != nil {
		t.Fatal(err)
	}
	p.Kill()
	p.Kill()
	if err := p.WaitReady("http://127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), "the process ended: signal: killed") {
		t.Error(err)
	}
}
