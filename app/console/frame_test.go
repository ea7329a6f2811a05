package console

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestTheGuidesOfScreensExist follows the links to the files and the headings in them.
func TestTheGuidesOfScreensExist(t *testing.T) {
	for screen, guide := range guides {
		name, anchor, _ := strings.Cut(path.Base(guide), "#")
		text, err := os.ReadFile("../pages/guides/" + name + ".md")
		heading := regexp.MustCompile(`(?mi)^## ` + strings.ReplaceAll(anchor, "-", "[ -]"))
		if err != nil || !heading.Match(text) {
			t.Errorf("%s: %s leads nowhere (%v)", screen, guide, err)
		}
		if screenTitle(screen) == "" {
			t.Errorf("there is no screen %s", screen)
		}
	}
}
