package console

import (
	"bytes"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/js"
	"github.com/tdewolff/parse/v2"
	ast "github.com/tdewolff/parse/v2/js"
)

// shorten leaves out of a script what only people need, and writes the rest in few letters, with
// its functions in some order.
func shorten(script []byte, order []string) []byte {
	tree := readScript(script)
	ast.Walk(arrows{}, tree)
	tree = readScript([]byte(tree.JSString())) // which knows the variables again
	tree = readScript([]byte(inline(tree)))
	tree = readScript([]byte(unwrap(tree)))
	collapse(tree)
	tree = readScript([]byte(tree.JSString()))
	inOrder := arrange(tree, order)
	giveNames(tree)
	inOrder()

	var b bytes.Buffer
	minifier := js.Minifier{Version: 2022, KeepVarNames: true}
	if err := minifier.Minify(minify.New(), &b, bytes.NewReader([]byte(tree.JSString())), nil); err != nil {
		panic("console: a bundle cannot be read: " + err.Error())
	}
	return b.Bytes()
}

// readScript is the tree of a script.
func readScript(script []byte) *ast.AST {
	tree, err := ast.Parse(parse.NewInputBytes(script), ast.Options{})
	if err != nil {
		panic("console: a bundle cannot be read: " + err.Error())
	}
	return tree
}

// arrows makes arrow functions of functions, which are shorter, and one declaration of
// several. They come first in their block, because functions can be called from above. Those
// that arrow functions cannot be stay; with new, classes are used, not functions.
type arrows struct{}

func (a arrows) Enter(node ast.INode) ast.IVisitor {
	block, ok := node.(*ast.BlockStmt)
	if !ok {
		return a
	}

	var functions, others []ast.IStmt
	for _, statement := range block.List {
		f, ok := statement.(*ast.FuncDecl)
		if !ok || f.Generator || usesThis(f) {
			others = append(others, statement)
			continue
		}
		arrow := &ast.ArrowFunc{Async: f.Async, Params: f.Params, Body: f.Body}
		functions = append(functions, &ast.VarDecl{
			TokenType: ast.LetToken,
			Scope:     &block.Scope,
			List:      []ast.BindingElement{{Binding: f.Name, Default: arrow}},
		})
	}
	block.List = append(functions, others...)
	return a
}

func (arrows) Exit(ast.INode) {}

// usesThis tells whether a function knows what it is called on, or all that it is given.
func usesThis(f *ast.FuncDecl) bool {
	found := &thisUses{}
	ast.Walk(found, &f.Body)
	for _, v := range f.Body.Scope.Undeclared {
		found.any = found.any || string(v.Name()) == "arguments"
	}
	return found.any
}

type thisUses struct {
	any bool
}

func (u *thisUses) Enter(node ast.INode) ast.IVisitor {
	literal, ok := node.(*ast.LiteralExpr)
	u.any = u.any || ok && literal.TokenType == ast.ThisToken
	return u
}

func (*thisUses) Exit(ast.INode) {}
