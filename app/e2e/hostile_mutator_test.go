package e2e

import (
	"math/rand/v2"
	"net/url"
	"strings"
)

// mutator makes requests of all kinds out of good ones; the same seed makes the same.
type mutator struct{ *rand.Rand }

// oddities are texts that parsers stumble over.
var oddities = []string{
	"", "0", "-1", "1e999", "9223372036854775808", "null", "true", "[]", "{}", `""`, "\x00", "\xff\xfe", `"\ud800"`, "%", "%zz", "%00", "..", "../../etc/passwd",
	"'; DROP TABLE messages; --", "<script>alert(1)</script>", "=1+1", "\u202e", "é", "😀", " ", "\t", "\"", "\\", "*", "NEAR(", `"a`, "AND", "col:x", "^", "-",
	"2026-01-02T03:04:05Z", "0000-00-00", "9999-12-31T23:59:59.999999999+23:59", "msg_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "oldest", "now", "//evil.example", "javascript:1",
}

func (m mutator) oddity() string {
	if m.IntN(30) == 0 {
		return strings.Repeat([]string{"a", "[", `{"a":`, "é", "%"}[m.IntN(5)], 1<<m.IntN(14))
	}
	return oddities[m.IntN(len(oddities))]
}

// path puts something odd in the place of a segment, now and then.
func (m mutator) path(path string) string {
	if m.IntN(4) > 0 {
		return path
	}
	segments := strings.Split(path, "/")
	segments[1+m.IntN(len(segments)-1)] = url.PathEscape(m.oddity())
	return strings.Join(segments, "/")
}

var parameters = []string{
	"limit", "cursor", "search", "after", "status", "type", "direction", "created_after", "created_before", "updated_since", "label_id", "assigned_to",
	"unread", "phone_number", "email", "event_type", "next", "scheduled", "contact_id", "conversation_id", "subscription_id", "since", "kind", "q", "id",
}

func (m mutator) query() string {
	var pairs []string
	for range m.IntN(4) {
		value := m.oddity()
		if m.IntN(4) > 0 {
			value = url.QueryEscape(value)
		} else {
			value = strings.Map(visible, value)
		}
		pairs = append(pairs, parameters[m.IntN(len(parameters))]+"="+value)
	}
	return strings.Join(pairs, "&")
}

// visible leaves out what no client can write into a line of a request.
func visible(c rune) rune {
	if c <= ' ' || c >= 0x7f || c == '#' {
		return -1
	}
	return c
}

// header are lines that replace or follow those of the visitor.
func (m mutator) header(who visitor) (lines []string) {
	for range m.IntN(3) {
		name := []string{
			"Content-Type", "Idempotency-Key", "If-None-Match", "Last-Event-ID", "Accept", "Origin", "Sec-Fetch-Site", "Host", "X-Forwarded-For", "Accept-Encoding",
			"Range", "Cookie", "Authorization", "X-Hub-Signature-256", "Mcp-Session-Id", "Content-Encoding", "Expect",
		}[m.IntN(17)]
		value := strings.Map(visible, m.oddity())
		switch {
		case name == "Content-Type" && m.IntN(2) == 0:
			value = []string{"multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "text/csv", "application/json; charset=utf-16"}[m.IntN(4)]
		case (name == "Cookie" || name == "Authorization") && len(who.header) > 0:
			_, known, _ := strings.Cut(who.header[0], ": ")
			value = strings.Map(visible, string(m.flip([]byte(known))))
		case name == "Host" && strings.ContainsAny(value, "/\\?<>\"'%^{}[]*=();"):
			continue // no address that a client could call
		case name == "Expect":
			value = "100-continue"
		}
		lines = append(lines, name+": "+value)
	}
	return lines
}

// body makes something of a good one: changed in a few bytes, cut, with odd values, of
// another kind, or very large.
func (m mutator) body(good string) string {
	switch m.IntN(10) {
	case 0:
		return ""
	case 1:
		return good[:m.IntN(len(good))]
	case 2:
		return string(m.flip([]byte(good)))
	case 3:
		return m.oddity()
	case 4:
		return "--x\r\nContent-Disposition: form-data; name=file; filename=" + url.PathEscape(m.oddity()) + "\r\n\r\nphone_number,name\n" + m.oddity() + "," + m.oddity() + "\r\n--x--"
	case 5:
		return "email=" + url.QueryEscape(m.oddity()) + "&password=" + url.QueryEscape(m.oddity()) + "&next=" + url.QueryEscape(m.oddity())
	case 6:
		return `{"jsonrpc":"2.0","id":` + m.oddity() + `,"method":"tools/call","params":{"name":"search_messages","arguments":{"query":"` + m.oddity() + `"}}}`
	case 7:
		if m.IntN(8) == 0 {
			return `{"name":"` + strings.Repeat("x", 1<<(20+m.IntN(4))) + `"}`
		}
	}

	// One of its values becomes something odd.
	parts := strings.Split(good, `"x"`)
	at := m.IntN(len(parts))
	return strings.Join(parts[:at], `"x"`) + m.oddity() + strings.Join(parts[at:], `"x"`)
}

// flip changes a few bytes.
func (m mutator) flip(text []byte) []byte {
	for range 1 + m.IntN(4) {
		if len(text) > 0 {
			text[m.IntN(len(text))] = byte(m.IntN(256))
		}
	}
	return text
}
