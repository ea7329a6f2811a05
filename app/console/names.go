package console

import (
	"cmp"
	"slices"

	ast "github.com/tdewolff/parse/v2/js"
)

// The variables of a bundle get names of a letter or two. Which ones matters, because what is
// alike is compressed: the parameters and variables of every function are e, t, n and so on, in
// the order in which they are declared. What a whole bundle shares has the letters that few
// functions need, the most used first, and two letters else.

// nameLetters are the letters of names, those that are frequent in scripts anyway first.
const nameLetters = "etnsoiarclduhmfpgvbjywxkzqOCEASMFTDNLRPHIBVWUKYGXQZJ_$"

const (
	smallLetters = 26
	ownLetters   = 12 // those that the variables of a whole bundle leave to functions
)

// giveNames names the variables of a bundle, of outer scopes first: a name may be used again
// where the variable that has it is not.
func giveNames(tree *ast.AST) {
	ast.Walk(reshaped{}, tree)
	found := &scopes{}
	ast.Walk(found, tree)
	for _, scope := range found.all {
		if scope.Parent == nil {
			continue // of the module itself, which has what it imports
		}
		taken := make(map[string]bool)
		for _, v := range scope.Undeclared {
			taken[string(v.Name())] = true
		}

		declared, letters := scope.Declared, nameLetters
		if len(declared) > len(nameLetters) { // a whole bundle
			letters = nameLetters[ownLetters:]
			declared = mostUsedFirst(declared, len(letters))
		}
		next := 0
		for _, v := range declared {
			name := shortName(letters, next)
			for next++; taken[name] || ast.Keywords[name] != 0; next++ {
				name = shortName(letters, next)
			}
			v.Data, taken[name] = []byte(name), true
		}
	}
}

// mostUsedFirst puts the variables that are used most in front of the others.
func mostUsedFirst(declared []*ast.Var, most int) []*ast.Var {
	byUse := slices.Clone(declared)
	slices.SortStableFunc(byUse, func(a, b *ast.Var) int { return cmp.Compare(b.Uses, a.Uses) })
	byUse = byUse[:most]
	for _, v := range declared {
		if !slices.Contains(byUse[:most], v) {
			byUse = append(byUse, v)
		}
	}
	return byUse
}

// shortName is one of the names that can be made of some letters: all of one letter, then
// those of two small ones.
func shortName(letters string, i int) string {
	if i < len(letters) {
		return letters[i : i+1]
	}
	i -= len(letters)
	return string([]byte{nameLetters[i%smallLetters], nameLetters[i/smallLetters]})
}

// scopes finds the scopes of a script, each before those inside it.
type scopes struct {
	all []*ast.Scope
}

func (s *scopes) Enter(node ast.INode) ast.IVisitor {
	switch n := node.(type) {
	case *ast.BlockStmt: // of functions, loops and the like too
		s.all = append(s.all, &n.Scope)
	case *ast.SwitchStmt:
		s.all = append(s.all, &n.Scope)
	}
	return s
}

func (*scopes) Exit(ast.INode) {}
