package app_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// physical finds what names a side of the screen; sides finds the shorthands that differ by them,
// whose values value finds.
var (
	physical = regexp.MustCompile(`[;{\s]((?:margin|padding|border)-(?:left|right)[\w-]*|left|right|border-(?:top|bottom)-(?:left|right)-radius)\s*:|` +
		`(?:text-align|float|clear)\s*:\s*(?:left|right)`)
	sides = regexp.MustCompile(`[;{\s](?:margin|padding|inset|border-width|scroll-margin|scroll-padding)\s*:\s*([^;}]+)`)
	value = regexp.MustCompile(`(?:[^\s()]|\([^()]*(?:\([^()]*\)[^()]*)*\))+`)
)

// TestStylesNameNoSideOfTheScreen: in a language that is written from right to left the start of a
// line is on the right. Only background-position has no other words; it is said for both.
func TestStylesNameNoSideOfTheScreen(t *testing.T) {
	found := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".css" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found++

		for i, line := range strings.Split(string(text), "\n") {
			if m := physical.FindString(line); m != "" {
				t.Errorf("%s:%d: %s", path, i+1, m)
			}
			for _, m := range sides.FindAllStringSubmatch(line, -1) {
				if each := value.FindAllString(m[1], -1); len(each) == 4 && each[1] != each[3] {
					t.Errorf("%s:%d: %s", path, i+1, m[0])
				}
			}
		}
		return nil
	})
	if err != nil || found < 10 {
		t.Fatalf("%d style sheets were found: %v", found, err)
	}
}
