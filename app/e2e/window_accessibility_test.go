package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// node is one thing in the accessibility tree: what assistive technology knows of it.
type node struct {
	Role, Name, Description, Value string
	Properties                     map[string]string // focused, checked, expanded, invalid …
	id                             cdp.BackendNodeID
}

// findTimeout is how long something may take to appear on a busy machine.
const findTimeout = stepTimeout / 3

// How long it is waited before the tree is searched again, ever longer: a search keeps the page
// busy that is waited for.
const (
	shortestPause = 20 * time.Millisecond
	longestPause  = 160 * time.Millisecond
)

// String is the role and the name.
func (n node) String() string { return fmt.Sprintf("%s %q", n.Role, n.Name) }

// Tree lists the nodes of the accessibility tree of the page, in the order of the page.
func (b *window) Tree() []node {
	b.t.Helper()
	nodes, err := b.tree()
	if err != nil {
		b.t.Fatal(err)
	}
	return nodes
}

func (b *window) tree() (nodes []node, err error) {
	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()
	full, err := chromedp.Call(ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		return nil, err
	}

	return known(full.Nodes), nil
}

// query lists what has a role. The browser looks for it, because a whole tree is half a
// megabyte of JSON.
func (b *window) query(role string) ([]node, error) {
	return b.queryBy(accessibility.QueryAXTreeParams{Role: role})
}

// queryNamed lists what has a role and a name.
func (b *window) queryNamed(role, name string) ([]node, error) {
	nodes, err := b.queryBy(accessibility.QueryAXTreeParams{Role: role, AccessibleName: name})
	return slices.DeleteFunc(nodes, func(n node) bool { return n.Name != name }), err
}

func (b *window) queryBy(by accessibility.QueryAXTreeParams) ([]node, error) {
	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()
	document, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: "document", ObjectGroup: "query"})
	if err != nil {
		return nil, err
	}
	by.ObjectID = document.Result.ObjectID
	found, err := chromedp.Call(ctx, accessibility.QueryAXTree, by)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(known(found.Nodes), func(n node) bool { return n.Role != by.Role }), nil
}

// known are the nodes that assistive technology knows of.
func known(all []*accessibility.Node) (nodes []node) {
	for _, n := range all {
		if n.Ignored {
			continue
		}
		node := node{Role: text(n.Role), Name: text(n.Name), Description: text(n.Description), Value: text(n.Value), id: n.BackendDOMNodeID}
		node.Properties = make(map[string]string)
		for _, p := range n.Properties {
			node.Properties[string(p.Name)] = text(p.Value)
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// text is a value as text.
func text(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var value any
	if json.Unmarshal(v.Value, &value) != nil || value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// All lists what has a role, by name.
func (b *window) All(role string) (names []string) {
	b.t.Helper()
	nodes, err := b.query(role)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	return names
}

// Find waits until exactly one thing has a role and a name, and returns it.
func (b *window) Find(role, name string) node {
	b.t.Helper()
	deadline := time.Now().Add(findTimeout)

	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		// An error is no failure: between two pages there is no tree.
		found, _ := b.queryNamed(role, name)
		if len(found) == 1 {
			return found[0]
		}
		if time.Now().After(deadline) {
			nodes, _ := b.tree()
			b.t.Fatalf("%d things are %s %q; there are:\n%s\ncomplaints: %q", len(found), role, name, describe(nodes), b.Errors())
		}
		time.Sleep(pause)
	}
}

// Gone waits until nothing has a role and a name.
func (b *window) Gone(role, name string) {
	b.t.Helper()
	deadline := time.Now().Add(findTimeout)
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		found, err := b.queryNamed(role, name)
		if err == nil && len(found) == 0 {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%d things are still %s %q", len(found), role, name)
		}
		time.Sleep(pause)
	}
}

// describe lists what has a name.
func describe(nodes []node) string {
	var lines []string
	for _, n := range nodes {
		if n.Name != "" && n.Role != "StaticText" && n.Role != "InlineTextBox" {
			lines = append(lines, "  "+n.String())
		}
	}
	return strings.Join(lines, "\n")
}

// Focus gives the keyboard to what has a role and a name.
func (b *window) Focus(role, name string) {
	b.t.Helper()
	b.Do(command(dom.Focus, dom.FocusParams{BackendNodeID: b.Find(role, name).id}))
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

// Press presses keys, one after the other.
func (b *window) Press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		b.Do(chromedp.KeyEvent(key))
	}
}
