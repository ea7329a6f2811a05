package rest

import (
	"net/http"
	"strings"

	"confab/storage"
)

const (
	// masked replaces what a log does not show.
	masked = "..."
	// Of a masked word that has at least minHinted characters the first few are shown: they
	// say which kind of secret it was, or what somebody has mistyped.
	minHinted, hintSize = 12, 4
	// maxPlain is how long a plain word may be.
	maxPlain = 14
)

// pathMask says what a log shows of a path. People write keys, tokens and passwords there by
// mistake, and those have no shape of their own. So it shows what is known to be none: the
// words of the routes, ids, numbers, and short plain words, which are mistyped ones. Nothing is
// unescaped: those have no escapes.
type pathMask struct {
	prefix string // of the path, shown as it is
	words  map[string]struct{}
	name   string // of something that exists, which the path names; "" if it does not
}

// wordsOf are the words in the paths of routes that do not stand for something else.
func wordsOf(routes []Route) map[string]struct{} {
	words := make(map[string]struct{})
	for _, rt := range routes {
		for word := range strings.SplitSeq(rt.Path, "/") {
			if !strings.HasPrefix(word, ":") {
				words[word] = struct{}{}
			}
		}
	}
	return words
}

// apply masks an escaped path, and cuts it off at max bytes.
func (m pathMask) apply(path string, max int) string {
	path = path[:min(len(path), max)]
	after := strings.TrimPrefix(path, m.prefix)
	isShown := true
	for word := range strings.SplitSeq(after, "/") {
		isShown = isShown && m.shows(word)
	}
	if isShown {
		return path // nearly every one, so it is not copied
	}

	words := strings.Split(after, "/")
	for i, word := range words {
		if !m.shows(word) {
			words[i] = maskWord(word)
		}
	}
	shown := path[:len(path)-len(after)] + strings.Join(words, "/")
	return shown[:min(len(shown), max)]
}

// shows reports whether a word of a path is shown.
func (m pathMask) shows(word string) bool {
	if isNumber(word) || isID(word) || isPlain(word) {
		return true
	}
	_, found := m.words[word]
	return found || word == m.name
}

// isNumber reports whether a word may be a number of the provider or of a job, or is empty.
func isNumber(word string) bool { return len(word) <= 20 && strings.Trim(word, "0123456789") == "" }

// isPlain reports whether a word is a short one of small letters. No secret of ours is.
func isPlain(word string) bool {
	return len(word) <= maxPlain && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_-") == ""
}

// isID reports whether a word has the shape of our ids. They begin with the time, and so for
// a thousand years with 0, which tokens of the sandbox never have.
func isID(word string) bool {
	prefix := strings.IndexByte(word, '_') + 1
	if prefix < 4 || prefix > 5 || prefix == len(word) || word[prefix] != '0' {
		return false
	}
	return storage.ValidID(word[:prefix], word)
}

func maskWord(word string) string {
	if len(word) < minHinted {
		return masked
	}
	return word[:hintSize] + masked
}

// LoggedMethod is a method for the logs: a client may send any word, of any length, and a
// secret too.
func LoggedMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return method
	}
	return maskWord(method)
}
