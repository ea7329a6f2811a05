package simulator

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// marshal encodes a value as JSON without escaping <, > and &, which the
// provider leaves alone.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// throughJSON gives a value of Go the types that the body of a request would have.
func throughJSON(v, body any) error {
	b, err := marshal(v)
	if err != nil {
		return err
	}
	return decodeJSON(b, body)
}

const lowerHex = "0123456789abcdef"

// appendASCII appends JSON in the provider's dialect: pure ASCII, with \u in
// lower case for all else and \/ for each slash. Signatures are made over
// these bytes, so a receiver that decodes and re-encodes before it checks the
// signature fails here, as it would with the provider.
func appendASCII(dst, src []byte) []byte {
	escaped := false // the byte before was a backslash that escapes this one

	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case escaped:
			dst, escaped = append(dst, c), false
			i++
		case c == '\\':
			dst, escaped = append(dst, c), true
			i++
		case c == '/':
			dst = append(dst, '\\', '/')
			i++
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, size := utf8.DecodeRune(src[i:])
			dst = appendRune(dst, r)
			i += size
		}
	}
	return dst
}

// appendRune writes a character as one \uXXXX, or as a surrogate pair.
func appendRune(dst []byte, r rune) []byte {
	if r >= 0x10000 {
		r -= 0x10000
		return appendUnit(appendUnit(dst, 0xd800+r>>10), 0xdc00+r&0x3ff)
	}
	return appendUnit(dst, r)
}

func appendUnit(dst []byte, u rune) []byte {
	return append(dst, '\\', 'u', lowerHex[u>>12&15], lowerHex[u>>8&15], lowerHex[u>>4&15], lowerHex[u&15])
}
