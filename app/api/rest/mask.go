package rest

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"confab/storage"
)

const (
	// masked replaces a secret in a log.
	masked = "..."
	// minMasked is the length of the shortest path with a whole secret: /v1/ and a setup token.
	minMasked = 32
)

// longWord finds what may be a token without a name of its own: of a session, an invitation
// or the provider.
var longWord = regexp.MustCompile(`[A-Za-z0-9_-]{` + strconv.Itoa(minLongWord) + `,}`)

const minLongWord = 32

// hasLongWord reports whether longWord would find something. Every request asks, and an
// expression takes a tenth of its time.
func hasLongWord(path string) bool {
	n := 0
	for _, c := range []byte(path) {
		n++
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			n = 0
		}
		if n == minLongWord {
			return true
		}
	}
	return false
}

// maskPath masks secrets in an escaped path. They do not belong there, but people write them
// there by mistake. However a secret is escaped, it is found; a path without one stays as it
// is.
func maskPath(escaped string) string {
	if len(escaped) < minMasked {
		return escaped
	}

	path, isWhole := unescapeAll(escaped[:min(len(escaped), maxMaskedPath)])
	plain := maskNamed(path)
	if hasLongWord(plain) {
		plain = longWord.ReplaceAllStringFunc(plain, maskWord)
	}
	if isWhole && plain == path {
		return escaped
	}

	return (&url.URL{Path: plain}).EscapedPath()
}

const (
	// maxMaskedPath is how much of a path is looked at, which is more than a log shows of it.
	maxMaskedPath = 4 << 10
	// maxEscapes is how often something may be escaped and still be found.
	maxEscapes = 4
)

// unescapeAll undoes escapes, also those of escapes. A path is cut off at what cannot be undone,
// or is escaped more often than happens by mistake.
func unescapeAll(path string) (plain string, isWhole bool) {
	for range maxEscapes {
		if !strings.Contains(path, "%") {
			return path, true
		}
		unescaped, err := url.PathUnescape(path)
		if err != nil {
			break
		}
		path = unescaped
	}
	plain, _, cut := strings.Cut(path, "%")
	if cut {
		plain += masked
	}
	return plain, !cut
}

// maskNamed cuts a path off at the first secret that its prefix gives away. The rest may
// be a part of it: signing secrets have slashes.
func maskNamed(path string) string {
	end := len(path)
	for _, prefix := range []string{storage.KeyPrefix, storage.SecretPrefix, storage.PrefixSetupLink} {
		for from := 0; ; {
			at := strings.Index(path[from:end], prefix)
			if at < 0 {
				break
			}
			from += at + len(prefix)
			if !isLinkID(path[from-len(prefix):], prefix) {
				end = from
			}
		}
	}
	if end == len(path) {
		return path
	}
	return path[:end] + masked
}

// isLinkID reports whether a path goes on with the id of a setup link, which begins as the
// tokens do.
func isLinkID(path, prefix string) bool {
	word, _, _ := strings.Cut(path, "/")
	return prefix == storage.PrefixSetupLink && storage.ValidID(prefix, word)
}

// maskWord masks a long word, unless it is one of small letters, as names of templates are.
func maskWord(word string) string {
	if strings.ContainsAny(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(word, "abcdefghijklmnopqrstuvwxyz") {
		return word[:4] + masked
	}
	return word
}
