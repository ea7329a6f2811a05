package console

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/matryer/is"

	"confab/app/theme"
)

func TestModulesAreBundled(t *testing.T) {
	is := is.New(t)
	b := newAssetBuilder(fstest.MapFS{
		"app.js":           {Data: []byte("import { a as one } from \"./parts/a.js\";\nimport * as b from \"./b.js\";\nconst open = () => import(\"./screens/late.js\");\n\n\nconst again = () => import(\"./screens/home.js\");\n")},
		"b.js":             {Data: []byte("export const b = new URL(\"./icons.svg\", import.meta.url);\nexport const { c, d } = b;\n")},
		"parts/a.js":       {Data: []byte("import { b } from \"../b.js\";\n/** Words. */\nexport function a() {\n  return { b };\n}\nexport class E {}\n")},
		"screens/home.js":  {Data: []byte("import \"../b.js\";\nexport default function home() {}\n")},
		"screens/late.js":  {Data: []byte("import {\n  a,\n  E,\n} from \"../parts/a.js\";\nimport home from \"./home.js\";\nconst text = { one: \"One \\\"row\\\"\", many: (n) => n + \" rows\", kinds: { a: [\"A\", 'B'] } };\nexport default async function late() {\n  return import(\"./other.js\");\n}\n")},
		"screens/other.js": {Data: []byte("export { default } from \"./home.js\";\n")},
		"icons.svg":        {Data: []byte("<svg/>")},
		"frame.css":        {Data: []byte("a { b: c }\n")}, "parts.css": {Data: []byte("d { e: f }\n")},
		"inbox.css": {}, "phone.css": {}, "workshop.css": {},
	})
	b.bundle("app.js", "screens/home.js")
	modules := newBundler(b.sources, b.all.name, "screens/home.js", "app.js")

	is.Equal(string(modules.first(b.all.name(laterBundle))), strings.Join([]string{
		`(()=>{`,
		`let rest$;const later$=()=>rest$??=import("./` + b.all.name(laterBundle) + `").then(b=>b.default([a$2,E$2,home$1])).catch(e=>{rest$=undefined;throw e});`,
		`const b$0 = new URL("./` + b.all.name("icons.svg") + `", import.meta.url);`, `const {c: c$0, d: d$0} = b$0;`, `const $0={b:b$0,c:c$0,d:d$0};`,
		`function home$1() {}`, `const $1={default:home$1};`,
		`function a$2() {`, `    return {b: b$0};`, `}`, `class E$2 {}`,
		`const open$3 = () => {`, `    return later$().then((m) => {`, `        return m.$4;`, `    });`, `};`,
		`const again$3 = () => {`, `    return Promise.resolve($1);`, `};`,
		`})()`, ``,
	}, "\n"))
	is.Equal(string(modules.later()), strings.Join([]string{
		`export default given$=>{const[a$2,E$2,home$1]=given$;`,
		`const text$4 = {...T$["screens/late"], many: (n) => {`, `    return n + " rows";`, `}};`,
		`async function late$4() {`, `    return Promise.resolve($5);`, `}`, `const $4={default:late$4};`,
		``, `const $5={default:home$1};`,
		`return{$4,$5}}`, ``,
	}, "\n"))
	is.Equal(string(b.all.byName[laterTexts].content), `{"screens/late":{"one":"One \"row\"","kinds":{"a":["A","B"]}}}`)
	is.Equal(string(b.all.byName[firstTexts].content), `{}`)
	is.Equal(string(b.all.byName[laterBundle].content), `import T$ from"./`+b.all.name(laterTexts)+`"with{type:"json"};`+string(shorten(modules.later())))
	is.Equal(string(shorten([]byte("const f = (word) => {\n  return word + \"  \";\n};\n"))), `const f=e=>e+"  "`)
	is.Equal(string(b.all.byName[styleBundle].content), "a { b: c }\nd { e: f }\n")
}

func TestABundleRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, source := range []string{"export let a = 1;\n", "import { none } from \"./b.js\";\n", "const a = 1;\nexport { a };\n", "export * from \"./b.js\";\n", "import a, { b } from './b.js';\n"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("nobody complained of %q", source)
				}
			}()
			newBundler(map[string][]byte{"a.js": []byte(source), "b.js": nil}, nil, "a.js").first("")
		}()
	}
}

// Every module that a page can need is in a bundle, and in one only. The page of a simulator
// alone begins with solo.js, and loads its modules one by one.
func TestEveryModuleIsBundledOnce(t *testing.T) {
	b := newAssetBuilder(theme.Files, os.DirFS("assets"))
	bundled := len(newBundler(b.sources, b.all.name, screenModule("inbox"), "app.js").order)

	modules := 0
	for name := range b.sources {
		if strings.HasSuffix(name, ".js") && name != "theme.js" && name != "solo.js" {
			modules++
		}
	}
	if bundled != modules {
		t.Errorf("%d of %d modules are bundled", bundled, modules)
	}
}
