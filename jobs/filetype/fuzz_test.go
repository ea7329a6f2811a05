package filetype

import (
	"mime"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzCleanName lets a stranger call a file anything: the cleaned name is one
// segment of a path, fits into a header, a terminal and a row, and is kept as it
// is the second time.
func FuzzCleanName(f *testing.F) {
	for _, seed := range []string{
		"", ".", "..", "...", "menu.pdf", "../../etc/passwd", `C:\Users\ana\menu.pdf`, "a/b/", "\r\nSet-Cookie: a", "invoice\u202egpj.exe", "a\x00b", "\xff\xfe",
		" . ", "menü ☕.pdf", "con", strings.Repeat("é", 300), strings.Repeat("x", 254) + " .",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		name := CleanName(given)
		if name == nil {
			return
		}
		odd := func(c rune) bool {
			return c == '/' || c == '\\' || unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)
		}
		if *name == "" || strings.Trim(*name, ".") == "" || strings.ContainsFunc(*name, odd) || !utf8.ValidString(*name) || utf8.RuneCountInString(*name) > MaxName {
			t.Fatalf("%q became %q", given, *name)
		}
		if again := CleanName(*name); again == nil || *again != *name {
			t.Fatalf("%q became %q the second time", given, *name)
		}
	})
}

// FuzzDetect lets a file begin with anything and be called anything. Its type
// is a bare one that can be put in a header, depends on nothing after the head,
// and only within a container does it matter what the client said.
func FuzzDetect(f *testing.F) {
	for _, head := range []string{
		"", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "\xff\xd8\xff\xe0\x00\x10JFIF", "GIF89a", "%PDF-1.7", "PK\x03\x04\x14\x00", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "OggS\x00\x02",
		"<html><script>alert(1)</script>", "<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"/>", "plain", "{\"a\":1}", "#!/bin/sh", "\x00\x00\x00\x18ftypmp42", "RIFF\x00\x00\x00\x00WEBPVP8 ", "MZ",
		"GIF89a<script>alert(1)</script>", "%PDF-<html>",
	} {
		f.Add([]byte(head), "report.docx", "application/vnd.ms-excel")
	}
	f.Fuzz(func(t *testing.T, head []byte, filename, declared string) {
		head = head[:min(len(head), HeadSize)]
		kind := Detect(head)
		if bare, params, err := mime.ParseMediaType(kind); err != nil || bare != kind || len(params) > 0 {
			t.Fatalf("%q is of type %q", head, kind)
		}
		got := InContainer(kind, filename, WithoutParameters(declared))
		family, isContainer := containers[kind]
		if !isContainer && got != kind {
			t.Fatalf("%q was believed to be %q for its name %q or for %q", kind, got, filename, declared)
		}
		if isContainer && got != kind {
			known := false
			for _, one := range family {
				known = known || one == got
			}
			if !known {
				t.Fatalf("%q holds %q", kind, got)
			}
		}
		if got != InContainer(got, filename, WithoutParameters(declared)) {
			t.Fatalf("what is in %q changes when it is looked at twice", kind)
		}
	})
}

// A name may be as long as a form's header. Cut character by character, this one
// would take hours, and its caller may hold the database's writer.
func TestAVeryLongFileNameIsCutQuickly(t *testing.T) {
	name := CleanName(strings.Repeat("ä", 4<<20))
	if name == nil || *name != strings.Repeat("ä", MaxName) {
		t.Fatal("the name was not cut to its limit")
	}
}
