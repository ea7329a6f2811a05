package rest

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"confab/storage"
)

// The views that clients read most write their JSON themselves, because reflection takes
// several times as long as reading the rows. They write the same bytes as encoding/json
// does of their fields and tags, without the escapes that are only needed inside of HTML;
// append_json_test.go compares the two.

// appender is a view that writes its own JSON.
type appender interface{ AppendJSON(b []byte) []byte }

// AppendText writes a string.
func AppendText(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' {
				b = appendEscape(append(b, s[start:i]...), c)
				start = i + 1
			}
			i++
			continue
		}

		// Invalid UTF-8 becomes U+FFFD. The other two end a line in JavaScript.
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
			b = append(append(b, s[start:i]...), `\u`...)
			b = strconv.AppendInt(b, int64(r), 16)
			start = i + size
		}
		i += size
	}

	return append(append(b, s[start:]...), '"')
}

// appendEscape writes an ASCII character that must be escaped.
func appendEscape(b []byte, c byte) []byte {
	const short, letters = "\"\\\b\f\n\r\t", `"\bfnrt`
	if i := strings.IndexByte(short, c); i >= 0 {
		return append(b, '\\', letters[i])
	}

	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
}

// AppendKey writes the name of a field that is not known beforehand. As in the keys of
// every object that encoding/json writes, HTML is escaped in it.
func AppendKey(b []byte, name string) []byte {
	if !strings.ContainsAny(name, "<>&") {
		return append(AppendText(b, name), ':')
	}
	text, _ := json.Marshal(name) // strings always encode
	return append(append(b, text...), ':')
}

// AppendOptional writes a string, or null.
func AppendOptional(b []byte, s *string) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return AppendText(b, *s)
}

// AppendOptionalInt writes a number, or null.
func AppendOptionalInt[N int | int64](b []byte, n *N) []byte {
	if n == nil {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, int64(*n), 10)
}

// AppendLabels writes a list of labels.
func AppendLabels(b []byte, all []storage.AttachedLabel) []byte {
	b = append(b, '[')
	for i, l := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendText(append(b, `{"id":`...), l.ID)
		b = AppendText(append(b, `,"name":`...), l.Name)
		b = AppendText(append(b, `,"color":`...), l.Color)
		b = append(b, '}')
	}
	return append(b, ']')
}

// AppendStored writes JSON that was stored as it came, or null. It was checked before it
// was stored, so that only the space between its tokens has to be left out.
func AppendStored(b []byte, text storage.JSON) []byte {
	if text == nil {
		return append(b, "null"...)
	}

	start := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = endOfString(text, i)
		case ' ', '\t', '\r', '\n':
			b = append(b, text[start:i]...)
			start = i + 1
		}
	}
	return append(b, text[min(start, len(text)):]...)
}

// endOfString is where the string ends that begins at i: at its second quote.
func endOfString(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}
