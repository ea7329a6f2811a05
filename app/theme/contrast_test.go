package theme_test

import (
	"math"
	"regexp"
	"strconv"
	"testing"

	"confab/app/theme"
)

// token finds a colour of the style sheet with its values for light and dark.
var token = regexp.MustCompile(`--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`)

// colours reads the tokens: by theme and name.
func colours(t *testing.T) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{"light": {}, "dark": {}}
	for _, found := range token.FindAllSubmatch(theme.Tokens, -1) {
		all["light"][string(found[1])], all["dark"][string(found[1])] = string(found[2]), string(found[3])
	}
	return all
}

// luminance is the relative luminance of a colour, as WCAG 2.2 defines it.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(colour[1:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(shift int) float64 {
		c := float64(n>>shift&255) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

const (
	forText  = 4.5 // WCAG 2.2, 1.4.3
	forParts = 3.0 // 1.4.11: edges of controls, marks, focus
)

// pairs are the colours that are on each other, with the contrast that they need.
func pairs() (all []struct {
	front, back string
	least       float64
}) {
	add := func(least float64, front string, backs ...string) {
		for _, back := range backs {
			all = append(all, struct {
				front, back string
				least       float64
			}{front, back, least})
		}
	}

	for _, text := range []string{"ink", "ink-2", "ink-3"} {
		add(forText, text, "ground", "surface", "raised", "sunken", "hover", "accent-soft")
	}
	add(forText, "ink", "bubble-in", "bubble-out", "note", "thread", "bad-soft")
	add(forText, "ink-2", "bubble-in", "bubble-out", "note", "thread")
	add(forText, "accent-text", "ground", "surface", "raised", "hover", "accent-soft", "bubble-in", "bubble-out", "note")
	add(forText, "accent-ink", "accent", "accent-strong")
	add(forText, "bad-ink", "bad-strong")
	for _, state := range []string{"good", "warn", "bad", "calm"} {
		add(forText, state, state+"-soft", "surface", "raised", "ground")
	}
	add(forText, "read", "bubble-in", "surface")
	add(forParts, "edge", "surface", "raised", "ground")
	add(forParts, "focus", "ground", "surface", "raised", "hover", "accent-soft", "thread")
	add(forParts, "accent", "surface", "raised", "ground")
	add(forParts, "read", "bubble-out")

	for n := 1; n <= 5; n++ {
		face := "face-" + strconv.Itoa(n)
		add(forText, face+"-ink", face)
	}
	for _, label := range []string{"gray", "red", "orange", "amber", "yellow", "lime", "green", "emerald", "teal", "sky", "blue", "violet", "pink"} {
		add(forParts, "label-"+label, "surface", "raised", "ground")
	}
	return all
}

func TestColoursHaveTheContrastThatPeopleNeed(t *testing.T) {
	for name, of := range colours(t) {
		for _, p := range pairs() {
			front, back := of[p.front], of[p.back]
			if front == "" || back == "" {
				t.Fatalf("there is no colour %s or %s", p.front, p.back)
			}
			if got := contrast(t, front, back); got < p.least {
				t.Errorf("%s: %s on %s has %.2f, and needs %.1f", name, p.front, p.back, got, p.least)
			}
		}
	}
}

func TestContrastIsComputedAsTheStandardSays(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{{"#000000", "#ffffff", 21}, {"#777777", "#ffffff", 4.48}, {"#ffffff", "#ffffff", 1}} {
		if got := contrast(t, c.a, c.b); math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s on %s: %.2f, want %.2f", c.a, c.b, got, c.want)
		}
	}
}
