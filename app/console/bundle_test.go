package console

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/matryer/is"

	"confab/app/theme"
)

func TestModulesAreBundled(t *testing.T) {
	is := is.New(t)
	b := newAssetBuilder(fstest.MapFS{
		"app.js":           {Data: []byte("import { a as one } from \"./parts/a.js\";\nimport * as b from \"./b.js\";\nimport \"./dom.js\";\nimport \"./format.js\";\nconst open = () => import(\"./screens/late.js\");\n\n\nconst again = () => import(\"./screens/home.js\");\n")},
		"b.js":             {Data: []byte("export const b = new URL(\"./icons.svg\", import.meta.url);\nexport const { c, d } = b;\n")},
		"parts/a.js":       {Data: []byte("import { b } from \"../b.js\";\n/** Words. */\nexport function a() {\n  return { b };\n}\nexport class E {}\n")},
		"screens/home.js":  {Data: []byte("import \"../b.js\";\nexport default function home() {}\n")},
		"screens/late.js":  {Data: []byte("import { el } from \"../dom.js\";\nimport { count } from \"../format.js\";\nimport {\n  a,\n  E,\n} from \"../parts/a.js\";\nimport home from \"./home.js\";\nconst text = { one: \"One \\\"row\\\"\", many: (n) => n + \" rows\", kinds: { a: [\"A\", 'B'] }, of: (a, b) => `${a} of ${count(b)}`, now: (a) => \"Now \" + a, sum: (a, b) => a + b + \"%\" };\nconst long = [\"what a module knows without code\", \"is data too\"];\nconst say = (a) => el(\"p\", null, text.one, text.of(1, 2), text.kinds.a, text.sum(1, 2), ...long);\nexport default async function late() {\n  return import(\"./other.js\");\n}\n")},
		"screens/other.js": {Data: []byte("export { default } from \"./home.js\";\n")},
		"dom.js":           {Data: []byte("export const el = (tag, props, ...children) => children;\n")},
		"format.js":        {Data: []byte("export const count = (n) => String(n);\n")},
		"icons.svg":        {Data: []byte("<svg/>")},
		"frame.css":        {Data: []byte("a { b: c }\n")}, "parts.css": {Data: []byte("d { e: f }\n")},
		"inbox.css": {}, "phone.css": {}, "workshop.css": {},
	})
	b.bundle("app.js", "screens/home.js")
	b.bundleStyles()
	modules := newBundler(b.sources, b.all.name, "screens/home.js", "app.js")

	is.Equal(string(modules.first(b.all.name(laterBundle))), strings.Join([]string{
		`(()=>{`,
		`let rest$;const later$=n=>(rest$??=import("./` + b.all.name(laterBundle) + `").then(b=>b.default([el$3,count$4,a$2,E$2,home$1,S$])).catch(e=>{rest$=undefined;throw e})).then(m=>m[n]);`,
		strings.TrimSpace(fmt.Sprintf(sentencesCode, "count$4")), `let[]=T$;`,
		`let b$0 = new URL("./` + b.all.name("icons.svg") + `", import.meta.url);`, `let {c: c$0, d: d$0} = b$0;`, `const _$0={b:b$0};`,
		`function home$1() {}`, `const _$1={default:home$1};`,
		`function a$2() {`, `    return {b: b$0};`, `}`, `class E$2 {}`,
		`let el$3 = (tag, props, ...children) => {`, `    return children;`, `};`,
		`let count$4 = (n) => {`, `    return String(n);`, `};`,
		`let open$5 = () => {`, `    return later$(0);`, `};`,
		`let again$5 = () => {`, `    return Promise.resolve(_$1);`, `};`,
		`})()`, ``,
	}, "\n"))
	is.Equal(string(modules.later()), strings.Join([]string{
		`export default([el$3,count$4,a$2,E$2,home$1,S$])=>{`, `let[long$6,text$2000]=S$(T$);`,
		`let text$6 = {e: (a, b) => {`, `    return a + b + "%";`, `}};`,
		`;`,
		`let say$6 = (a) => {`, `    return el$3("p", text$2000.e, text$2000.n(1, 2), text$2000.t, text$6.e(1, 2), ...long$6);`, `};`,
		`async function late$6() {`, `    return Promise.resolve(_$7);`, `}`, `const _$6={default:late$6};`,
		``, `const _$7={default:home$1};`,
		`return[_$6]}`, ``,
	}, "\n"))
	is.Equal(string(b.all.byName[laterTexts].content), `[["what a module knows without code","is data too"],{"e":"One \"row\"","t":["A","B"],"n":"%0 of %#1"}]`)
	is.Equal(string(b.all.byName[firstTexts].content), `[]`)
	is.Equal(string(b.all.byName[laterBundle].content), `import T$ from"./`+b.all.name(laterTexts)+`"with{type:"json"};`+string(shorten(modules.later(), laterOrder)))
	is.Equal(string(b.all.byName[styleBundle].content), "a { b: c }\nd { e: f }\n")
}

func TestScriptsAreWrittenInFewLetters(t *testing.T) {
	scripts := map[string]string{
		"const f = (word) => {\n  return word + \"  \";\n};\n": `let f=e=>e+"  "`,
		// functions become arrow functions, and can still be called from above
		"const a = f(1);\nfunction f(word) {\n  return word + later();\n}\nasync function later() {\n  await a;\n}": "let f=e=>e+later(),later=async()=>{await a},a=f(1)",
		// but for those that cannot be such
		"function f() {\n  return this.a + g(...arguments);\n}\nfunction g() {\n  return arguments;\n}\nfunction* h() {}": "function f(){return this.a+g(...arguments)}function g(){return arguments}function*h(){}",
		// names are used again where what has them is not, and what is of others keeps its own
		"(() => {\n  const one = e, two = (word) => ({ word, one, two: (n) => n + word });\n  return { two };\n})()": "(()=>{let t=e;return{two:e=>({word:e,one:t,two:t=>t+e})}})()",
		// what is used once is written where it is used
		"(() => {\n  const most = 1000, few = 5;\n  return [most, few + few];\n})()":                      "(()=>[1e3,5+5])()",
		"(() => {\n  const twice = (n) => n + n;\n  return (m) => twice(m);\n})()":                        "(()=>e=>e+e)()",
		"(() => {\n  const twice = (n) => n + n;\n  return () => twice(next());\n})()":                    "(()=>()=>{let e=next();return e+e})()",
		"(() => {\n  let m = 1;\n  const twice = (n) => () => n;\n  m++;\n  return () => twice(m);\n})()": "(()=>{let e=1;return e++,()=>{let t=e;return()=>t}})()",
		"(() => {\n  const f = (n) => {\n    n++;\n    return n;\n  };\n  return (m) => f(m);\n})()":      "(()=>e=>{let t=e;return t++,t})()",
		"(() => {\n  const f = async (n) => {\n    await n;\n  };\n  return (m) => f(m);\n})()":           "(()=>async e=>{await e})()",
		"(() => {\n  const heard = () => 1;\n  on(heard);\n  return () => off(heard);\n})()":              "(()=>{let e=()=>1;return on(e),()=>off(e)})()",
		// also a value, if nothing else is done or read before it is used, and it is certain to be
		"async (a) => {\n  const made = await post(a);\n  const row = rowOf(made);\n  list.append(row);\n}":        "async e=>{list.append(rowOf(await post(e)))}",
		"(a) => {\n  const first = f(a), second = f(a.b);\n  return [1, first, () => a, second];\n}":               "e=>[1,f(e),()=>e,f(e.b)]",
		"(a) => {\n  const first = f(a), second = g(a);\n  return [second, first];\n}":                             "e=>{let t=f(e);return[g(e),t]}",
		"(a) => {\n  const made = f();\n  return [a.b, made];\n}":                                                  "e=>{let t=f();return[e.b,t]}",
		"(a) => {\n  const made = f();\n  return a ? made : a?.g(1);\n}":                                           "e=>{let t=f();return e?t:e?.g(1)}",
		"(a) => {\n  const b = a.b;\n  if (a.c) return b;\n  return a.d(1);\n}":                                    "e=>e.c?e.b:e.d(1)",
		"(a) => {\n  const b = a.b;\n  f();\n  return b;\n}":                                                       "e=>{let t=e.b;return f(),t}",
		"(a) => {\n  const b = a + 1;\n  f();\n  return b;\n}":                                                     "e=>(f(),e+1)",
		"(a) => {\n  const made = f();\n  a?.b(made);\n  const more = f();\n  a?.(more);\n}":                       "e=>{let t=f();e?.b(t);let n=f();e?.(n)}",
		"(a) => {\n  const made = f();\n  for (const one of made) a(one);\n}":                                      "e=>{for(let t of f())e(t)}",
		"(a) => {\n  const made = f();\n  while (a()) a(made);\n}":                                                 "e=>{let t=f();for(;e();)e(t)}",
		"(a) => {\n  const made = f();\n  try {\n    a(made);\n  } catch {}\n}":                                    "e=>{let t=f();try{e(t)}catch{}}",
		"(a) => {\n  const made = f();\n  return () => a(made);\n}":                                                "e=>{let t=f();return()=>e(t)}",
		"(a) => {\n  let b = 1;\n  const made = f(() => b++);\n  return [b, made];\n}":                             "e=>{let t=1,n=f(()=>t++);return[t,n]}",
		"(a) => {\n  const { b } = a;\n  const made = f();\n  const { c } = a;\n  a.d = made;\n  return b + c;\n}": "e=>{let{b:t}=e,n=f(),{c:s}=e;return e.d=n,t+s}",
		// what a function that is called at once is given moves into it, and it into the one around it
		"(() => {\n  const f = (a, b, c) => {\n    a(1);\n    return a(b, c);\n  };\n  return (d) => f(d, 2, d.e());\n})()":      "(()=>e=>{let t=e.e();return e(1),e(2,t)})()",
		"(() => {\n  const f = (a, b) => a(a, b);\n  return (d) => [f(d, d.e())];\n})()":                                         "(()=>e=>[e(e,e.e())])()",
		"(() => {\n  const f = async ({ a }) => {\n    await a;\n  };\n  return [(d) => f(d), async (d) => f(d)];\n})()":         "(()=>{let e=async({a:e})=>{await e};return[t=>e(t),async t=>e(t)]})()",
		"(() => {\n  const write = (document) => open(document);\n  const open = () => document;\n  return [write, open];\n})()": "(()=>{let e=()=>document;return[t=>e(t),e]})()",
	}

	for script, short := range scripts {
		if got := string(shorten([]byte(script), nil)); got != short {
			t.Errorf("%s\nis %s\nand not %s", script, got, short)
		}
	}
}

func TestFunctionsOfABundleAreInTheirOrder(t *testing.T) {
	var script strings.Builder
	script.WriteString("(() => {\n  const all = [];\n")
	for i := range 60 {
		fmt.Fprintf(&script, "  function f%[2]c%[3]c$1() {\n    return [\"%[1]d\", f%[2]c%[3]c$1, f%[2]c%[3]c$1];\n  }\n", i, 'a'+i/26, 'a'+i%26)
	}
	script.WriteString("  all.push(fab$1);\n})()\n")

	got := string(shorten([]byte(script.String()), []string{"fcd", "faz", "none", "fab"}))
	rest := got
	for _, next := range []string{`["55"`, `["25"`, `["1"`, `["0"`, `["2"`, `["59"`, "[]", "push"} {
		_, after, ok := strings.Cut(rest, next)
		if !ok {
			t.Fatalf("%s is not where it should be in %s", next, got)
		}
		rest = after
	}
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

// Properties that get short names are of the modules alone: what the API sends, takes or keeps has
// none of them, and no module asks for one by a text. That none of them is used of what browsers
// bring along is seen by all tests in a browser, which run what is sent.
func TestOwnNamesAreOnlyOurs(t *testing.T) {
	own := make(map[string]bool)
	for _, name := range ownNames {
		if own[name] {
			t.Errorf("%s is there twice", name)
		}
		own[name] = true
	}
	complain := func(pattern *regexp.Regexp, root, extension string) {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, extension) || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, found := range pattern.FindAllSubmatch(text, -1) {
				if own[string(found[1])] {
					t.Errorf("%s has %s", path, found[0])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	complain(regexp.MustCompile(`"(\w+)"`), "../api", "openapi.json")
	complain(regexp.MustCompile(`json:"(\w+)`), "../..", ".go")
	complain(regexp.MustCompile(`"(\w+)":`), "../simulator", ".go")
	complain(regexp.MustCompile("(?:^|[^:] |\\[)[\"'`](\\w+)[\"'`]"), "assets", ".js") // and not as in role: "cell"
}
