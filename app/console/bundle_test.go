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
		"parts/a.js":       {Data: []byte("import { b } from \"../b.js\";\n/** Words. */\nexport function a() {\n  return b;\n}\nexport class E {}\n")},
		"screens/home.js":  {Data: []byte("import \"../b.js\";\nexport default function home() {}\n")},
		"screens/late.js":  {Data: []byte("import {\n  a,\n  E,\n} from \"../parts/a.js\";\nimport home from \"./home.js\";\nexport default async function late() {\n  return import(\"./other.js\");\n}\n")},
		"screens/other.js": {Data: []byte("export { default } from \"./home.js\";\n")},
		"icons.svg":        {Data: []byte("<svg/>")},
		"frame.css":        {Data: []byte("a { b: c }\n")}, "parts.css": {Data: []byte("d { e: f }\n")},
		"inbox.css": {}, "phone.css": {}, "workshop.css": {},
	})
	b.bundle("app.js", "screens/home.js")
	modules := newBundler(b.sources, b.all.name, "screens/home.js", "app.js")

	is.Equal(string(modules.first(b.all.name(laterBundle))), strings.Join([]string{
		`let rest;const later=()=>rest??=import("./` + b.all.name(laterBundle) + `").then(b=>b.default([m0,m1,m2,m3])).catch(e=>{rest=undefined;throw e});`,
		`const m0=(()=>{`, `const b = new URL("./` + b.all.name("icons.svg") + `", import.meta.url);`, `const { c, d } = b;`, `return{b,c,d}})();`,
		`const m1=(()=>{`, `function home() {}`, `return{default:home}})();`,
		`const m2=(()=>{`, `const{ b }=m0;`, `function a() {`, `return b;`, `}`, `class E {}`, `return{a,E}})();`,
		`const m3=(()=>{`, `const{ a:one }=m2;`, `const b=m0;`, `const open = () => later().then(m=>m.m4);`, `const again = () => Promise.resolve(m1);`, `return{}})();`,
		``,
	}, "\n"))
	is.Equal(string(modules.later()), strings.Join([]string{
		`export default([m0,m1,m2,m3])=>{`,
		`const m4=(()=>{`, `const{ a, E, }=m2;`, `const{default:home}=m1;`, `async function late() {`, `return Promise.resolve(m5);`, `}`, `return{default:late}})();`,
		`const m5=(()=>{`, ``, `return{default:m1.default}})();`,
		`return{m4,m5}}`,
		``,
	}, "\n"))
	is.Equal(string(b.all.byName[laterBundle].content), string(shorten(modules.later())))
	is.Equal(string(shorten([]byte("const f = (word) => {\n  return word + \"  \";\n};\n"))), `const f=e=>e+"  "`)
	is.Equal(string(b.all.byName[styleBundle].content), "a { b: c }\nd { e: f }\n")
}

func TestABundleRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, source := range []string{"export let a = 1;\n", "const a = 1;\nexport { a };\n", "export * from \"./b.js\";\n", "import a, { b } from './b.js';\n"} {
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
