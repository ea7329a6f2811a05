package search_test

import (
	"strings"
	"testing"

	"confab/storage/search"
)

func TestWhatATextSays(t *testing.T) {
	for _, tt := range []struct {
		query, text string
		want        bool
	}{
		{"hello", "Hello, world!", true},
		{"HELLO wor", "hello world", true},
		{"hell world", "hello world", false}, // only the last is a prefix
		{"world hello", "hello world", true},
		{"orld", "hello world", false},
		{"cafe", "Un CAFÉ, por favor", true},
		{"café", "un cafe", true},
		{"Ångström", "angstrom", true},
		{"cafe\u0301", "café", true},
		{"strasse", "Hauptstraße", false},
		{"hauptstrasse", "Hauptstraße", true},
		{"łodz", "Łódź", true},
		{"ΣΊΣΥΦΟΣ", "σίσυφος", true},
		{"привет", "ПРИВЕТ, мир", true},
		{"مرحبا", "مَرْحَبًا", true},
		{"नमस्ते", "नमस्ते दुनिया", true},
		{`"hello world"`, "say hello world", true},
		{`"hello world"`, "hello, world", true},
		{`"hello world"`, "hello big world", false},
		{`"world hello"`, "hello world", false},
		{`"hello wor"`, "hello world", false}, // a quote ends a word
		{`"hello wor`, "hello world", true},
		{`“hello world”`, "hello world", true},
		{`"hello" wor`, "world hello", true},
		{"世界", "你好世界", true},
		{"界世", "你好世界", false},
		{"你好 手机", "我的手机 说你好", true},
		{"iphone手机", "新iPhone手机壳", true},
		{"สวัสดี", "ทักทายสวัสดีครับ", true},
		{"A-1234", "order a 1234", true},
		{"ana@example.com", "write to Ana@Example.com", true},
		{"don't", "I don't know", true},
		{"", "hello", false},
		{" !?\"'*()-:^ ", "hello ! ? * ( )", false},
		{"👍", "👍", false}, // no word
		{"NEAR(a b)", "near a b", true},
		{"a OR b", "a b", false},
		{"a AND NOT b", "and not a b", true},
		{"body:x", "body x", true},
		{strings.Repeat("x", 200), strings.Repeat("x", 200), true},
		{"\xff\xfehello", "hello", true},
	} {
		if got := search.Says(tt.query, tt.text); got != tt.want {
			t.Errorf("%q in %q: %v", tt.query, tt.text, got)
		}
	}
	if search.Says(`"one two"`, "one", "two") {
		t.Error("a phrase reaches from one text to the next")
	}
}

// Every text is a query, and a text with a word in it says what it says.
func FuzzSearchWords(f *testing.F) {
	for _, text := range []string{"hello", `"`, "a*", "世界", "e\u0301", "\x00", "\uE000\uE001", "ﬁ ß İ ı", "\u200d", strings.Repeat("ก็", 40)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hasWord := search.Says(text, text)
		if words := strings.Fields(strings.ToLower(text)); len(words) > 0 && strings.Trim(words[0], "abcdefghijklmnopqrstuvwxyz") == "" && len(words) < 100 && !hasWord && !strings.ContainsAny(text, "\"“”„«»") && len(text) < 1000 {
			t.Errorf("%q does not say itself", text)
		}
		if hasWord != search.Says(text, strings.ToUpper(text)) && isPlain(text) {
			t.Errorf("%q does not say itself in capitals", text)
		}
	})
}

func isPlain(text string) bool {
	for _, r := range text {
		if r >= 0x80 {
			return false
		}
	}
	return true
}
