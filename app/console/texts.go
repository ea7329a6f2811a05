package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	ast "github.com/tdewolff/parse/v2/js"
)

// What a module says is in its table `text`, or in one whose name ends with Text. The plain
// words of these tables go to browsers in two files beside the bundles, so that a language
// can be a file of its own, and a word that changes does not change a script:
//
//	{"screens/inbox/thread":{"send":"Send", …}, "parts/basics.copyText":{…}, …}
//
// Texts that are made of parts are functions, and stay where they are.
const (
	firstTexts = "console.json"
	laterTexts = "screens.json"
	textsTable = "T$" // the file in its bundle
)

// takeTexts takes the plain words out of the tables of a module, whose names are still its
// own, and leaves references to them. It returns what was taken, as members of an object.
func takeTexts(tree *ast.AST, module string) (taken []string) {
	for _, statement := range tree.List {
		declaration, ok := statement.(*ast.VarDecl)
		if !ok {
			continue
		}
		for _, one := range declaration.List {
			name, isName := one.Binding.(*ast.Var)
			table, isTable := one.Default.(*ast.ObjectExpr)
			if !isName || !isTable {
				continue
			}

			title := strings.TrimSuffix(module, ".js")
			switch {
			case strings.HasSuffix(string(name.Data), "Text"):
				title += "." + string(name.Data)
			case string(name.Data) != "text":
				continue
			}
			if words := splitTable(table, title); words != "" {
				taken = append(taken, fmt.Sprintf("%q:%s", title, words))
			}
		}
	}
	return taken
}

// splitTable takes the plain words out of a table: "" if there are none.
func splitTable(table *ast.ObjectExpr, title string) string {
	var plain []string
	var rest []ast.Property
	for _, entry := range table.List {
		var b bytes.Buffer
		if entry.JSON(&b) == nil && json.Valid([]byte("{"+b.String()+"}")) {
			plain = append(plain, b.String())
		} else {
			rest = append(rest, entry)
		}
	}
	if len(plain) == 0 {
		return ""
	}

	words := &ast.LiteralExpr{TokenType: ast.IdentifierToken, Data: fmt.Appendf(nil, "%s[%q]", textsTable, title)}
	table.List = append([]ast.Property{{Spread: true, Value: words}}, rest...)
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte("{"+strings.Join(plain, ",")+"}")); err != nil {
		panic("console: the texts of " + title + ": " + err.Error())
	}
	return compact.String()
}

// texts is the file of the texts of some modules.
func (b *bundler) texts(modules []string) []byte {
	var entries []string
	for _, name := range modules {
		entries = append(entries, b.modules[name].texts...)
	}
	return []byte("{" + strings.Join(entries, ",") + "}")
}

// withTexts lets a bundle begin with the loading of its texts.
func withTexts(script []byte, served string) []byte {
	return append(fmt.Appendf(nil, `import %s from"./%s"with{type:"json"};`, textsTable, served), script...)
}
