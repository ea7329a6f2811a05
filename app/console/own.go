package console

import (
	"bytes"

	ast "github.com/tdewolff/parse/v2/js"
)

// ownNames are properties that only the console's modules have, of objects that never leave them:
// neither the browser's nor the API's, never stored, never asked for by a computed name
// (bundle_test.go). They get short names, from the first on, the most used first.
var ownNames = []string{
	"run", "cell", "icon", "columns", "lead", "look", "hint", "props", "peek", "actions", "filters", "update",
	"unseen", "iconOnly", "beside", "deed", "wide", "idempotencyKey", "crumb", "requestID", "parts", "sources",
	"personName", "byProviderID", "endsNow", "isUnread", "heldUnread", "hasOlder", "showOlder", "showNewer", "showEnd",
	"toNewest", "toNew", "mount",
	"optional", "busy", "merge", "choose", "draft", "kept", "warns", "react", "newest", "replyTo", "shown",
	"setScrolled", "fresh", "column", "refuse", "records", "silent", "store", "samples", "begin", "owner",
	"reader", "openQuickReplies", "openEmoji", "openSendLater", "openJump", "openShortcuts", "pickTemplate",
	"insert", "setText", "picker", "together", "cells", "said", "finish", "shows", "blank",
}

// shortProperties gives them such.
type shortProperties map[string][]byte

func newShortProperties() shortProperties {
	short := make(shortProperties)
	for i, name := range ownNames {
		short[name] = []byte(shortName(nameLetters, i))
	}
	return short
}

// of is the name that a property gets.
func (s shortProperties) of(name string) string {
	if short := s[name]; short != nil {
		return string(short)
	}
	return name
}

func (s shortProperties) Enter(node ast.INode) ast.IVisitor {
	switch n := node.(type) {
	case *ast.DotExpr:
		if member, ok := n.Y.(ast.LiteralExpr); ok && s[string(member.Data)] != nil {
			member.Data = s[string(member.Data)]
			n.Y = member
		}
	case *ast.PropertyName:
		s.shorten(n)
	case *ast.ClassElementName: // of methods too
		s.shorten(&n.PropertyName)
	}
	return s
}

func (s shortProperties) shorten(name *ast.PropertyName) {
	if short := s[string(name.Literal.Data)]; short != nil && name.Computed == nil {
		name.Literal.Data = bytes.Clone(short)
	}
}

func (shortProperties) Exit(ast.INode) {}
