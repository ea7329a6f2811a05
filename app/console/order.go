package console

import (
	"cmp"
	"slices"
	"strings"

	ast "github.com/tdewolff/parse/v2/js"
)

// The order in which the functions of a bundle are sent means nothing. These were found by trying
// which one is compressed best, because what is alike should be near. Functions that are not named
// here come last.
var firstOrder, laterOrder = strings.Fields(``), strings.Fields(`
fill edgeProblem tookOf bubble stamp newCard fileOf isCode morning partOf linkShown isFile problemsOf
fieldRow componentsOf headerOf collect buttonProblem templatePreview quote textFields codeOptions newButton
placed buttonFields buttonsOf taps chosen connectDialog form webhookDialog statusChip editPerson builder
nameOf placeOf teamFields mood readTeams readNumbers isPhone card stateChip answerTime pagedList fold answer
linkProblem act bar rate deliveryDetails span textProblem parseHead header slash sim statusChip state
everyRow place isNamed samplesOf confirmDeed stateChip done deliveryChip secretShown code keyOf buttonOf
label nameOf paged once templateForm nameOf statusDetails filters keyOf summary kindOf exampleOf device
personPicker choice beep filter openPicker toggle allLabels figure newContact choice entry group local
settingsPage select make ownPath dialog openShortcuts isScrolled stateOf words searchbox follow file
openSimulator whoOf wanted reason raw sessionTable variablesOf lines titleOf sparkline adder failureTable
sizeOf deliveryTable ofNumber table
`)

// screenOrder is such an order of the modules that are loaded later. Those that are not named here come
// first.
var screenOrder = strings.Fields(`
`)

// arrange puts the functions of a bundle into an order, before all else. What it returns does so, when
// they have lost their names.
func arrange(tree *ast.AST, order []string) func() {
	whole := &bundleBody{}
	ast.Walk(whole, tree)
	if whole.body == nil {
		return func() {}
	}
	places := make(map[ast.IStmt]int)
	taken := make(map[string]int) // where to look for the next of a name
	for _, statement := range whole.body.List {
		places[statement] = len(order) + 1
		if name, ok := functionName(statement); ok {
			places[statement] = len(order)
			if at := slices.Index(order[taken[name]:], name); at >= 0 {
				places[statement] = taken[name] + at
				taken[name] += at + 1
			}
		}
	}
	return func() {
		slices.SortStableFunc(whole.body.List, func(a, b ast.IStmt) int { return cmp.Compare(places[a], places[b]) })
	}
}

// functionName is the name of a function that is declared alone.
func functionName(statement ast.IStmt) (name string, ok bool) {
	declaration, ok := statement.(*ast.VarDecl)
	if !ok || len(declaration.List) != 1 {
		return "", false
	}
	variable, isName := declaration.List[0].Binding.(*ast.Var)
	_, isFunction := declaration.List[0].Default.(*ast.ArrowFunc)
	if !isName || !isFunction {
		return "", false
	}
	name, _, _ = strings.Cut(string(variable.Data), "$")
	return name, true
}

// bundleBody finds the function that is the whole bundle.
type bundleBody struct {
	body *ast.BlockStmt
}

func (b *bundleBody) Enter(node ast.INode) ast.IVisitor {
	if f, ok := node.(*ast.ArrowFunc); ok && b.body == nil && len(f.Body.Scope.Declared) > len(nameLetters) {
		b.body = &f.Body
	}
	return b
}

func (*bundleBody) Exit(ast.INode) {}
