package provider

import (
	"regexp"
	"strings"
)

// The forms of the names that the provider gives to people and things. Requests,
// callbacks, commands and setup pages all ask here, so that what one of them
// accepts the others accept too.
var (
	// PhoneNumberID is the id of a business number, and of a business account.
	PhoneNumberID = regexp.MustCompile(`^[0-9]{6,20}$`)
	// BSUID is a business-scoped user id, a parent portfolio's included.
	BSUID = regexp.MustCompile(`^[A-Z]{2}[.](ENT[.])?[A-Za-z0-9]{1,128}$`)

	// phoneDigits are those of a number in E.164: a country code never begins with 0.
	phoneDigits = regexp.MustCompile(`^[1-9][0-9]{6,14}$`)
)

// ParsePhone writes a phone number in E.164. The leading + may be missing. Spaces
// and other separators are refused, because they would have to be guessed at.
func ParsePhone(number string) (e164 string, ok bool) {
	digits := strings.TrimPrefix(number, "+")
	return "+" + digits, phoneDigits.MatchString(digits)
}

// Digits removes everything but the digits from a phone number.
func Digits(number string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, number)
}

// separators are what people write between the digits of a phone number.
var separators = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "-", "", "\u2011", "", ".", "", "(", "", ")", "")

// ParseWrittenPhone writes a phone number in E.164 from a file of somebody's
// own: after a + there may be spaces, hyphens, dots and brackets. A 0 in brackets is
// refused, because it is dialled within its country only.
func ParseWrittenPhone(number string) (e164 string, ok bool) {
	if strings.HasPrefix(number, "+") && !strings.Contains(number, "(0") {
		number = separators.Replace(number)
	}
	return ParsePhone(number)
}

// IsParentBSUID reports whether a valid BSUID is one of a parent portfolio.
func IsParentBSUID(id string) bool { return strings.HasPrefix(id[2:], ".ENT.") }
