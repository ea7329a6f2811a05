package main

import (
	"math"
	"regexp"
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
	var text strings.Builder
	all := table{out: &text}
	all.print("", "WHAT", "CALLBACKS", "FIGURE", "GOAL", "VERDICT", "DETAIL")
	all.add("", "pages", "3000/s", nil, "")
	all.callbacks = "off"
	all.add("P3", "sent", "2000/s", atLeast(0.8, 0.75), "0.80 of it")
	all.callbacks = "on"
	all.add("P5", "alone", "6.00 ms", atMost(6, 5, " ms"), "")
	all.end()
	got := regexp.MustCompile(`  +`).ReplaceAllString(text.String(), "|")
	want := strings.TrimPrefix(`
|WHAT|CALLBACKS|FIGURE|GOAL|VERDICT|DETAIL
|pages|3000/s
P3|sent|off|2000/s|≥ 0.75|met|0.80 of it
P5|alone|on|6.00 ms|≤ 5 ms|MISSED

Goals met: 1 of 2. Missed: P5.
`, "\n")
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
