package console

import (
	"regexp"
	"slices"
	"strings"

	ast "github.com/tdewolff/parse/v2/js"
)

// A variable of a function that is used once, soon after it has got its value, needs no name: the
// value is written where it is used.
//
//	const made = await post(path, one); const row = rowOf(made); list.append(row);
//	list.append(rowOf(await post(path, one)));
//
// What happens may not happen in another order. So a value that does something is written there
// only if nothing else is done or read between, and it is certain to be reached; one that reads
// what may change, if nothing is done between. Nothing moves into a loop, a try or another function.
type collapser struct {
	uses     map[string]int
	assigned map[string]bool
}

// textTable is the name of a table of texts in a bundle (texts.go).
var textTable = regexp.MustCompile(`^(?:text|\w+Text)\$\d+$`)

// weight is what an expression does when it is evaluated.
type weight int

const (
	constant weight = iota // it is the same at any time
	reading                // it depends on what may change
	doing                  // it may change something, or wait
)

// collapse writes the values of variables that are used once where they are used. Every variable
// has a name that nothing else has.
func collapse(tree *ast.AST) { ast.Walk(newCollapser(tree), tree) }

// newCollapser knows how often the variables of a bundle are used.
func newCollapser(tree *ast.AST) *collapser {
	c := &collapser{uses: make(map[string]int), assigned: make(map[string]bool)}
	ast.Walk(mentions(c.uses), tree)
	ast.Walk(assignments(c.assigned), tree)
	return c
}

// mentions counts how often variables are named.
type mentions map[string]int

func (m mentions) Enter(node ast.INode) ast.IVisitor {
	if v, ok := node.(*ast.Var); ok {
		m[string(v.Name())]++
	}
	return m
}

func (mentions) Exit(ast.INode) {}

func (c *collapser) Enter(ast.INode) ast.IVisitor { return c }

// Exit collapses a block when those inside it are done.
func (c *collapser) Exit(node ast.INode) {
	block, ok := node.(*ast.BlockStmt)
	if !ok {
		return
	}

	list := apart(block.List)
	for i := len(list) - 2; i >= 0; i-- {
		name, value, ok := c.candidate(list[i])
		if !ok {
			continue
		}
		s := &seeker{collapser: c, name: name, value: value, weight: c.weigh(value)}
		s.statements(list[i+1:])
		if s.placed {
			list = slices.Delete(list, i, i+1)
		}
	}
	block.List = list
}

// apart are statements with a declaration for each variable.
func apart(statements []ast.IStmt) (list []ast.IStmt) {
	for _, statement := range statements {
		declaration, ok := statement.(*ast.VarDecl)
		if !ok {
			list = append(list, statement)
			continue
		}
		for _, one := range declaration.List {
			list = append(list, &ast.VarDecl{TokenType: declaration.TokenType, Scope: declaration.Scope, List: []ast.BindingElement{one}})
		}
	}
	return list
}

// candidate is a variable that is used once, with its value.
func (c *collapser) candidate(statement ast.IStmt) (name string, value ast.IExpr, ok bool) {
	declaration, ok := statement.(*ast.VarDecl)
	if !ok {
		return "", nil, false
	}
	v, ok := declaration.List[0].Binding.(*ast.Var)
	value = declaration.List[0].Default
	if !ok || value == nil {
		return "", nil, false
	}
	name = string(v.Name())
	return name, value, uniqueName.MatchString(name) && c.uses[name] == 2 && !c.assigned[name] // with its declaration
}

// weigh tells what an expression does.
func (c *collapser) weigh(expression ast.IExpr) weight {
	s := &seeker{collapser: c}
	s.expression(&expression, true)
	return s.passed
}

// seeker looks through what is evaluated after a declaration, in its order, for the place where the
// variable is used.
type seeker struct {
	*collapser
	name         string
	value        ast.IExpr
	weight       weight
	passed       weight // of what is evaluated before that place
	placed, lost bool
}

// pass notes what is evaluated. It tells whether the search is over.
func (s *seeker) pass(w weight) bool {
	s.passed = max(s.passed, w)
	return false
}

// statements looks through statements until the place is found, or cannot be.
func (s *seeker) statements(list []ast.IStmt) {
	for _, statement := range list {
		if s.statement(statement, true) || s.lost {
			return
		}
	}
}

// statement looks through a statement, which is sure to be reached or not. It tells whether the
// search is over.
func (s *seeker) statement(statement ast.IStmt, sure bool) bool {
	switch n := statement.(type) {
	case nil, *ast.EmptyStmt:
		return false
	case *ast.VarDecl:
		if s.expression(&n.List[0].Default, sure) {
			return true
		}
		if _, plain := n.List[0].Binding.(*ast.Var); !plain {
			return s.closed(n.List[0].Binding) || s.pass(doing)
		}
		return false

	case *ast.ExprStmt:
		return s.expression(&n.Value, sure)
	case *ast.ReturnStmt:
		return s.expression(&n.Value, sure)
	case *ast.ThrowStmt:
		return s.expression(&n.Value, sure)

	case *ast.IfStmt:
		return s.expression(&n.Cond, sure) || s.branch(n.Body) || s.branch(n.Else) || s.closed(nil)
	case *ast.ForOfStmt:
		return s.expression(&n.Value, sure) || s.closed(nil)
	case *ast.SwitchStmt:
		return s.expression(&n.Init, sure) || s.closed(nil)
	}

	return s.closed(nil)
}

// branch looks through what is reached in some cases only.
func (s *seeker) branch(statement ast.IStmt) bool {
	if block, ok := statement.(*ast.BlockStmt); ok {
		for _, one := range block.List {
			if s.statement(one, false) {
				return true
			}
		}
		return false
	}
	return s.statement(statement, false)
}

// closed is a part that the value cannot move into or behind, if the variable is used there; nil is one
// behind which the search ends.
func (s *seeker) closed(node ast.INode) bool {
	if node == nil {
		s.lost = true
	} else {
		ast.Walk((*mention)(s), node)
	}
	return s.lost
}

// mention ends the search where the variable is named.
type mention seeker

func (m *mention) Enter(node ast.INode) ast.IVisitor {
	if v, ok := node.(*ast.Var); ok && string(v.Name()) == m.name {
		m.lost = true
	}
	return m
}

func (*mention) Exit(ast.INode) {}

// all looks through expressions one after the other.
func (s *seeker) all(sure bool, slots ...*ast.IExpr) bool {
	for _, slot := range slots {
		if s.expression(slot, sure) {
			return true
		}
	}
	return false
}

// expression looks through an expression.
func (s *seeker) expression(slot *ast.IExpr, sure bool) bool {
	switch e := (*slot).(type) {
	case nil, *ast.LiteralExpr, ast.LiteralExpr, *ast.ImportMetaExpr:
		return false
	case *ast.Var:
		return s.variable(slot, e, sure)
	case *ast.ArrowFunc, *ast.FuncDecl, *ast.MethodDecl:
		return s.closed(e)

	case *ast.GroupExpr:
		return s.expression(&e.X, sure)
	case *ast.DotExpr:
		return s.expression(&e.X, sure) || !isText(e.X) && s.pass(reading)
	case *ast.IndexExpr:
		return s.expression(&e.X, sure) || s.expression(&e.Y, sure && !e.Optional) || s.pass(reading)

	case *ast.UnaryExpr:
		return s.expression(&e.X, sure) || changesSomething(e.Op.String()) && s.pass(doing)
	case *ast.BinaryExpr:
		return s.binary(e, sure)
	case *ast.CondExpr:
		return s.expression(&e.Cond, sure) || s.all(false, &e.X, &e.Y)

	case *ast.ObjectExpr:
		return s.object(e, sure)
	case *ast.ArrayExpr:
		return s.array(e, sure)
	case *ast.TemplateExpr:
		return s.template(e, sure)

	case *ast.CallExpr:
		return s.call(&e.X, e.Args.List, sure, e.Optional)
	case *ast.NewExpr:
		if e.Args == nil {
			return s.pass(doing)
		}
		return s.call(&e.X, e.Args.List, sure, false)
	}

	return s.closed(*slot) || s.pass(doing)
}

// changesSomething tells whether an operator before or after an expression does more than look at it.
func changesSomething(op string) bool {
	return op == "await" || op == "delete" || strings.HasSuffix(op, "++") || strings.HasSuffix(op, "--")
}

// isText tells whether something is a table of texts, which nobody changes.
func isText(expression ast.IExpr) bool {
	v, ok := expression.(*ast.Var)
	return ok && textTable.Match(v.Name())
}

// variable looks at a variable.
func (s *seeker) variable(slot *ast.IExpr, v *ast.Var, sure bool) bool {
	name := string(v.Name())
	if s.name == "" || name != s.name {
		if s.assigned[name] {
			s.pass(reading)
		}
		return false
	}

	s.placed = s.weight == constant || s.weight == reading && s.passed < doing || s.weight == doing && s.passed == constant && sure
	s.lost = !s.placed
	if s.placed {
		*slot = &ast.GroupExpr{X: s.value}
	}
	return true
}

// binary looks through an operation, which may be one that gives something a value.
func (s *seeker) binary(e *ast.BinaryExpr, sure bool) bool {
	op := e.Op.String()
	switch {
	case op == "&&" || op == "||" || op == "??":
		return s.expression(&e.X, sure) || s.expression(&e.Y, false)
	case !isAssignment(op):
		return s.all(sure, &e.X, &e.Y)
	}

	switch to := e.X.(type) {
	case *ast.Var:
	case *ast.DotExpr:
		if s.expression(&to.X, sure) {
			return true
		}
	default:
		return s.closed(e) || s.pass(doing)
	}
	if op != "=" {
		s.pass(reading)
	}
	return s.expression(&e.Y, sure && (op == "=" || len(op) == 2)) || s.pass(doing)
}

// array looks through the members of an array.
func (s *seeker) array(e *ast.ArrayExpr, sure bool) bool {
	for i := range e.List {
		if s.expression(&e.List[i].Value, sure) || e.List[i].Spread && s.pass(reading) {
			return true
		}
	}
	return false
}

// template looks through what stands in the holes of a text.
func (s *seeker) template(e *ast.TemplateExpr, sure bool) bool {
	if e.Tag != nil {
		return s.closed(e) || s.pass(doing)
	}

	for i := range e.List {
		if s.expression(&e.List[i].Expr, sure) {
			return true
		}
	}
	return false
}

// object looks through the members of an object.
func (s *seeker) object(e *ast.ObjectExpr, sure bool) bool {
	for i := range e.List {
		p := &e.List[i]
		if p.Name != nil && p.Name.Computed != nil && s.expression(&p.Name.Computed, sure) {
			return true
		}
		if s.expression(&p.Value, sure) || p.Spread && s.pass(reading) {
			return true
		}
	}
	return false
}

// call looks through a call. What a method is does not change.
func (s *seeker) call(of *ast.IExpr, args []ast.Arg, sure, optional bool) bool {
	if method, ok := (*of).(*ast.DotExpr); ok {
		if s.expression(&method.X, sure) {
			return true
		}
	} else if s.expression(of, sure) {
		return true
	}

	sure = sure && !optional && !strings.Contains(written(*of), "?.")
	for i := range args {
		if s.expression(&args[i].Value, sure) || args[i].Rest && s.pass(reading) {
			return true
		}
	}
	return s.pass(doing)
}
