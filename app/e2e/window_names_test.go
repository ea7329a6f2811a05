package e2e

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

//go:embed testdata/names.js
var namesJS string

// element is a thing on a page.
type element = runtime.RemoteObjectID

// findTimeout is how long something may take to appear on a busy machine.
const findTimeout = stepTimeout / 3

// How long it is waited before a page is searched again, ever longer: a search keeps the page
// busy that is waited for.
const (
	shortestPause = 20 * time.Millisecond
	longestPause  = 160 * time.Millisecond
)

// search counts what has a role and a name, and returns it if it is the only one. What names.js does
// not know of is asked of the browser.
func (b *window) search(role, name string) (count int, only element, err error) {
	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()
	expression := fmt.Sprintf("(names => names.knows(%[1]s) ? names.only(%[1]s, %[2]s) : -1)(%[3]s)", quoted(role), quoted(name), namesJS)
	answer, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: expression, ObjectGroup: "query"})
	if err != nil {
		return 0, "", err
	}
	if answer.Result.ObjectID != "" {
		return 1, answer.Result.ObjectID, nil
	}
	if err := json.Unmarshal(answer.Result.Value, &count); err != nil || count >= 0 {
		return count, "", err
	}

	nodes, err := b.query(role, name)
	nodes = slices.DeleteFunc(nodes, func(n node) bool { return n.Name != name })
	if err != nil || len(nodes) != 1 {
		return len(nodes), "", err
	}
	object, err := chromedp.Call(ctx, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: nodes[0].id, ObjectGroup: "query"})
	if err != nil {
		return 0, "", err
	}
	return 1, object.Object.ObjectID, nil
}

// Find waits until exactly one thing has a role and a name, and returns it.
func (b *window) Find(role, name string) element {
	b.t.Helper()
	deadline := time.Now().Add(findTimeout)
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		// An error is no failure: between two pages there is nothing.
		count, only, err := b.search(role, name)
		if err == nil && count == 1 {
			return only
		}
		if time.Now().After(deadline) {
			nodes, _ := b.tree()
			b.t.Fatalf("%d things are %s %q (%v); there are:\n%s\ncomplaints: %q", count, role, name, err, namesOf(nodes), b.Errors())
		}
		time.Sleep(pause)
	}
}

// Gone waits until nothing has a role and a name.
func (b *window) Gone(role, name string) {
	b.t.Helper()
	deadline := time.Now().Add(findTimeout)
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		count, _, err := b.search(role, name)
		if err == nil && count == 0 {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%d things are still %s %q (%v)", count, role, name, err)
		}
		time.Sleep(pause)
	}
}

// namesAgree waits until names.js finds on the page what assistive technology knows.
func (b *window) namesAgree() {
	b.t.Helper()
	roles := eval[[]string](b, namesJS+".roles")

	deadline := time.Now().Add(findTimeout)
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		var theirs []string
		for _, n := range b.Tree() {
			if slices.Contains(roles, n.Role) {
				theirs = append(theirs, n.Role+` "`+n.Name+`"`)
			}
		}
		theirs = slices.DeleteFunc(theirs, func(one string) bool { return one == `group ""` })
		ours := eval[[]string](b, namesJS+".list()")
		slices.Sort(ours)
		slices.Sort(theirs)
		if slices.Equal(ours, theirs) {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("names.js finds\n%s\nand the browser\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
		}
		time.Sleep(pause)
	}
}

// Focus gives the keyboard to what has a role and a name, once it can have it: what was found may
// have been replaced meanwhile.
func (b *window) Focus(role, name string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, findTimeout)
	defer cancel()
	for {
		_, err := chromedp.Call(ctx, dom.Focus, dom.FocusParams{ObjectID: b.Find(role, name)})
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			b.t.Fatalf("%s %q: %v", role, name, err)
		}
		time.Sleep(shortestPause)
	}
}

// Fill replaces the text in a field.
func (b *window) Fill(role, name, value string) {
	b.t.Helper()
	b.Focus(role, name)
	b.Do(
		chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)),
		chromedp.KeyEvent(kb.Backspace),
		command(input.InsertText, input.InsertTextParams{Text: value}),
	)
}

// Type types into the field that a selector finds.
func (b *window) Type(selector, text string) {
	b.t.Helper()
	b.WaitFor(fmt.Sprintf(`(field => (field?.focus(), field !== null && field === document.activeElement))(document.querySelector(%q))`, selector))
	b.Press(text)
}

// Upload chooses a file in the field that a selector finds.
func (b *window) Upload(selector, path string) {
	b.t.Helper()
	b.WaitFor(fmt.Sprintf(`document.querySelector(%q) !== null`, selector))

	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()
	field, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: fmt.Sprintf(`document.querySelector(%q)`, selector)})
	if err != nil {
		b.t.Fatal(err)
	}
	b.Do(command(dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{path}, ObjectID: field.Result.ObjectID}))
}

// Press presses keys, one after the other.
func (b *window) Press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		b.Do(chromedp.KeyEvent(key))
	}
}
