package console

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tdewolff/parse/v2"
	ast "github.com/tdewolff/parse/v2/js"
)

// The modules of the console go to browsers in two files: one with all that the inbox
// needs, the other with the screens that are opened later. Sixty small files would
// compress a third worse, and each would be asked for.
//
// In a bundle all modules share one function, so that what several use has one name, and
// the same short one everywhere. The names of a module get its number, so that they stay
// its own:
//
//	const el$3 = …; const signal$3 = …;
//
// What is sent is this in few letters (shorten.go, inline.go, unwrap.go, collapse.go, names.go,
// own.go), with its functions in an order that is compressed well (order.go). The texts of the
// modules leave the scripts for files of their own (texts.go, words.go).
//
// The second bundle is a function of the modules of the first. So the first may carry the
// hash of the second in its name, and not the other way round.
const (
	firstBundle = "console.js"
	laterBundle = "screens.js"
	styleBundle = "screens.css"
)

// frameStyles are the style sheets of the frame and of the screens in it.
var frameStyles = []string{"frame.css", "parts.css", "inbox.css", "phone.css", "workshop.css"}

var (
	// staticImport is a statement that loads another module before this one runs.
	staticImport    = regexp.MustCompile(`(?m)^(?:import|export)\s[^"()=]*"(\.{1,2}/[^"]+)"`)
	importStatement = regexp.MustCompile(`(?m)^import\s+(?:([^"';]*?)\s+from\s+)?"([^"]+)";?$`)
	exportFrom      = regexp.MustCompile(`(?m)^export\s+\{\s*default\s*\}\s+from\s+"([^"]+)";?$`)
	exportDefault   = regexp.MustCompile(`(?m)^export default ((?:async )?function )(\w+)`)
	exportNames     = regexp.MustCompile(`(?m)^export (const \{\s*([\w,\s]+?)\s*\}|(?:const|class|function\*?|async function\*?) (\w+))`)
	laterImport     = regexp.MustCompile(`\bimport\("([^"]+)"\)`)
)

// bundler makes the bundles of the modules.
type bundler struct {
	sources map[string][]byte // of all files
	served  func(file string) string
	order   []string // the modules, each after those that it imports
	firsts  int      // how many of them are in the first bundle
	modules map[string]*module
	passed  []string // the names of the first bundle that the second uses
	loads   []string // the modules of the second that the first loads, as objects
	says    bool     // whether some module has texts with holes

	firstWords, laterWords words
}

// module is one as it is in a bundle.
type module struct {
	code     string
	exports  map[string]string // names of the bundle by those under which they are exported
	wholeFor []string          // the modules that want it as an object of what it exports
	texts    []string          // what it knows without code: tables and lists
	tables   []string          // the names of these in the bundle
	says     bool              // whether there are texts with holes
}

// newBundler puts some modules and what they import into the first bundle, and all that
// these load later into the second.
func newBundler(sources map[string][]byte, served func(string) string, first ...string) *bundler {
	b := &bundler{sources: make(map[string][]byte), served: served, modules: make(map[string]*module),
		firstWords: words{first: firstWords}, laterWords: words{first: laterWords}}
	for name, source := range sources {
		b.sources[name] = slim(source)
	}
	for _, name := range first {
		b.add(name)
	}

	b.firsts = len(b.order)
	for i := 0; i < len(b.order); i++ { // which grows by what is found
		module := b.order[i]
		for _, found := range laterImport.FindAllSubmatch(b.sources[module], -1) {
			b.add(beside(module, string(found[1])))
		}
	}
	for _, name := range b.order {
		b.modules[name] = &module{exports: make(map[string]string)}
	}
	b.loads = b.loadedLater()
	for _, name := range b.order {
		b.translate(name)
	}
	return b
}

// add adds a module after all that it imports.
func (b *bundler) add(name string) {
	if slices.Contains(b.order, name) {
		return
	}
	for _, found := range staticImport.FindAllSubmatch(b.sources[name], -1) {
		b.add(beside(name, string(found[1])))
	}
	b.order = append(b.order, name)
}

// beside is the file that a module names.
func beside(module, name string) string { return path.Join(path.Dir(module), name) }

// number is the one of a module in the bundles.
func (b *bundler) number(name string) int {
	i := slices.Index(b.order, name)
	if i < 0 {
		panic("console: " + name + " is in no bundle")
	}
	return i
}

// whole is what the object of all that a module exports is called in it.
const whole = "_"

// variable is the name in a bundle of what a module calls by some name. Nothing else can
// have it.
func (b *bundler) variable(module, name string) string {
	return fmt.Sprintf("%s$%d", name, b.number(module))
}

// object is the name of all that a module exports, for another.
func (b *bundler) object(name, by string) string {
	b.modules[name].wholeFor = append(b.modules[name].wholeFor, by)
	return b.variable(name, whole)
}

// later is the second bundle.
func (b *bundler) later() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "export default([%s])=>{\n%s", strings.Join(b.passed, ","), b.tables(b.order[b.firsts:]))
	for _, name := range b.order[b.firsts:] {
		b.write(&text, name)
	}
	fmt.Fprintf(&text, "return[%s]}\n", strings.Join(b.loads, ","))
	return text.Bytes()
}

// first is the first bundle, which loads the second by the name under which that one is
// served. What could not be loaded may be tried again.
func (b *bundler) first(later string) []byte {
	var text bytes.Buffer
	text.WriteString("(()=>{\n")
	fmt.Fprintf(&text, "let rest$;const later$=n=>(rest$??=import(\"./%s\")"+
		".then(b=>b.default([%s])).catch(e=>{rest$=undefined;throw e})).then(m=>m[n]);\n",
		later, strings.Join(b.passed, ","))
	if b.says {
		fmt.Fprintf(&text, sentencesCode, b.modules[countModule].exports["count"])
	}
	text.WriteString(b.tables(b.order[:b.firsts]))
	for _, name := range b.order[:b.firsts] {
		b.write(&text, name)
	}
	text.WriteString("})()\n")
	return text.Bytes()
}

// write writes a module, and the object of what it exports where somebody wants that.
func (b *bundler) write(text *bytes.Buffer, name string) {
	m := b.modules[name]
	fmt.Fprintf(text, "%s\n", m.code)
	if m.wholeFor == nil {
		return
	}

	var pairs []string
	short := newShortProperties()
	for _, exported := range slices.Sorted(maps.Keys(m.exports)) {
		if b.isWanted(name, exported) {
			pairs = append(pairs, short.of(exported)+":"+m.exports[exported])
		}
	}
	fmt.Fprintf(text, "const %s={%s};\n", b.variable(name, whole), strings.Join(pairs, ","))
}

// isWanted tells whether some module that wants all that another exports says what one export is called.
func (b *bundler) isWanted(name, exported string) bool {
	word := regexp.MustCompile(`\b` + exported + `\b`)
	return exported == "default" || slices.ContainsFunc(b.modules[name].wholeFor, func(by string) bool { return word.Match(b.sources[by]) })
}

// translate makes a module what it is in a bundle.
func (b *bundler) translate(name string) {
	source := string(b.sources[name])
	if found := uniqueName.FindString(source); found != "" {
		panic("console: " + name + " has " + found + ", which could be a name of the bundle")
	}
	m := b.modules[name]
	imported := make(map[string]string) // names of the bundle by those in this module

	source = exportFrom.ReplaceAllStringFunc(source, func(statement string) string {
		from := beside(name, exportFrom.FindStringSubmatch(statement)[1])
		m.exports["default"] = b.taken(name, from, "default")
		return ""
	})
	source = importStatement.ReplaceAllStringFunc(source, func(statement string) string {
		found := importStatement.FindStringSubmatch(statement)
		b.importNames(imported, name, beside(name, found[2]), found[1])
		return ""
	})
	source = exportDefault.ReplaceAllStringFunc(source, func(statement string) string {
		found := exportDefault.FindStringSubmatch(statement)
		m.exports["default"] = b.variable(name, found[2])
		return found[1] + found[2]
	})
	source = exportNames.ReplaceAllStringFunc(source, func(statement string) string {
		found := exportNames.FindStringSubmatch(statement)
		for _, exported := range strings.FieldsFunc(found[2]+found[3], func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
			m.exports[exported] = b.variable(name, exported)
		}
		return found[1]
	})

	source = laterImport.ReplaceAllStringFunc(source, func(call string) string {
		return b.loaded(beside(name, laterImport.FindStringSubmatch(call)[1]), name)
	})
	source = fileName.ReplaceAllStringFunc(source, func(quoted string) string {
		return `"./` + b.served(beside(name, strings.Trim(quoted, `"`))) + `"`
	})
	if strings.Contains("\n"+source, "\nexport ") || strings.Contains("\n"+source, "\nimport ") {
		panic("console: " + name + " imports or exports in a way that bundles do not know")
	}
	m.code = b.rename(name, source, imported)
}

// rename gives what a module declares and imports the names of the bundle, and takes its
// texts out.
func (b *bundler) rename(name, source string, imported map[string]string) (code string) {
	tree, err := ast.Parse(parse.NewInputString(source), ast.Options{})
	if err != nil {
		panic("console: " + name + " cannot be read: " + err.Error())
	}

	ast.Walk(newShortProperties(), tree)
	b.takeTexts(tree, name)
	for _, declared := range tree.Declared {
		declared.Data = []byte(b.variable(name, string(declared.Data)))
	}
	for _, foreign := range tree.Undeclared {
		if known, ok := imported[string(foreign.Data)]; ok {
			foreign.Data = []byte(known)
		}
	}
	elements := reshaped{builders: make(map[string]bool)}
	if dom := b.modules["dom.js"]; dom != nil {
		elements.builders[dom.exports["el"]], elements.builders[dom.exports["svg"]] = true, true
	}
	ast.Walk(elements, tree)
	return tree.JSString()
}

// reshaped changes what costs bytes and means nothing: const is written as let, which stands
// there already, and elements without properties need no null in their place. And {a} is
// written as {a:b} when a has got the name b.
type reshaped struct {
	builders map[string]bool // the names of the functions that build elements
}

func (r reshaped) Enter(node ast.INode) ast.IVisitor {
	switch n := node.(type) {
	case *ast.VarDecl:
		n.TokenType = ast.LetToken
	case *ast.CallExpr:
		name, ok := n.X.(*ast.Var)
		if args := n.Args.List; ok && r.builders[string(name.Name())] && len(args) > 2 && args[1].String() == "null" && !args[2].Rest {
			n.Args.List = slices.Delete(args, 1, 2)
		}
	case *ast.Property:
		if v, ok := n.Value.(*ast.Var); ok {
			for v.Link != nil {
				v = v.Link
			}
			n.Value = v
		}
	}
	return r
}

func (reshaped) Exit(ast.INode) {}

// importNames notes what a module takes from another: { a, b as c }, * as all, or what is
// its default.
func (b *bundler) importNames(imported map[string]string, by, from, names string) {
	switch {
	case names == "":
	case strings.HasPrefix(names, "{"):
		for _, pair := range strings.Split(strings.Trim(names, "{}"), ",") {
			if words := strings.Fields(pair); len(words) > 0 { // a, or b as c
				imported[words[len(words)-1]] = b.taken(by, from, words[0])
			}
		}
	case strings.HasPrefix(names, "* as "):
		imported[strings.TrimPrefix(names, "* as ")] = b.pass(by, from, b.object(from, by))
	default:
		imported[names] = b.taken(by, from, "default")
	}
}

// taken is the name in the bundle of what a module exports, for another.
func (b *bundler) taken(by, from, exported string) string {
	b.number(from)
	name, ok := b.modules[from].exports[exported]
	if !ok {
		panic("console: " + by + " wants " + exported + " of " + from + ", which exports no such thing")
	}
	return b.pass(by, from, name)
}

// pass notes a name that the second bundle needs of the first.
func (b *bundler) pass(by, from, name string) string {
	if b.number(by) >= b.firsts && b.number(from) < b.firsts && !slices.Contains(b.passed, name) {
		b.passed = append(b.passed, name)
	}
	return name
}

// loaded is what stands for the loading of a module by another: a promise of it.
func (b *bundler) loaded(wanted, by string) string {
	object := b.object(wanted, by)
	if b.number(wanted) < b.firsts || b.number(by) >= b.firsts {
		return "Promise.resolve(" + b.pass(by, wanted, object) + ")"
	}
	return fmt.Sprintf("later$(%d)", slices.Index(b.loads, object))
}

// loadedLater are the modules of the second bundle that the first loads, as objects, in the order in
// which they are sent.
func (b *bundler) loadedLater() (objects []string) {
	var names []string
	for _, by := range b.order[:b.firsts] {
		for _, found := range laterImport.FindAllSubmatch(b.sources[by], -1) {
			if name := beside(by, string(found[1])); b.number(name) >= b.firsts && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}

	slices.SortStableFunc(names, func(one, other string) int {
		return cmp.Compare(slices.Index(screenOrder, one), slices.Index(screenOrder, other))
	})
	for _, name := range names {
		objects = append(objects, b.variable(name, whole))
	}
	return objects
}
