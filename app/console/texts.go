package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	ast "github.com/tdewolff/parse/v2/js"
)

// What a module says is in its table `text`, or in one whose name ends with Text. The words of
// these tables go to browsers in two files beside the bundles, so that a language can be a
// file of its own, and a word that changes does not change a script:
//
//	[{"e":"Send", …}, {"e":"%#0 of %#1", …}, …]
//
// So do long lists and tables of words, and others of what a module knows without code.
//
// A function that only puts what it is given into a text, as it is or by count, is a text with
// holes. Other functions stay where they are. The names of texts get short where all who use
// them say so by name (words.go).
const (
	firstTexts = "console.json"
	laterTexts = "screens.json"
	textsTable = "T$" // the file in its bundle
	sentences  = "S$" // makes functions of the texts with holes in all tables
	leastData  = 16   // bytes of a list that is worth to be taken out
)

// sentencesCode is the code of sentences, which needs count.
const sentencesCode = "const " + sentences + `=a=>a.map(t=>{for(const k in t){const s=t[k];/%%#?\d/.test(s)&&` +
	`(t[k]=(...p)=>s.replace(/%%(#?)(\d)/g,(_,n,i)=>n?%s(p[i]):p[i]))}return t});` + "\n"

// countModule has the function that writes a number for people.
const countModule = "format.js"

var hole = regexp.MustCompile(`%#?\d`)

// takeTexts takes the words out of the tables of a module, whose names are still its own. Where all
// who use a table name what they want of it, its words go into the wide tables of the bundle
// (words.go). Another, of words alone, is declared with all of the bundle.
func (b *bundler) takeTexts(tree *ast.AST, module string) {
	m := b.modules[module]
	for at, statement := range tree.List {
		declaration, ok := statement.(*ast.VarDecl)
		if !ok || declaration.TokenType != ast.ConstToken || len(declaration.List) != 1 {
			continue
		}
		one := &declaration.List[0]
		name, isName := one.Binding.(*ast.Var)
		if !isName {
			continue
		}

		table, isTable := one.Default.(*ast.ObjectExpr)
		says := string(name.Data) == "text" || strings.HasSuffix(string(name.Data), "Text")
		if isTable && says && b.takeWords(tree, module, name, table) {
			if len(table.List) == 0 {
				tree.List[at] = &ast.EmptyStmt{}
			}
		} else if words := plainData(one.Default); len(words) > leastData {
			tree.List[at] = &ast.EmptyStmt{}
			m.tables = append(m.tables, b.variable(module, string(name.Data)))
			m.texts = append(m.texts, words)
		}
	}
}

// wordOf is what a member of a table says, as JSON: "" if it is code.
func (b *bundler) wordOf(module string, entry ast.Property) string {
	if word := withHoles(entry); word != "" {
		b.saying(module)
		return word
	}
	if word := plainData(entry.Value); word != "" || entry.Value == nil {
		return word
	}
	if data, ok := entry.Value.(ast.JSONer); ok && data.JSON(io.Discard) == nil {
		panic("console: " + module + " says " + written(entry.Value) + ", which is taken for a text with holes")
	}
	return ""
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
	return string(quoted)
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

// texts is the file of the texts of some modules.
func (b *bundler) texts(modules []string) []byte {
	var tables []string
	for _, name := range modules {
		tables = append(tables, b.modules[name].texts...)
	}
	tables = append(tables, b.wordsOf(modules[0]).tables()...)
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
	names = append(names, b.wordsOf(modules[0]).names()...)
	return fmt.Sprintf("let[%s]=%s;\n", strings.Join(names, ","), said)
}

// withTexts lets a bundle begin with the loading of its texts.
func withTexts(script []byte, served string) []byte {
	return append(fmt.Appendf(nil, `import %s from"./%s"with{type:"json"};`, textsTable, served), script...)
}
