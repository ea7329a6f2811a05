package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	ast "github.com/tdewolff/parse/v2/js"
)

// What a module says is in its table `text`, or in one whose name ends with Text. The words of
// these tables go to browsers in two files beside the bundles, so that a language can be a
// file of its own, and a word that changes does not change a script:
//
//	[{"a":"Send", …}, {"a":"%#0 of %#1", …}, …]
//
// So do long lists and tables of words, and others of what a module knows without code.
//
// A function that only puts what it is given into a text, as it is or by count, is a text with
// holes. Other functions stay where they are. The names of texts get short where all who use
// them say so by name: text.send is text.a then.
const (
	firstTexts = "console.json"
	laterTexts = "screens.json"
	textsTable = "T$" // the file in its bundle
	sentences  = "S$" // makes functions of the texts with holes in all tables
	leastData  = 24   // bytes of a list that is worth to be taken out
)

// sentencesCode is the code of sentences, which needs count.
const sentencesCode = "const " + sentences + `=a=>a.map(t=>{for(const k in t){const s=t[k];/%%#?\d/.test(s)&&` +
	`(t[k]=(...p)=>s.replace(/%%(#?)(\d)/g,(_,n,i)=>n?%s(p[i]):p[i]))}return t});` + "\n"

// countModule has the function that writes a number for people.
const countModule = "format.js"

var hole = regexp.MustCompile(`%#?\d`)

// takeTexts takes the words out of the tables of a module, whose names are still its own. A table
// of words alone is declared with all others of the bundle; of one with code too, the code stays,
// with a reference to the words: the tables of the module begin at some place of the file.
func (b *bundler) takeTexts(tree *ast.AST, module string, first int) {
	m := b.modules[module]
	for at, statement := range tree.List {
		declaration, ok := statement.(*ast.VarDecl)
		if !ok || declaration.TokenType != ast.ConstToken || len(declaration.List) != 1 {
			continue
		}
		one := &declaration.List[0]
		name, isName := one.Binding.(*ast.Var)
		table, isTable := one.Default.(*ast.ObjectExpr)
		if !isName {
			continue
		}

		words, rest := plainData(one.Default), []ast.Property(nil)
		if isTable && (string(name.Data) == "text" || strings.HasSuffix(string(name.Data), "Text")) {
			if _, exported := m.exports[string(name.Data)]; !exported {
				shortNames(tree, name, table)
			}
			words, rest = b.splitTable(module, table)
		} else if len(words) <= leastData {
			words = ""
		}
		if words == "" {
			continue
		}

		if rest == nil {
			tree.List[at] = &ast.EmptyStmt{}
			m.tables = append(m.tables, b.variable(module, string(name.Data)))
		} else {
			said := reference(fmt.Sprintf("%s[%d]", textsTable, first+len(m.texts)))
			one.Default = &ast.ObjectExpr{List: append([]ast.Property{{Spread: true, Value: said}}, rest...)}
			m.tables = append(m.tables, "")
		}
		m.texts = append(m.texts, words)
	}
}

// splitTable takes the words out of a table, and returns them and what is left: "" if there are
// none.
func (b *bundler) splitTable(module string, table *ast.ObjectExpr) (words string, rest []ast.Property) {
	var plain []string
	for _, entry := range table.List {
		var w bytes.Buffer
		if entry.JSON(&w) == nil && json.Valid([]byte("{"+w.String()+"}")) {
			if hole.Match(w.Bytes()) {
				panic("console: " + module + " says " + w.String() + ", which is taken for a text with holes")
			}
			plain = append(plain, w.String())
		} else if text := withHoles(entry); text != "" {
			b.saying(module)
			plain = append(plain, text)
		} else {
			rest = append(rest, entry)
		}
	}
	if len(plain) == 0 {
		return "", nil
	}

	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte("{"+strings.Join(plain, ",")+"}")); err != nil {
		panic("console: the texts of " + module + ": " + err.Error())
	}
	return compact.String(), rest
}

// reference is an expression that stands for what was taken.
func reference(to string) ast.IExpr {
	return &ast.LiteralExpr{TokenType: ast.IdentifierToken, Data: []byte(to)}
}

// plainData is a list or a text without code, as JSON: else "".
func plainData(expression ast.IExpr) string {
	var w, compact bytes.Buffer
	data, ok := expression.(ast.JSONer)
	if !ok || data.JSON(&w) != nil || json.Compact(&compact, w.Bytes()) != nil || hole.Match(w.Bytes()) {
		return ""
	}
	return compact.String()
}

// saying notes that a module has texts with holes.
func (b *bundler) saying(module string) {
	b.modules[module].says, b.says = true, true
	b.pass(module, b.order[0], sentences)
}

// withHoles is a member of a table as a text with holes, if it is a function that can be one:
// else "".
func withHoles(entry ast.Property) string {
	function, ok := entry.Value.(*ast.ArrowFunc)
	if !ok || entry.Name == nil || entry.Name.Computed != nil || function.Params.Rest != nil || len(function.Body.List) != 1 {
		return ""
	}
	given := make(map[string]int)
	for i, parameter := range function.Params.List {
		name, isName := parameter.Binding.(*ast.Var)
		if !isName || parameter.Default != nil {
			return ""
		}
		given[string(name.Data)] = i
	}
	answer, ok := function.Body.List[0].(*ast.ReturnStmt)
	if !ok {
		return ""
	}

	text, ok := filled(answer.Value, given)
	if !ok || !hole.MatchString(text) {
		return ""
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text can always be quoted
	}
	return fmt.Sprintf("%q:%s", entry.Name.Literal.Data, quoted)
}

// filled is the text with holes for what an expression makes of what a function is given.
func filled(expression ast.IExpr, given map[string]int) (text string, ok bool) {
	switch e := expression.(type) {
	case *ast.GroupExpr:
		return filled(e.X, given)
	case *ast.LiteralExpr:
		return plainText(e)
	case ast.LiteralExpr:
		return plainText(&e)
	case *ast.Var:
		i, ok := given[string(e.Name())]
		return fmt.Sprintf("%%%d", i), ok

	case *ast.BinaryExpr:
		x, xOK := filled(e.X, given)
		y, yOK := filled(e.Y, given)
		text := e.Op == ast.AddToken && !(hole.MatchString(x) && hole.MatchString(y)) // which could be a sum
		return x + y, xOK && yOK && text
	case *ast.CallExpr:
		name, isName := e.X.(*ast.Var)
		if !isName || string(name.Name()) != "count" || len(e.Args.List) != 1 {
			return "", false
		}
		i, ok := given[e.Args.List[0].String()]
		return fmt.Sprintf("%%#%d", i), ok

	case *ast.TemplateExpr:
		for _, part := range e.List {
			value, ok := filled(part.Expr, given)
			if !ok {
				return "", false
			}
			text += strings.TrimSuffix(string(part.Value[1:]), "${") + value // after ` or }
		}
		text += strings.TrimSuffix(string(e.Tail[1:]), "`")
		return text, e.Tag == nil && !strings.Contains(text, `\`)
	}
	return "", false
}

// plainText is a text as it is written in a module.
func plainText(literal *ast.LiteralExpr) (text string, ok bool) {
	var w bytes.Buffer
	if literal.TokenType != ast.StringToken || literal.JSON(&w) != nil {
		return "", false
	}
	return text, json.Unmarshal(w.Bytes(), &text) == nil
}

// shortNames gives the members of a table names of a letter, if all that use it name one; and so
// on with the tables in it.
func shortNames(tree *ast.AST, name *ast.Var, table *ast.ObjectExpr) {
	uses := &tableUses{table: name, inside: make(map[*ast.DotExpr]*ast.DotExpr)}
	ast.Walk(uses, tree)
	if int(name.Uses) == len(uses.named)+1 { // with its own declaration
		uses.shorten(table, uses.named)
	}
}

// shorten gives the members of a table short names, where it is used too.
func (u *tableUses) shorten(table *ast.ObjectExpr, named []*ast.DotExpr) {
	short := make(map[string][]byte)
	for i, entry := range table.List {
		if entry.Name == nil || entry.Name.Computed != nil {
			return
		}
		short[string(entry.Name.Literal.Data)] = letters(i)
	}
	users := make(map[string][]*ast.DotExpr)
	for _, use := range named {
		member := use.Y.(ast.LiteralExpr)
		if short[string(member.Data)] == nil {
			panic("console: there is no text " + string(member.Data))
		}
		users[string(member.Data)] = append(users[string(member.Data)], use)
		member.Data = short[string(member.Data)]
		use.Y = member
	}

	for _, entry := range table.List {
		literal := &entry.Name.Literal
		if inner, ok := entry.Value.(*ast.ObjectExpr); ok {
			u.shortenInner(inner, users[string(literal.Data)])
		}
		literal.Data = short[string(literal.Data)]
		literal.TokenType = ast.IdentifierToken
	}
}

// shortenInner does so with a table inside another, where that is used.
func (u *tableUses) shortenInner(table *ast.ObjectExpr, users []*ast.DotExpr) {
	var named []*ast.DotExpr
	for _, use := range users {
		if u.inside[use] == nil {
			return
		}
		named = append(named, u.inside[use])
	}
	u.shorten(table, named)
}

// letters is a short name: a to z, A to Z, then aa, ba and so on.
func letters(i int) []byte {
	const all = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	name := []byte{all[i%len(all)]}
	for i /= len(all); i > 0; i /= len(all) {
		name = append(name, all[(i-1)%len(all)])
	}
	return name
}

// tableUses finds where a member of a table is named, and a member of that.
type tableUses struct {
	table  *ast.Var
	named  []*ast.DotExpr
	inside map[*ast.DotExpr]*ast.DotExpr
}

func (u *tableUses) Enter(node ast.INode) ast.IVisitor {
	dot, ok := node.(*ast.DotExpr)
	if !ok {
		return u
	}
	if _, isName := dot.Y.(ast.LiteralExpr); !isName {
		return u
	}

	switch of := dot.X.(type) {
	case *ast.Var:
		for of.Link != nil {
			of = of.Link
		}
		if of == u.table {
			u.named = append(u.named, dot)
		}
	case *ast.DotExpr:
		u.inside[of] = dot
	}
	return u
}

func (*tableUses) Exit(ast.INode) {}

// texts is the file of the texts of some modules.
func (b *bundler) texts(modules []string) []byte {
	var tables []string
	for _, name := range modules {
		tables = append(tables, b.modules[name].texts...)
	}
	return []byte("[" + strings.Join(tables, ",") + "]")
}

// tables declares the tables of the texts of some modules.
func (b *bundler) tables(modules []string) string {
	var names []string
	said := textsTable
	for _, name := range modules {
		names = append(names, b.modules[name].tables...)
		if b.modules[name].says {
			said = sentences + "(" + textsTable + ")"
		}
	}
	return fmt.Sprintf("let[%s]=%s;\n", strings.Join(names, ","), said)
}

// withTexts lets a bundle begin with the loading of its texts.
func withTexts(script []byte, served string) []byte {
	return append(fmt.Appendf(nil, `import %s from"./%s"with{type:"json"};`, textsTable, served), script...)
}
