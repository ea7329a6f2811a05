package console

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The modules of the console go to browsers in two files: one with all that the inbox
// needs, the other with the screens that are opened later. Sixty small files would
// compress a third worse, and each would be asked for.
//
// In a bundle each module is a function that is called once and returns what the module
// exports. So its names stay its own:
//
//	const m3=(()=>{ … return{el,signal}})();
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
	emptyLines      = regexp.MustCompile(`\n\s*\n+`)
)

// bundler makes the bundles of the modules.
type bundler struct {
	sources map[string][]byte // of all files
	served  func(file string) string
	order   []string // the modules, each after those that it imports
	firsts  int      // how many of them are in the first bundle
}

// newBundler puts some modules and what they import into the first bundle, and all that
// these load later into the second.
func newBundler(sources map[string][]byte, served func(string) string, first ...string) *bundler {
	b := &bundler{sources: make(map[string][]byte), served: served}
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

// variable is the name of a module in a bundle.
func (b *bundler) variable(module string) string {
	i := slices.Index(b.order, module)
	if i < 0 {
		panic("console: " + module + " is in no bundle")
	}
	return fmt.Sprintf("m%d", i)
}

// variables are those of some modules.
func (b *bundler) variables(modules []string) string {
	names := make([]string, len(modules))
	for i, module := range modules {
		names[i] = b.variable(module)
	}
	return strings.Join(names, ",")
}

// later is the second bundle.
func (b *bundler) later() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "export default([%s])=>{\n", b.variables(b.order[:b.firsts]))
	for _, module := range b.order[b.firsts:] {
		b.writeModule(&text, module)
	}
	fmt.Fprintf(&text, "return{%s}}\n", b.variables(b.order[b.firsts:]))
	return text.Bytes()
}

// first is the first bundle, which loads the second by the name under which that one is
// served. What could not be loaded may be tried again.
func (b *bundler) first(later string) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "let rest;const later=()=>rest??=import(\"./%s\").then(b=>b.default([%s])).catch(e=>{rest=undefined;throw e});\n",
		later, b.variables(b.order[:b.firsts]))
	for _, module := range b.order[:b.firsts] {
		b.writeModule(&text, module)
	}
	return text.Bytes()
}

// writeModule writes a module as the call of a function.
func (b *bundler) writeModule(text *bytes.Buffer, module string) {
	source := string(b.sources[module])
	var exports []string

	source = exportFrom.ReplaceAllStringFunc(source, func(statement string) string {
		from := exportFrom.FindStringSubmatch(statement)[1]
		exports = append(exports, "default:"+b.variable(beside(module, from))+".default")
		return ""
	})
	source = importStatement.ReplaceAllStringFunc(source, func(statement string) string {
		found := importStatement.FindStringSubmatch(statement)
		return b.importedNames(found[1], b.variable(beside(module, found[2])))
	})
	source = exportDefault.ReplaceAllStringFunc(source, func(statement string) string {
		found := exportDefault.FindStringSubmatch(statement)
		exports = append(exports, "default:"+found[2])
		return found[1] + found[2]
	})
	source = exportNames.ReplaceAllStringFunc(source, func(statement string) string {
		found := exportNames.FindStringSubmatch(statement)
		exports = append(exports, strings.Join(strings.Fields(found[2]+found[3]), ""))
		return found[1]
	})

	source = laterImport.ReplaceAllStringFunc(source, func(call string) string {
		return b.loaded(beside(module, laterImport.FindStringSubmatch(call)[1]), module)
	})
	source = fileName.ReplaceAllStringFunc(source, func(quoted string) string {
		return `"./` + b.served(beside(module, strings.Trim(quoted, `"`))) + `"`
	})
	if strings.Contains("\n"+source, "\nexport ") || strings.Contains("\n"+source, "\nimport ") {
		panic("console: " + module + " imports or exports in a way that bundles do not know")
	}
	source = strings.TrimSpace(emptyLines.ReplaceAllString(source, "\n"))
	fmt.Fprintf(text, "const %s=(()=>{\n%s\nreturn{%s}})();\n", b.variable(module), source, strings.Join(exports, ","))
}

// importedNames takes names from a module: { a, b as c }, * as all, or what is its default.
func (b *bundler) importedNames(names, variable string) string {
	switch {
	case names == "":
		return ""
	case strings.HasPrefix(names, "{"):
		return "const" + strings.ReplaceAll(strings.Join(strings.Fields(names), " "), " as ", ":") + "=" + variable + ";"
	case strings.HasPrefix(names, "* as "):
		return "const " + strings.TrimPrefix(names, "* as ") + "=" + variable + ";"
	default:
		return "const{default:" + names + "}=" + variable + ";"
	}
}

// loaded is what stands for the loading of a module by another: a promise of it.
func (b *bundler) loaded(wanted, by string) string {
	variable := b.variable(wanted)
	if slices.Index(b.order, wanted) >= b.firsts && slices.Index(b.order, by) < b.firsts {
		return "later().then(m=>m." + variable + ")"
	}
	return "Promise.resolve(" + variable + ")"
}
