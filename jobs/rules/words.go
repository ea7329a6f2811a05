package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"confab/storage"
)

// Fold is a text as words are compared with it: without case, accents, marks of direction and
// joiners, trimmed, and with one space where there are several.
func Fold(text string) string {
	plain := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || r == 'ـ' { // the tatweel stretches Arabic words
			return -1
		}
		return r
	}, storage.FoldText(text))
	return strings.Join(strings.Fields(plain), " ")
}

// whole is a folded text without its closing punctuation, unless it is nothing else.
func whole(text string) string {
	cut := strings.TrimRightFunc(text, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) })
	if cut == "" {
		return text
	}
	return cut
}

// says reports whether a folded text holds one of the words of a condition, in its way.
func says(text string, c storage.RuleText) bool {
	return slices.ContainsFunc(c.Any, func(word string) bool {
		word = Fold(word)
		switch {
		case word == "": // it had nothing but accents
			return false
		case *c.Match == "equals":
			return whole(text) == whole(word)
		case *c.Match == "starts_with":
			return strings.HasPrefix(text, word)
		}
		return hasWord(text, word)
	})
}

// hasWord reports whether a word, or several, stands in a text: not as a part of another.
func hasWord(text, word string) bool {
	first, size := utf8.DecodeRuneInString(word)
	last, _ := utf8.DecodeLastRuneInString(word)
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}

		start := at + i
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[start+len(word):])
		if !(isWord(before) && isWord(first)) && !(isWord(last) && isWord(after)) {
			return true
		}
		at = start + size
	}
}

// isWord reports whether a character goes on with the word beside it. Those of scripts that put no
// spaces between words do not.
func isWord(r rune) bool {
	return r != utf8.RuneError && unicode.In(r, unicode.L, unicode.N, unicode.M) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// DefaultOptOut are the words of a number that has chosen none, switched off.
func DefaultOptOut() storage.OptOut {
	return storage.OptOut{
		Enabled: new(bool),
		Stop:    []string{"STOP", "UNSUBSCRIBE", "BAJA", "PARAR", "SAIR", "BERHENTI", "STOPP", "ARRET", "إلغاء"},
		Start:   []string{"START", "SUBSCRIBE", "ALTA", "REANUDAR", "VOLTAR", "MULAI", "WEITER", "REPRENDRE", "اشتراك"},
	}
}

// What an opt-out word means.
const (
	Stop  = "stop"
	Start = "start"
)

// Meaning is Stop or Start if the whole text is such a word, or else "".
func Meaning(o *storage.OptOut, text string) string {
	if o == nil || !*o.Enabled {
		return ""
	}

	said := whole(Fold(text))
	is := func(word string) bool { return said != "" && whole(Fold(word)) == said }
	switch {
	case slices.ContainsFunc(o.Stop, is):
		return Stop
	case slices.ContainsFunc(o.Start, is):
		return Start
	}
	return ""
}
