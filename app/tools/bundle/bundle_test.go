package main

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/matryer/is"
)

func TestModulesAreBundledUnderNamesOfTheirContent(t *testing.T) {
	is := is.New(t)
	names := func(b string) (app, later, page string) {
		all, err := bundle([]fs.FS{fstest.MapFS{
			"app.js":          {Data: []byte("import { b } from \"./parts/b.js\";\nconsole.log(b, () => import(\"./later.js\"));")},
			"parts/b.js":      {Data: []byte("import icons from \"../icons.svg\";\n/** A comment. */\nexport const b = [icons, " + b + "];")},
			"later.js":        {Data: []byte("export default 1;")},
			"page.css":        {Data: []byte("@import \"./base.css\";\np { top: 0 }")},
			"base.css":        {Data: []byte("a { top: 0 }\n")},
			"icons.svg":       {Data: []byte("<svg/>")},
			"not_imported.js": {Data: []byte("import")},
		}}, "en", "app.js", "page.css")
		is.NoErr(err)

		name := func(prefix, ext string) string {
			for name := range all {
				if strings.HasPrefix(name, prefix+"-") && strings.HasSuffix(name, ext) {
					return name
				}
			}
			t.Fatalf("there is no %s%s in %v", prefix, ext, slices.Collect(maps.Keys(all)))
			return ""
		}
		app, later, page = name("app", ".js"), name("later", ".js"), name("page", ".css")
		icons := name("icons", ".svg")
		script := string(all[app])
		is.True(strings.Contains(script, `"./`+icons+`"`))
		is.True(strings.Contains(script, `import("./`+later+`")`))
		is.True(!strings.Contains(script, "comment"))
		is.Equal(string(all[icons]), "<svg/>")
		is.True(strings.Contains(string(all[page]), "a{top:0}p{top:0}"))
		is.True(strings.Contains(string(all[app+".map"]), `"sources": ["parts/b.js", "app.js"]`))
		return app, later, page
	}

	app, later, page := names("1")
	appAfter, laterAfter, pageAfter := names("2")
	is.True(app != appAfter)
	is.Equal(later, laterAfter)
	is.Equal(page, pageAfter)
}

func TestModulesThatCannotBeBundledAreNamed(t *testing.T) {
	for _, source := range []string{`import "./none.js";`, `import { b } from "./app.js"; b();`, "let a = ;"} {
		_, err := bundle([]fs.FS{fstest.MapFS{"app.js": {Data: []byte(source)}}}, "en", "app.js")
		if err == nil || !strings.Contains(err.Error(), "app.js") {
			t.Errorf("%s: %v", source, err)
		}
	}
}
