package rules

import (
	"encoding/json"
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

// says reports whether a folded text holds one of some words, in the way that a condition
// demands.
func says(text string, c storage.RuleText) bool {
	return slices.ContainsFunc(c.Any, func(word string) bool {
		word = Fold(word)
		switch *c.Match {
		case "equals":
			return whole(text) == whole(word)
		case "starts_with":
			return strings.HasPrefix(text, word)
		}
		return hasWord(text, word)
	})
}

// hasWord reports whether a word, or several, stands in a text: not as a part of another.
func hasWord(text, word string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 || word == "" {
			return false
		}

		start, end := at+i, at+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		first, _ := utf8.DecodeRuneInString(word)
		last, size := utf8.DecodeLastRuneInString(word)
		if !(isWord(before) && isWord(first)) && !(isWord(last) && isWord(after)) {
			return true
		}
		at = start + max(1, len(word)-size)
		for at < len(text) && !utf8.RuneStart(text[at]) {
			at++
		}
	}
}

// isWord reports whether a character is a part of a word.
func isWord(r rune) bool {
	return r != utf8.RuneError && unicode.In(r, unicode.L, unicode.N, unicode.M)
}

// OptOut are the words by which people end and resume marketing at a number.
type OptOut struct {
	Enabled    *bool    `json:"enabled"`
	Stop       []string `json:"stop"`
	Start      []string `json:"start"`
	StopReply  *string  `json:"stop_reply"`
	StartReply *string  `json:"start_reply"`
}

// DefaultOptOut are the words of a number that has chosen none, switched off.
func DefaultOptOut() OptOut {
	return OptOut{
		Enabled: new(bool),
		Stop:    []string{"STOP", "UNSUBSCRIBE", "BAJA", "PARAR", "SAIR", "BERHENTI", "STOPP", "ARRET", "إلغاء"},
		Start:   []string{"START", "SUBSCRIBE", "ALTA", "REANUDAR", "VOLTAR", "MULAI", "WEITER", "REPRENDRE", "اشتراك"},
	}
}

// ParseOptOut reads the words of a number.
func ParseOptOut(stored storage.JSON) (OptOut, error) {
	o := DefaultOptOut()
	if stored == nil {
		return o, nil
	}
	o.StopReply, o.StartReply = nil, nil
	return o, json.Unmarshal(stored, &o)
}

// What an opt-out word means.
const (
	Stop  = "stop"
	Start = "start"
)

// Meaning is what a text means: Stop, Start, or "" if it is no such word. The whole text must be
// the word.
func (o OptOut) Meaning(text string) string {
	if !*o.Enabled {
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
