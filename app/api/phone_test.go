package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"confab/app/api/rest"
	"confab/jobs/provider"
)

func TestPhoneNumbersAreSevenToFifteenDigitsWithOrWithoutPlus(t *testing.T) {
	is := is.New(t)
	for _, good := range []string{"1234567", "+1234567", "123456789012345", "+123456789012345", "+1999000131026"} {
		number, ok := provider.ParsePhone(good)
		is.True(ok)
		is.Equal(number, "+"+strings.TrimPrefix(good, "+"))
	}
	for _, bad := range []string{
		"", "+", "123456", "+123456", "1234567890123456", "+1234567890123456", "++1234567", "1234567+", "+1 234 567", "123-4567", "(1)234567",
		" 1234567", "1234567 ", "1234567\n", "0123456789", "+0123456789", "12345a7", "١٢٣٤٥٦٧", "１２３４５６７", "1e10000", "-1234567",
	} {
		is.True(!rest.IsPhone(bad)) // bad
	}
}

func TestANumberThatWasWrittenInFullStaysAsItIs(t *testing.T) {
	numbers := 0
	rapid.Check(t, func(t *rapid.T) {
		once, ok := provider.ParsePhone(rapid.OneOf(rapid.StringMatching(`\+?[0-9]{5,17}`), rapid.String()).Draw(t, "number"))
		if !ok {
			return
		}
		numbers++
		if twice, ok := provider.ParsePhone(once); !ok || twice != once || once[0] != '+' {
			t.Fatalf("%q became %q", once, twice)
		}
	})
	is.New(t).True(numbers > 0)
}
