package main

import (
	"math"
	"strings"
	"testing"
)

func TestVerdicts(t *testing.T) {
	for _, tt := range []struct {
		goal *goal
		text string
		met  bool
	}{
		{atLeast(0.75, 0.75), "≥ 0.75", true},
		{atLeast(0.749, 0.75), "≥ 0.75", false},
		{atLeast(math.NaN(), 0.75), "≥ 0.75", false},
		{atMost(5, 5, " ms"), "≤ 5 ms", true},
		{atMost(5.01, 5, " ms"), "≤ 5 ms", false},
		{atMost(math.NaN(), 1.5, "×"), "≤ 1.5×", false},
	} {
		if tt.goal.text != tt.text || tt.goal.met != tt.met {
			t.Errorf("%q is met: %t; want %q, %t", tt.goal.text, tt.goal.met, tt.text, tt.met)
		}
	}
}

func TestTable(t *testing.T) {
	var all table
	all.add(row{what: "machine: fsync", figure: "3000/s"})
	all.add(row{id: "P3", what: "sent", callbacks: callbacksOff, figure: "2000/s", detail: "0.80 of it", goal: atLeast(0.8, 0.75)})
	all.add(row{id: "P5", what: "alone", callbacks: callbacksOn, figure: "6.00 ms", goal: atMost(6, 5, " ms")})
	want := strings.TrimPrefix(`
    WHAT            CALLBACKS  FIGURE   GOAL    VERDICT  DETAIL
    machine: fsync             3000/s                    
P3  sent            off        2000/s   ≥ 0.75  met      0.80 of it
P5  alone           on         6.00 ms  ≤ 5 ms  MISSED   

Goals met: 1 of 2. Missed: P5.
`, "\n")
	if got := all.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestTableWithoutAMiss(t *testing.T) {
	var all table
	all.add(row{id: "P3", what: "sent", figure: "1/s", goal: atLeast(1, 1)})
	if got := all.String(); !strings.HasSuffix(got, "\nGoals met: 1 of 1.\n") {
		t.Error(got)
	}
}
