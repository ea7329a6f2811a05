// Package language is about the languages that people read: which there are, which suits a
// browser, and what a sentence of the server is in each. The screens of the console have texts
// of their own.
package language

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"sync"

	"golang.org/x/text/language"
)

// English is for those who read none of the others.
const English = "en"

// All lists the languages.
func All() []string { return []string{English, "es", "pt-BR", "id", "ar"} }

// Direction is that of the writing, as HTML names it.
func Direction(name string) string {
	if name == "ar" {
		return "rtl"
	}
	return "ltr"
}

// matcher has the languages in the order of All.
var matcher = language.NewMatcher([]language.Tag{
	language.English, language.Spanish, language.BrazilianPortuguese, language.Indonesian, language.Arabic,
})

// Accepted is the language that suits an Accept-Language header best.
func Accepted(header string) string {
	_, i := language.MatchStrings(matcher, header)
	return All()[i]
}

//go:embed sentences
var files embed.FS

// sentences are all that the server says, by language and English sentence.
var sentences = sync.OnceValue(func() map[string]map[string]string {
	all := make(map[string]map[string]string)
	for _, name := range All()[1:] {
		text, err := files.ReadFile("sentences/" + name + ".json")
		if err != nil {
			panic(err) // it is embedded
		}
		var of map[string]string
		if err := json.Unmarshal(text, &of); err != nil {
			panic(err)
		}
		all[name] = of
	}
	return all
})

// Say says an English sentence in a language, with args in the place of its verbs.
func Say(name, english string, args ...any) string {
	sentence := cmp.Or(sentences()[name][english], english)
	if len(args) == 0 {
		return sentence
	}
	return fmt.Sprintf(sentence, args...)
}
