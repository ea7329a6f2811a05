package console

import (
	"regexp"
	"slices"

	ast "github.com/tdewolff/parse/v2/js"
)

// Where a function was written in its only place (inline.go), it is called there at once. What it is
// given moves into it, as the values of variables do (collapse.go), and what is left of it is
// written without a function where that can be:
//
//	(one) => ((row, many) => { const n = many(row); return n + n; })(one, all.count)
//	(one) => { const many = all.count; const n = many(one); return n + n; }
type unwrapper struct {
	*collapser
	renamed map[string]string // what stands for parameters
}

// plainLiteral is one that is short enough to be written wherever a parameter is used.
var plainLiteral = regexp.MustCompile(`^(?:\d{1,3}|null|true|false)$`)

// unwrap is the text of a bundle in which what functions that are called at once are given has moved
// into them.
func unwrap(tree *ast.AST) string {
	u := &unwrapper{newCollapser(tree), make(map[string]string)}
	ast.Walk(u, tree)
	return uniqueName.ReplaceAllStringFunc(tree.JSString(), func(name string) string {
		for u.renamed[name] != "" {
			name = u.renamed[name]
		}
		return name
	})
}

func (u *unwrapper) Enter(ast.INode) ast.IVisitor { return u }

func (u *unwrapper) Exit(node ast.INode) {
	switch n := node.(type) {
	case *ast.CallExpr:
		if arrow, ok := calledAtOnce(n); ok {
			u.give(arrow, n)
		}
	case *ast.ArrowFunc:
		n.Async = u.open(&n.Body, n.Async, true)
	case *ast.FuncDecl:
		u.open(&n.Body, n.Async, false)
	case *ast.MethodDecl:
		u.open(&n.Body, n.Async, false)
	}
}

// calledAtOnce is the function that a call is of, when it is written there.
func calledAtOnce(call *ast.CallExpr) (arrow *ast.ArrowFunc, ok bool) {
	group, ok := call.X.(*ast.GroupExpr)
	if !ok {
		return nil, false
	}
	arrow, ok = group.X.(*ast.ArrowFunc)
	return arrow, ok && arrow.Params.Rest == nil && !slices.ContainsFunc(call.Args.List, func(a ast.Arg) bool { return a.Rest })
}

// give moves what a function is given into it, from the last on.
func (u *unwrapper) give(arrow *ast.ArrowFunc, call *ast.CallExpr) {
	if len(call.Args.List) != len(arrow.Params.List) {
		return
	}
	after := constant // what is given after
	for i := len(call.Args.List) - 1; i >= 0; i-- {
		given := call.Args.List[i].Value
		name, ok := arrow.Params.List[i].Binding.(*ast.Var)
		if ok && arrow.Params.List[i].Default == nil && u.moves(string(name.Name()), given, after, arrow) {
			arrow.Params.List = slices.Delete(arrow.Params.List, i, i+1)
			call.Args.List = slices.Delete(call.Args.List, i, i+1)
			continue
		}
		after = max(after, u.weigh(given))
		if !ok {
			after = doing
		}
	}

	if answer, ok := soleCall(arrow); ok {
		*call = *answer
	}
}

// soleCall is the call that is all that a function without parameters does.
func soleCall(arrow *ast.ArrowFunc) (call *ast.CallExpr, ok bool) {
	if arrow.Async || len(arrow.Params.List) > 0 || len(arrow.Body.List) != 1 {
		return nil, false
	}
	answer, ok := arrow.Body.List[0].(*ast.ReturnStmt)
	if !ok {
		return nil, false
	}
	call, ok = ungrouped(answer.Value).(*ast.CallExpr)
	return call, ok
}

// moves moves what a function is given for a parameter to where that is used, if it can.
func (u *unwrapper) moves(name string, given ast.IExpr, after weight, arrow *ast.ArrowFunc) bool {
	if u.assigned[name] {
		return false
	}
	switch value := given.(type) {
	case *ast.Var:
		if !u.assigned[string(value.Name())] {
			u.renamed[name] = string(value.Name())
			return true
		}
	case *ast.LiteralExpr:
		if plainLiteral.Match(value.Data) {
			u.renamed[name] = string(value.Data)
			return true
		}
	}

	if u.uses[name] != 2 { // with its declaration
		return false
	}
	s := &seeker{collapser: u.collapser, name: name, value: given, weight: u.weigh(given), passed: after}
	s.statements(arrow.Body.List)
	return s.placed
}

// open writes a function that is called at the end of another as a part of that one, which is then
// async if the function was, and says so; it may become so if it does nothing else.
func (u *unwrapper) open(body *ast.BlockStmt, async, may bool) bool {
	if len(body.List) == 0 {
		return async
	}
	last, ok := body.List[len(body.List)-1].(*ast.ReturnStmt)
	if !ok {
		return async
	}
	call, ok := ungrouped(last.Value).(*ast.CallExpr)
	if !ok {
		return async
	}
	arrow, ok := calledAtOnce(call)
	may = may && len(body.List) == 1 && len(call.Args.List) == 0
	if !ok || len(call.Args.List) != len(arrow.Params.List) || arrow.Async && !async && !may {
		return async
	}

	list := body.List[:len(body.List)-1]
	for i, parameter := range arrow.Params.List {
		if parameter.Default != nil {
			return async
		}
		parameter.Default = call.Args.List[i].Value
		list = append(list, &ast.VarDecl{TokenType: ast.LetToken, Scope: &body.Scope, List: []ast.BindingElement{parameter}})
	}
	body.List = append(list, arrow.Body.List...)
	return async || arrow.Async
}

// ungrouped is an expression without the parentheses around it.
func ungrouped(expression ast.IExpr) ast.IExpr {
	if group, ok := expression.(*ast.GroupExpr); ok {
		return ungrouped(group.X)
	}
	return expression
}
