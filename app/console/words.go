package console

import (
	"fmt"
	"strings"

	ast "github.com/tdewolff/parse/v2/js"
)

// Modules share wide tables of words, because many have few words, and each table needs a name too.
// Tables inside tables are made flat:
//
//	text.send + text.columns.name
//	text$1000.a + text$1000.b
//
// What is code stays in the table of its module.
type words struct {
	first int        // the number of the first table
	all   [][]string // the words of each, as JSON
}

const (
	fullTable  = 30   // words, because the first letters are compressed best
	firstWords = 1000 // no module has so high a number
	laterWords = 2000
)

// wordsOf are the words of the bundle of a module.
func (b *bundler) wordsOf(module string) *words {
	if b.number(module) < b.firsts {
		return &b.firstWords
	}
	return &b.laterWords
}

// room is the first table that has place for some words.
func (w *words) room(n int) int {
	for i, table := range w.all {
		if len(table)+n <= fullTable {
			return i
		}
	}
	w.all = append(w.all, nil)
	return len(w.all) - 1
}

// add adds a word to a table, and returns the name that it got.
func (w *words) add(table int, word string) (name string) {
	w.all[table] = append(w.all[table], word)
	return shortName(nameLetters, len(w.all[table])-1)
}

// table is the name of a table.
func (w *words) table(i int) string { return fmt.Sprintf("text$%d", w.first+i) }

// names are those of all tables, which hold what tables returns.
func (w *words) names() (names []string) {
	for i := range w.all {
		names = append(names, w.table(i))
	}
	return names
}

func (w *words) tables() (tables []string) {
	for _, table := range w.all {
		var members []string
		for i, word := range table {
			members = append(members, fmt.Sprintf("%q:%s", shortName(nameLetters, i), word))
		}
		tables = append(tables, "{"+strings.Join(members, ",")+"}")
	}
	return tables
}

// takeWords takes the words out of a table, if all who use it name what they want of it. What is
// code stays.
func (b *bundler) takeWords(tree *ast.AST, module string, name *ast.Var, table *ast.ObjectExpr) bool {
	uses := &tableUses{table: name, inside: make(map[*ast.DotExpr]*ast.DotExpr)}
	ast.Walk(uses, tree)
	if int(name.Uses) != len(uses.named)+1 || !isFlat(table) { // with its own declaration
		return false
	}

	f := &flattening{b, module, uses, table, 0}
	members := f.flat(table.List, uses.named)
	table.List = nil
	f.room = b.wordsOf(module).room(len(members))
	for _, one := range members {
		f.place(one)
	}
	return true
}

// isFlat tells whether all members of a table have plain names.
func isFlat(table *ast.ObjectExpr) bool {
	for _, entry := range table.List {
		if entry.Name == nil || entry.Name.Computed != nil {
			return false
		}
	}
	return true
}

// member is one of a table, with those who name it.
type member struct {
	entry ast.Property
	users []*ast.DotExpr
}

// flattening makes one table of a table.
type flattening struct {
	b      *bundler
	module string
	uses   *tableUses
	left   *ast.ObjectExpr // what is left of the table
	room   int             // the table where its words go
}

// flat are the members of a table, and of those in it that nobody uses as a whole. What nobody uses
// at all is left out.
func (f *flattening) flat(entries []ast.Property, named []*ast.DotExpr) (members []member) {
	users := make(map[string][]*ast.DotExpr)
	for _, use := range named {
		name := string(use.Y.(ast.LiteralExpr).Data)
		users[name] = append(users[name], use)
	}
	for _, entry := range entries {
		name := string(entry.Name.Literal.Data)
		inner, ok := entry.Value.(*ast.ObjectExpr)
		if deeper := f.uses.deeper(users[name]); ok && deeper != nil && isFlat(inner) {
			members = append(members, f.flat(inner.List, deeper)...)
		} else if len(users[name]) > 0 {
			members = append(members, member{entry, users[name]})
		}
		delete(users, name)
	}

	for name := range users {
		panic("console: there is no text " + name + " in " + f.module)
	}
	return members
}

// place gives a member its place: a word in a wide table, code in what is left of its own.
func (f *flattening) place(one member) {
	table, name := ast.IExpr(f.uses.table), ast.LiteralExpr{TokenType: ast.IdentifierToken}
	if word := f.b.wordOf(f.module, one.entry); word != "" {
		words := f.b.wordsOf(f.module)
		table, name.Data = reference(words.table(f.room)), []byte(words.add(f.room, word))
	} else {
		name.Data = []byte(shortName(nameLetters, len(f.left.List)))
		f.left.List = append(f.left.List, ast.Property{Name: &ast.PropertyName{Literal: name}, Value: one.entry.Value})
	}
	for _, use := range one.users {
		use.X, use.Y = table, name
	}
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

// deeper are the uses of members of what others use: nil if some use it as a whole.
func (u *tableUses) deeper(named []*ast.DotExpr) (inner []*ast.DotExpr) {
	for _, use := range named {
		if u.inside[use] == nil {
			return nil
		}
		inner = append(inner, u.inside[use])
	}
	return inner
}
