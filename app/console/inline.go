package console

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	ast "github.com/tdewolff/parse/v2/js"
)

// What a bundle uses only once needs no name: a constant or a function is written where it is
// used, with what it is given in place of its parameters where that cannot differ:
//
//	const most = 9; const row = (one) => el("li", one.name); … list(most, () => row(item))
//	list(9, () => el("li", item.name))
//
// This works on the text of a bundle in which every variable has a name that nothing else has,
// so that what is written in another place means the same there. A function that is written
// where it is used is another one each time that place is reached: who wants to take a listener
// away names it twice, and so it stays.
type inliner struct {
	uses     map[string]int       // how often names are there, with their declarations
	assigned map[string]bool      // the variables that get other values later
	moved    map[string]ast.IExpr // what is written where it is used
}

const shortest = 3 // bytes of a constant that is shorter than a name

var (
	// uniqueName is a name that nothing else has: of the bundle, or of a function.
	uniqueName = regexp.MustCompile(`[A-Za-z_]\w*\$l?\d+\b`)
	// plainArgument is what can stand for a parameter wherever that is used.
	plainArgument = regexp.MustCompile(`^(?:[A-Za-z_]\w*\$l?\d+|\d{1,3}|"[^",]*")$`)
)

// inline is the text of a bundle with what is used once where it is used.
func inline(tree *ast.AST) string {
	ast.Walk(reshaped{}, tree)
	uniqueNames(tree)
	in := &inliner{uses: make(map[string]int), assigned: make(map[string]bool), moved: make(map[string]ast.IExpr)}
	for _, name := range uniqueName.FindAllString(tree.JSString(), -1) {
		in.uses[name]++
	}
	ast.Walk(assignments(in.assigned), tree)
	ast.Walk((*remover)(in), tree)
	return in.filled(tree.JSString())
}

// uniqueNames gives the variables of functions names that nothing else has. Those of the whole
// bundle have such already, and what the bundler declares stays as it is.
func uniqueNames(tree *ast.AST) {
	found := &scopes{}
	ast.Walk(found, tree)
	n := 0
	for _, scope := range found.all {
		for _, v := range scope.Declared {
			if scope.Parent != nil && v.Decl != ast.PrivateDecl && !slices.Contains(v.Data, '$') {
				v.Data = fmt.Appendf(nil, "%s$l%d", v.Data, n)
				n++
			}
		}
	}
}

// assignments finds the variables that get other values than those that they are declared with.
type assignments map[string]bool

func (a assignments) Enter(node ast.INode) ast.IVisitor {
	switch n := node.(type) {
	case *ast.BinaryExpr:
		if isAssignment(n.Op.String()) {
			a.note(n.X)
		}
	case *ast.UnaryExpr:
		if strings.HasSuffix(n.Op.String(), "++") || strings.HasSuffix(n.Op.String(), "--") {
			a.note(n.X)
		}
	}
	return a
}

func (assignments) Exit(ast.INode) {}

// isAssignment tells whether an operation gives something a value.
func isAssignment(op string) bool {
	return strings.HasSuffix(op, "=") && !slices.Contains([]string{"==", "===", "!=", "!==", "<=", ">="}, op)
}

// note notes all variables in an expression that gets a value, which may be a pattern.
func (a assignments) note(expression ast.IExpr) {
	for _, name := range uniqueName.FindAllString(written(expression), -1) {
		a[name] = true
	}
}

// remover takes the declarations of what is written elsewhere out of a bundle.
type remover inliner

func (r *remover) Enter(node ast.INode) ast.IVisitor {
	block, ok := node.(*ast.BlockStmt)
	if !ok {
		return r
	}

	block.List = slices.DeleteFunc(block.List, func(statement ast.IStmt) bool {
		declaration, ok := statement.(*ast.VarDecl)
		if !ok {
			return false
		}
		declaration.List = slices.DeleteFunc(declaration.List, func(one ast.BindingElement) bool {
			name, ok := one.Binding.(*ast.Var)
			if !ok || !r.moves(string(name.Data), one.Default) {
				return false
			}
			r.moved[string(name.Data)] = one.Default
			return true
		})
		return len(declaration.List) == 0
	})
	return r
}

func (*remover) Exit(ast.INode) {}

// moves tells whether something is written where it is used: constants, functions, and what a
// module exports as a whole.
func (r *remover) moves(name string, value ast.IExpr) bool {
	if r.assigned[name] || !uniqueName.MatchString(name) {
		return false
	}
	once := r.uses[name] == 2 // with its declaration
	switch v := value.(type) {
	case *ast.LiteralExpr:
		return v.TokenType != ast.RegExpToken && (once || len(v.Data) <= shortest)
	case *ast.ArrowFunc:
		return once
	case *ast.ObjectExpr:
		return once && strings.HasPrefix(name, whole+"$")
	}
	return false
}

// filled is a text with what is used in it once in its place.
func (in *inliner) filled(text string) string {
	var b strings.Builder
	at := 0
	for _, found := range uniqueName.FindAllStringIndex(text, -1) {
		value, ok := in.moved[text[found[0]:found[1]]]
		if !ok || found[0] < at {
			continue
		}
		b.WriteString(text[at:found[0]])
		at = found[1]
		if answer, end, ok := in.answered(value, text[at:]); ok {
			b.WriteString(in.filled(answer))
			at += end
		} else {
			b.WriteString("(" + in.filled(written(value)) + ")")
		}
	}
	return b.String() + text[at:]
}

// answered is what stands for the call of a function, if it is called with what its parameters
// can be replaced by, and where the call ends.
func (in *inliner) answered(value ast.IExpr, rest string) (answer string, end int, ok bool) {
	arrow, isFunction := value.(*ast.ArrowFunc)
	if rest == "" {
		return "", 0, false
	}
	end = strings.IndexAny(rest[1:], "()") + 1
	if !isFunction || arrow.Async || arrow.Params.Rest != nil || rest[0] != '(' || rest[end] != ')' {
		return "", 0, false
	}
	var arguments []string
	if end > 1 {
		arguments = strings.Split(rest[1:end], ", ")
	}
	if len(arguments) != len(arrow.Params.List) {
		return "", 0, false
	}

	given := make(map[string]string)
	for i, parameter := range arrow.Params.List {
		name, isName := parameter.Binding.(*ast.Var)
		if !isName || parameter.Default != nil || in.assigned[string(name.Data)] ||
			in.assigned[arguments[i]] || !plainArgument.MatchString(arguments[i]) {
			return "", 0, false
		}
		given[string(name.Data)] = arguments[i]
	}
	answer = uniqueName.ReplaceAllStringFunc(called(arrow), func(name string) string {
		if argument, ok := given[name]; ok {
			return argument
		}
		return name
	})
	return answer, end + 1, true
}

// called is what a function answers: what it returns, or the call of it.
func called(arrow *ast.ArrowFunc) string {
	if len(arrow.Body.List) == 1 {
		if answer, ok := arrow.Body.List[0].(*ast.ReturnStmt); ok && answer.Value != nil {
			return "(" + written(answer.Value) + ")"
		}
	}
	return "(" + written(&ast.ArrowFunc{Body: arrow.Body}) + ")()"
}

// written is an expression as text.
func written(expression ast.IExpr) string {
	var w strings.Builder
	expression.JS(&w)
	return w.String()
}
