package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/matryer/is"
)

// gallery is the page that shows every part of the console.
type gallery struct {
	*window
	t  *testing.T
	is *is.I
}

func openGallery(t *testing.T) *gallery {
	t.Helper()
	parallelBrowser(t)
	g := &gallery{openWindow(t), t, is.New(t)}
	// The parts are tried while they move. Screens, which are made of them, are not.
	g.Do(chromedp.EmulateViewport(1280, 800), g.Prefers("prefers-reduced-motion", "no-preference"))
	g.Visit(serveModules(t) + "gallery.html")
	g.Find("heading", "Parts")
	return g
}

// shoot takes pictures at two widths, in light and dark.
func (g *gallery) shoot(name string, height int64) {
	g.t.Helper()
	if *screenshots == "" {
		return
	}
	g.is.NoErr(os.MkdirAll(*screenshots, 0o755))
	for _, size := range []struct {
		name          string
		width, height int64
	}{{"360", 360, height * 3 / 2}, {"1280", 1280, height}} {
		for _, scheme := range []string{"light", "dark"} {
			g.Do(chromedp.EmulateViewport(size.width, size.height), g.Prefers("prefers-color-scheme", scheme, "prefers-reduced-motion", "reduce"))
			g.is.NoErr(os.WriteFile(filepath.Join(*screenshots, name+"-"+size.name+"-"+scheme+".png"), g.Screenshot(), 0o644))
		}
	}
	g.Do(chromedp.EmulateViewport(1280, 800), g.Prefers("prefers-color-scheme", "light", "prefers-reduced-motion", "no-preference"))
}

// focused is what has the keyboard.
func (g *gallery) focused() string {
	g.t.Helper()
	return eval[string](g.window, `document.activeElement.textContent.trim() || document.activeElement.name || document.activeElement.tagName`)
}

// TestThePartsOfTheConsole tries them one after the other on the one page that has all of them,
// and leaves each as it was.
func TestThePartsOfTheConsole(t *testing.T) {
	g := openGallery(t)
	partsAreNamedAndLookedAt(g)
	nothingMovesForWhoWantsNoMotion(g)
	aDialogKeepsAndReturnsTheFocus(g)
	aFormSaysWhatIsWrongAtTheField(g)
	tablesSortAndStayTablesOnASmallScreen(g)
	theConnectionBarAndToastsAreReadOut(g)
	whatIsCopiedIsCopiedOrSelected(g)
	aMenuIsUsedWithoutAMouse(g)
	g.is.Equal(g.Errors(), nil)
}

func partsAreNamedAndLookedAt(g *gallery) {
	g.WaitFor(`document.querySelector(".skeleton-row") !== null`) // after a moment
	g.shoot("parts", 2300)

	for _, want := range [][2]string{
		{"button", "Search"}, {"button", "Copy webhook id"}, {"button", "Copy command"}, {"table", "Deliveries"},
		{"columnheader", "Event"}, {"columnheader", "Replay"}, {"cell", "message.sent"}, {"button", "Replay"},
		{"textbox", "Name"}, {"combobox", "Team"}, {"group", "Role"}, {"radio", "Agent"}, {"radio", "teal"},
		{"status", "Loading"}, {"heading", "No keys yet"}, {"heading", "Couldn’t load this"}, {"heading", "Not found"}, {"button", "Copy message id"},
	} {
		g.Find(want[0], want[1])
	}
	g.namesAgree()
	for _, one := range eval[[]string](g.window, namesJS+".list()") {
		if role, isNameless := strings.CutSuffix(one, ` ""`); isNameless {
			g.t.Errorf("a %s has no name", role)
		}
	}
}

func aMenuIsUsedWithoutAMouse(g *gallery) {
	g.Focus("button", "More")
	g.Press(kb.Enter)
	g.Find("menu", "More")
	g.is.Equal(g.focused(), "Open the inbox")
	g.is.Equal(g.Describe("button", "More").Properties["expanded"], "true")
	g.shoot("menu", 800)
	g.Press(kb.ArrowDown)
	g.is.Equal(g.focused(), "CopyC")
	g.Press(kb.End)
	g.is.Equal(g.focused(), "Leave")
	g.Press(kb.ArrowDown)
	g.is.Equal(g.focused(), "Open the inbox") // round
	g.Press("d")
	g.is.Equal(g.focused(), "Dark")
	g.Press(kb.Escape)
	g.Gone("menu", "More")
	g.is.Equal(g.focused(), "More") // back where it was

	g.Press(kb.ArrowUp)
	g.Find("menuitemradio", "Dark")
	g.is.Equal(g.focused(), "Leave")
	g.Press("d", kb.Enter)
	g.Gone("menu", "More")
	g.WaitFor(`document.documentElement.dataset.theme === "dark"`)
	g.Press(kb.Enter)
	g.is.Equal(g.Describe("menuitemradio", "Dark").Properties["checked"], "true")
	g.Click("button", "More") // the mouse closes it
	g.Gone("menu", "More")
}

func aDialogKeepsAndReturnsTheFocus(g *gallery) {
	g.Focus("button", "Open dialog")
	g.Press(kb.Enter)
	g.Find("dialog", "New label")
	g.is.Equal(g.focused(), "name")
	g.shoot("dialog", 800)
	for range 30 { // there is no way out by Tab
		g.Press(kb.Tab)
	}
	g.is.True(eval[bool](g.window, `document.activeElement.closest("dialog") !== null || document.activeElement === document.body`))
	g.Press(kb.Escape)
	g.Gone("dialog", "New label")
	g.is.Equal(g.focused(), "Open dialog")

	g.Click("button", "Delete…")
	g.Find("dialog", "Delete Ana Ruiz?")
	g.shoot("confirm", 800)
	g.Press("Ana", kb.Enter) // not the whole word
	g.is.Equal(g.Describe("button", "Delete contact").Properties["disabled"], "true")
	g.Fill("textbox", "Type “Ana Ruiz” to confirm", "Ana Ruiz")
	g.Press(kb.Enter)
	g.Gone("dialog", "Delete Ana Ruiz?")
	g.Find("button", "Dismiss")

	g.Click("button", "Fail…")
	g.is.Equal(g.focused(), "Cancel") // the safe one
	g.Click("button", "Fail")
	g.WaitFor(`document.querySelector("dialog [role=alert]") !== null`) // it stays, with the reason
	g.Find("dialog", "Fail?")
	g.Press(kb.Escape)
	g.Gone("dialog", "Fail?")
}

func aFormSaysWhatIsWrongAtTheField(g *gallery) {
	g.Fill("textbox", "Name", "taken")
	g.Press(kb.Enter)
	g.Find("StaticText", "Name is taken by another label.")
	field := g.Describe("textbox", "Name")
	g.is.Equal(field.Properties["invalid"], "true")
	g.is.Equal(field.Description, "What it is called everywhere. Name is taken by another label.")
	g.is.Equal(g.focused(), "name")
	g.shoot("form-wrong", 1400)

	g.Fill("textbox", "Name", "")
	g.Press(kb.Enter)
	g.Find("StaticText", "This field is required.")
	g.Fill("textbox", "Name", "broken")
	g.Press(kb.Enter)
	g.WaitFor(`document.querySelectorAll("form .problem code").length === 1`) // with the id of the request
	g.Fill("textbox", "Name", "fine")
	g.Press(kb.Enter)
	g.WaitFor(`[...document.querySelectorAll(".toast")].some(t => t.textContent.includes("Saved"))`)
	g.is.Equal(g.Describe("textbox", "Name").Properties["invalid"], "false")
}

func tablesSortAndStayTablesOnASmallScreen(g *gallery) {
	first := `document.querySelector("tbody tr td").textContent`
	g.is.Equal(eval[string](g.window, first), "message.received")
	g.Click("button", "Tries")
	g.Click("button", "Tries")
	g.WaitFor(first + ` === "message.sent"`)
	g.Click("button", "Event")
	g.WaitFor(first + ` === "message.received"`)
	g.is.Equal(eval[string](g.window, `[...document.querySelectorAll("th")].map(t => t.ariaSort).join()`), "ascending,,,none,,")

	g.Do(chromedp.EmulateViewport(320, 700))
	g.Find("table", "Deliveries")
	g.is.Equal(len(g.All("row")), 4)
	g.is.Equal(len(g.All("cell")), 16)                       // but for those with nothing in them
	g.WaitFor(`document.documentElement.scrollWidth <= 320`) // nothing sticks out
	g.Do(chromedp.EmulateViewport(1280, 800))
}

func theConnectionBarAndToastsAreReadOut(g *gallery) {
	g.Click("button", "Lose the connection")
	g.Find("button", "Try now")
	g.Click("button", "Toast")
	g.Click("button", "Error toast")
	g.Find("button", "Undo")
	g.shoot("notices", 800)
	g.Click("button", "Undo")
	g.WaitFor(`[...document.querySelectorAll(".toast")].some(t => t.textContent.includes("Undone"))`)
	g.WaitFor(`document.querySelector(".toast[role=alert]").textContent.includes("Something went wrong on our side.req_")`)
	g.Click("button", "Lose the connection")
	g.Gone("button", "Try now")
}

func whatIsCopiedIsCopiedOrSelected(g *gallery) {
	// A toast goes away by itself, perhaps before a slow machine has looked for it.
	eval[any](g.window, `void (window.said = new Set(), new MutationObserver(() =>
		document.querySelectorAll(".copyable").forEach(one => said.add(one.querySelector("code").textContent + ": " + one.querySelector(".copied").textContent)))
		.observe(document.body, { subtree: true, childList: true, characterData: true }))`)
	g.Click("button", "Copy message id")
	g.WaitFor(`[...said].some(one => one.startsWith("msg_") && (one.endsWith(": Copied") || one.endsWith(": Press Ctrl-C to copy")))`)
	// A browser without a clipboard, as over plain http, selects it.
	eval[any](g.window, `void Object.defineProperty(navigator, "clipboard", { value: undefined })`)
	g.Click("button", "Copy webhook id")
	g.WaitFor(`getSelection().toString() === "wbs_01M7FEPZ3W8QAQ5T"`)
	g.WaitFor(`said.has("wbs_01M7FEPZ3W8QAQ5T: Press Ctrl-C to copy")`)
}

func nothingMovesForWhoWantsNoMotion(g *gallery) {
	g.WaitFor(`document.querySelector(".skeleton-row") !== null`)
	g.WaitFor(`document.getAnimations().length > 0`)
	g.Do(g.Prefers("prefers-reduced-motion", "reduce"))
	g.WaitFor(`document.getAnimations().length === 0`)
	g.Click("button", "Open dialog")
	g.Find("dialog", "New label")
	g.is.Equal(eval[float64](g.window, `document.getAnimations().length`), 0.0)
	g.Press(kb.Escape)
	g.Gone("dialog", "New label")
	g.Do(g.Prefers("prefers-reduced-motion", "no-preference"))
}
