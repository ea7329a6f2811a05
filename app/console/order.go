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
var firstOrder, laterOrder = strings.Fields(`
inbox meet get remove post recipient summary face giveUpLead dismiss next reopen add computed place card
skeleton dot settled hurry openShortcuts startOfDay S within when outside send bind show placeOf flush spanOf
lookAt narrow sendLook attachments together copyable load lost stand postLook lead keep failed closed byAge
empty words list navigate openJump page stateOf menu sizeOf later entries card3 resource after dates flush
announce sameYear stamp format byNewest initials effect ageOf onDispose scope add signal untracked count discard
check tick share button draftKey prose svg retry reportAnswer end receive match reaction el keep hue timeOf
pickTemplate latest stored onChanged onEvent toastError append signInAgain hosted patch preference read link
pair call icon newKey fill set nameOf setQuery
`), strings.Fields(`
linkProblem templatePreview problemsOf parseHead fill edgeProblem fileOf morning samplesOf headerOf newCard
componentsOf buttonsOf exampleOf isScrolled collect isFile once newButton buttonOf isPhone readHead stamp
readTeams nameOf fold taps isPhoneColumn card fieldRow isCode filter buttonProblem summary webhookDialog make
templateForm textProblem buttonFields chosen labelDialog illness partOf place header reason teamFields form
sizeOf isNamed pagedList filters personPicker follow nameOf nameOf kindOf keyOf whoOf rate tookOf choice
codeOptions keyOf everyRow renamed editPerson bubble stateChip statusChip sim placeOf statusChip variablesOf
quote label textFields builder device linkShown secretShown openPicker switchRow toggle answerTime words
searchbox entry choices wanted openShortcuts local paged slash deliveryDetails state raw deliveryChip
connectDialog titleOf table formDialog file newContact dialog ofNumber statusDetails readNumbers stateOf mood
liveField placed figure fact openSimulator confirmDeed choice group select shown failureTable deliveryTable
settingsPage sessionTable act stateChip done code lines beep answer adder span bar sparkline allLabels
`)

// screenOrder is such an order of the modules that are loaded later. Those that are not named here come
// first.
var screenOrder = strings.Fields(`
screens/inbox/reactions.js screens/templates.js screens/inbox/templates.js screens/log.js
screens/inbox/send_later.js screens/inbox/search.js screens/settings_health.js screens/phone/beside.js
dialogs.js screens/contacts.js screens/inbox/notify.js screens/broadcasts.js screens/trace.js screens/phone.js
screens/inbox/quick_replies.js screens/deliveries.js screens/settings_profile.js screens/inbox/details.js
screens/settings_people.js screens/nothing.js screens/customers.js screens/settings_labels.js screens/numbers.js
screens/settings_keys.js screens/webhooks.js screens/settings_quick_replies.js
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
