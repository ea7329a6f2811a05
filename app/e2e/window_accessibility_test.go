package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// node is one thing in the accessibility tree: what assistive technology knows of it.
type node struct {
	Role, Name, Description, Value string
	Properties                     map[string]string // focused, checked, expanded, invalid …
	id                             cdp.BackendNodeID
}

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

// query lists what has a role, and a name unless none is given. The browser looks for it, because a
// whole tree is half a megabyte of JSON.
func (b *window) query(role, name string) ([]node, error) {
	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()
	document, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: "document", ObjectGroup: "query"})
	if err != nil {
		return nil, err
	}
	found, err := chromedp.Call(ctx, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{
		ObjectID: document.Result.ObjectID, Role: role, AccessibleName: name,
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(known(found.Nodes), func(n node) bool { return n.Role != role }), nil
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
	nodes, err := b.query(role, "")
	if err != nil {
		b.t.Fatal(err)
	}
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	return names
}

// Describe waits until exactly one thing has a role and a name, and returns what assistive technology
// knows of it.
func (b *window) Describe(role, name string) node {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()

	known, err := b.describe(ctx, b.Find(role, name))
	if err != nil {
		b.t.Fatalf("%s %q: %v", role, name, err)
	}
	if known.Role != role || known.Name != name {
		b.t.Fatalf("what was found as %s %q is %s", role, name, known)
	}
	return known
}

func (b *window) describe(ctx context.Context, e element) (node, error) {
	found, err := chromedp.Call(ctx, accessibility.GetPartialAXTree, accessibility.GetPartialAXTreeParams{ObjectID: e, FetchRelatives: new(false)})
	if err != nil {
		return node{}, err
	}
	nodes := known(found.Nodes)
	if len(nodes) == 0 {
		return node{}, errors.New("assistive technology does not know of it")
	}
	return nodes[0], nil
}

// namesOf lists what has a name.
func namesOf(nodes []node) string {
	var lines []string
	for _, n := range nodes {
		if n.Name != "" && n.Role != "StaticText" && n.Role != "InlineTextBox" {
			lines = append(lines, "  "+n.String())
		}
	}
	return strings.Join(lines, "\n")
}
