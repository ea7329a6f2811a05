package console

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"confab/jobs/language"
)

var (
	comment    = regexp.MustCompile(`(?s)/\*.*?\*/ ?`)
	literal    = regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\":?|`[^`]*`")
	key        = regexp.MustCompile(`("[^"]+"|\w+):\s`)
	firstKey   = regexp.MustCompile(`(?m)^  (\w+):`)
	function   = regexp.MustCompile(`^( *)("[^"]+"|\w+): \(([\w, ]+)\) => (.*)`)
	field      = regexp.MustCompile(`\{\{\w+`)
	pluralForm = regexp.MustCompile(`^(?:zero|one|two|few|many|other)$`)
	textImport = regexp.MustCompile(`import \{ ([\w, ]+) \} from "texts/(\w+\.js)"`)
)

// tables are those of a language's texts, by file and name, without comments.
func tables(files map[string]string, spoken string) map[string]string {
	all := make(map[string]string)
	for name, text := range files {
		if path.Dir(name) == "texts/"+spoken && path.Ext(name) == ".js" {
			for _, one := range strings.Split(comment.ReplaceAllString(text, ""), "export const ")[1:] {
				export, content, _ := strings.Cut(one, " = ")
				all[path.Base(name)+" "+export] = content
			}
		}
	}
	return all
}

// keysOf are the keys of a table at all depths, but for the forms of plurals, which languages have
// more or fewer of.
func keysOf(text string) (keys []string) {
	withoutTexts := literal.ReplaceAllStringFunc(text, func(one string) string {
		if strings.HasSuffix(one, ":") {
			return one
		}
		return ""
	})
	for _, found := range key.FindAllStringSubmatch(withoutTexts, -1) {
		if !pluralForm.MatchString(found[1]) {
			keys = append(keys, found[1])
		}
	}
	slices.Sort(keys)
	return keys
}

// unsaid are the parameters of a table's texts that do not occur in them. A text ends where a line is
// indented no more than its first.
func unsaid(text string) (params []string) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		found := function.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		body := found[4]
		for _, next := range lines[i+1:] {
			if !strings.HasPrefix(next, found[1]+"  ") {
				break
			}
			body += next
		}
		for param := range strings.SplitSeq(found[3], ", ") {
			if !regexp.MustCompile(`\b` + param + `\b`).MatchString(body) {
				params = append(params, param+" of "+found[2]+" is not said")
			}
		}
	}
	return params
}

func fieldsOf(text string) []string {
	return slices.Sorted(slices.Values(field.FindAllString(text, -1)))
}

func TestTextsOfAllLanguagesHaveTheSameKeysAndPlaces(t *testing.T) {
	files := allSources(t)
	english := tables(files, language.English)
	if len(english) < 80 {
		t.Fatalf("only %d tables were found", len(english))
	}

	for _, spoken := range language.All() {
		own := tables(files, spoken)
		for name, text := range own {
			for _, said := range unsaid(text) {
				t.Errorf("%s: %s: %s", spoken, name, said)
			}
			if english[name] == "" {
				t.Errorf("%s: there is no English %s", spoken, name)
			}
		}
		for name, text := range english {
			if own[name] == "" {
				t.Errorf("%s lacks %s", spoken, name)
				continue
			}
			if got, want := keysOf(own[name]), keysOf(text); !slices.Equal(got, want) {
				t.Errorf("%s: %s has the keys\n%q instead of\n%q", spoken, name, got, want)
			}
			if got, want := fieldsOf(own[name]), fieldsOf(text); !slices.Equal(got, want) {
				t.Errorf("%s: %s has the fields %q instead of %q", spoken, name, got, want)
			}
		}
	}
}

func TestEveryTextIsShown(t *testing.T) {
	files := allSources(t)
	english := tables(files, language.English)
	used := make(map[string]string) // what modules say after the name of a table
	for _, module := range files {
		for _, found := range textImport.FindAllStringSubmatch(module, -1) {
			for one := range strings.SplitSeq(found[1], ", ") {
				name, alias, renamed := strings.Cut(one, " as ")
				if !renamed {
					alias = name
				}
				for _, use := range regexp.MustCompile(`(?:[^.\w"]|\.\.\.)`+alias+`\b((?:\.|\[|\)|,|;|\})?\w*)`).FindAllStringSubmatch(module, -1) {
					if alias != "text" && !strings.HasPrefix(use[1], ".") {
						use[1] = "[" // all of it; the word "text" alone may be anything
					}
					used[found[2]+" "+name] += use[1] + "\n"
				}
				// Some are taken out of a table: const { away, close } = text.
				for _, use := range regexp.MustCompile(`\{ ([\w, :]+) \} = `+alias+`\b`).FindAllStringSubmatch(module, -1) {
					for part := range strings.FieldsFuncSeq(use[1], func(r rune) bool { return strings.ContainsRune(", :", r) }) {
						used[found[2]+" "+name] += "." + part + "\n"
					}
				}
			}
		}
	}

	for _, name := range slices.Sorted(maps.Keys(english)) {
		for _, found := range firstKey.FindAllStringSubmatch(english[name], -1) {
			if !strings.Contains(used[name], "."+found[1]+"\n") && !strings.Contains(used[name], "[") {
				t.Errorf("nobody says %s of %s", found[1], name)
			}
		}
	}
}
