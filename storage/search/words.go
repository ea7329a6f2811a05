package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"confab/storage/sqlite"
)

// What a message says is searched word by word. A word is a run of letters, digits and
// the marks on them, without regard to case and accents. Scripts that put no spaces
// between words are taken character by character: each is a word, and a run of them in a
// query is a phrase. The index and the search without it share these rules.

const (
	// maxWord is how many bytes of a word count, and maxWords how many words of a text.
	maxWord, maxWords = 64, 16 << 10

	// Marks that no word begins with: that of a property of the message, and what
	// separates two texts, so that no phrase reaches over both.
	propertyMark, textEnd = "\uE000", "\uE001"
)

// letters that are written with a stroke or joined, which have no accent to be taken off.
var plainLetters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d",
	"ð", "d", "þ", "th", "ł", "l", "ħ", "h", "ı", "i")

// accents are the marks that do not matter. Others, as the vowels of Indian scripts, do.
var accents = &unicode.RangeTable{R16: []unicode.Range16{
	{0x0300, 0x036F, 1}, {0x0483, 0x0487, 1}, {0x0591, 0x05C7, 1}, {0x0610, 0x061A, 1}, {0x064B, 0x065F, 1}, {0x0670, 0x0670, 1},
	{0x06D6, 0x06ED, 1}, {0x1AB0, 0x1AFF, 1}, {0x1DC0, 0x1DFF, 1}, {0x200C, 0x200D, 1},
	{0x20D0, 0x20FF, 1}, {0xFE00, 0xFE0F, 1}, {0xFE20, 0xFE2F, 1},
}}

var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// Fold is a text as it is searched: without case and accents.
func Fold(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return strings.ToLower(text)
	}

	plain := strings.Map(func(r rune) rune {
		if unicode.Is(accents, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(strings.ToValidUTF8(text, " ")))
	return plainLetters.Replace(sqlite.Fold(norm.NFC.String(plain)))
}

// nextWord cuts the first word off a folded text; "" if there is none. joined says that
// it is a character of a script without spaces, and that nothing came before it.
func nextWord(text string) (word, rest string, joined bool) {
	start := strings.IndexFunc(text, isWordRune)
	if start < 0 {
		return "", "", false
	}

	joined = start == 0
	text = text[start:]
	first, size := utf8.DecodeRuneInString(text)
	if unicode.In(first, unspaced...) {
		end := size + markedLength(text[size:])
		return text[:end], text[end:], joined
	}

	end := strings.IndexFunc(text, func(r rune) bool { return !isWordRune(r) || unicode.In(r, unspaced...) })
	if end < 0 {
		end = len(text)
	}
	return shorten(text[:end]), text[end:], false
}

func markedLength(text string) int {
	for i, r := range text {
		if !unicode.Is(unicode.M, r) || i > maxWord/2 {
			return i
		}
	}
	return len(text)
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.M)
}

// shorten cuts a word to the bytes that count, between two characters.
func shorten(word string) string {
	if len(word) <= maxWord {
		return word
	}
	end := maxWord
	for !utf8.RuneStart(word[end]) {
		end--
	}
	return word[:end]
}

// wordsOf are the words of some texts, with textEnd between two of those.
func wordsOf(texts ...string) (words []string) {
	for _, text := range texts {
		if text == "" {
			continue
		}
		if len(words) > 0 {
			words = append(words, textEnd)
		}

		word, rest, _ := nextWord(Fold(text))
		for ; word != "" && len(words) < maxWords; word, rest, _ = nextWord(rest) {
			words = append(words, word)
		}
	}
	return words
}

// quotes are those that people's keyboards write instead of the plain one.
var quotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`)

// term is what has to be found: a word, or several one after the other.
type term struct {
	words    []string
	isPrefix bool // the last word may go on
}

// parseQuery reads a search text. Every text is a query: anything neither word
// nor quote means nothing. The last word may go on, unless a quote has ended it.
func parseQuery(query string) (terms []term) {
	parts := strings.Split(Fold(quotes.Replace(query)), `"`)
	for i, part := range parts {
		inQuotes := i%2 == 1
		isLast := i == len(parts)-1
		terms = append(terms, parseTerms(part, inQuotes, isLast)...)
	}

	return terms
}

// parseTerms reads the part of a query that is within quotes, or between them.
func parseTerms(part string, inQuotes, isLast bool) (terms []term) {
	word, rest, joined := nextWord(part)
	for first := true; word != ""; first = false {
		if last := len(terms) - 1; !first && (inQuotes || joined && isUnspaced(terms[last].words)) {
			terms[last].words = append(terms[last].words, word)
		} else {
			terms = append(terms, term{words: []string{word}})
		}
		word, rest, joined = nextWord(rest)
	}

	if len(terms) > 0 && isLast {
		terms[len(terms)-1].isPrefix = true
	}
	return terms
}

func isUnspaced(words []string) bool {
	first, _ := utf8.DecodeRuneInString(words[len(words)-1])
	return unicode.In(first, unspaced...)
}

func (t term) isIn(words []string) bool {
	last := len(t.words) - 1
	for i := range len(words) - last {
		end := words[i+last]
		matches := end == t.words[last] || t.isPrefix && strings.HasPrefix(end, t.words[last])
		if matches && slices.Equal(words[i:i+last], t.words[:last]) {
			return true
		}
	}
	return false
}

// IsEmpty reports whether a query looks for nothing.
func IsEmpty(query string) bool { return len(parseQuery(query)) == 0 }

// Says reports whether some texts say what a query looks for: each of its terms.
func Says(query string, texts ...string) bool {
	terms, words := parseQuery(query), wordsOf(texts...)
	isMissing := func(t term) bool { return !t.isIn(words) }
	return len(terms) > 0 && !slices.ContainsFunc(terms, isMissing)
}
