package provider

import "testing"

func TestNumbersAreReadAsPeopleWriteThem(t *testing.T) {
	for written, want := range map[string]string{
		"+15557770001":             "+15557770001",
		"15557770001":              "+15557770001",
		"+1 555 777 0001":          "+15557770001",
		"+1 (555) 777-0001":        "+15557770001",
		"+49\u00a0170\u202f55.501": "+4917055501",

		"555 777 0001":        "", // of which country?
		"(555) 777-0001":      "",
		"+44 (0)20 7946 0958": "",
		"+1 555 777 0001 x2":  "",
		"+":                   "",
		"":                    "",
	} {
		got, ok := ParseWrittenPhone(written)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v", written, got, ok)
		}
	}
}
