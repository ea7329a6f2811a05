package provisioning

import (
	"strings"
	"testing"

	"confab/jobs/provider"
)

// FuzzPhoneOf lets the provider show a number in any way: it becomes E.164 with
// the same digits, or nothing.
func FuzzPhoneOf(f *testing.F) {
	for _, seed := range []string{"", "+1 631-555-5555", "(555) 0100", "00 49 30 123456", "+49 30 123456", "1555010020", "+", "１５５５", "12345678901234567890"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, shown string) {
		phone := phoneOf(provider.Number{DisplayPhoneNumber: shown})
		if phone == nil {
			return
		}
		if digits := len(*phone) - 1; (*phone)[0] != '+' || (*phone)[1] == '0' || digits < 7 || digits > 15 || strings.Trim((*phone)[1:], "0123456789") != "" {
			t.Fatalf("%q became %q", shown, *phone)
		}
		rest := *phone
		for _, c := range shown {
			if '0' <= c && c <= '9' {
				if rest = rest[1:]; rest == "" || rune(rest[0]) != c {
					t.Fatalf("%q became %q", shown, *phone)
				}
			}
		}
		if again := phoneOf(provider.Number{DisplayPhoneNumber: *phone}); again == nil || *again != *phone {
			t.Fatalf("%q is not taken again", *phone)
		}
	})
}
