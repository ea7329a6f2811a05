package factor

import (
	"encoding/base32"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// The vectors of RFC 6238, appendix B, for SHA-1. They have eight digits; apps show the last six.
func TestCodesAreThoseOfRFC6238(t *testing.T) {
	is := is.New(t)
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for at, code := range map[int64]string{
		59: "94287082", 1111111109: "07081804", 1111111111: "14050471", 1234567890: "89005924", 2000000000: "69279037", 20000000000: "65353130",
	} {
		step, ok := AcceptedStep(secret, code[2:], time.Unix(at, 0), 0)
		is.True(ok)
		is.Equal(step, at/30)
	}
}

func TestACodeIsGoodForAStepMoreOnEitherSideAndNeverAgain(t *testing.T) {
	is := is.New(t)
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	const at, code = 1111111111, "050471"
	is.Equal(int64(at/30), int64(37037037))
	for late, want := range map[int64]bool{-60: false, -30: true, 0: true, 30: true, 60: false} {
		_, ok := AcceptedStep(secret, code, time.Unix(at+late, 0), 0)
		is.Equal(ok, want) // seconds after its step
	}
	for last, want := range map[int64]bool{37037035: true, 37037036: true, 37037037: false, 37037038: false, 1 << 40: false} {
		_, ok := AcceptedStep(secret, code, time.Unix(at, 0), last)
		is.Equal(ok, want)
	}

	_, ok := AcceptedStep(secret, " 050 471 ", time.Unix(at, 0), 0) // as apps show it
	is.True(ok)
	for _, wrong := range []string{"", "050472", "14050471", "50471", "０５０４７１"} {
		_, ok := AcceptedStep(secret, wrong, time.Unix(at, 0), 0)
		is.True(!ok)
	}
	_, ok = AcceptedStep("not base32!", "050471", time.Unix(at, 0), 0)
	is.True(!ok)
}

func TestSecretsAreRandomAndAppsCanReadThem(t *testing.T) {
	is := is.New(t)
	secret := NewSecret()
	is.True(secret != NewSecret())
	is.True(regexp.MustCompile(`^[A-Z2-7]{32}$`).MatchString(secret))

	u, err := url.Parse(CodeURL(secret, "ada+test@example.com"))
	is.NoErr(err)
	is.Equal(u.Scheme+"://"+u.Host+u.Path, "otpauth://totp/confab:ada+test@example.com")
	is.Equal(u.Query().Get("secret"), secret)
	is.Equal(u.Query().Get("issuer"), "confab")
}

func TestAPictureHasTheThreeCornersOfAQRCode(t *testing.T) {
	is := is.New(t)
	p, err := Draw(CodeURL(NewSecret(), "ada@example.com"))
	is.NoErr(err)
	is.True(p.Size >= 21+8)
	for _, corner := range []string{"M4 4h7v1", "M4 10h7v1"} { // the first rows of the upper left one
		is.True(strings.Contains(p.Path, corner))
	}
	_, err = Draw(strings.Repeat("x", 5000))
	is.True(err != nil)
}

func TestRecoveryCodesAreTenAndReadHoweverTheyAreTyped(t *testing.T) {
	is := is.New(t)
	codes := NewRecoveryCodes()
	is.Equal(len(codes), 10)
	seen := make(map[string]bool)
	for _, code := range codes {
		is.True(regexp.MustCompile(`^[a-z2-7]{4}(-[a-z2-7]{4}){3}$`).MatchString(code))
		plain := PlainRecoveryCode(code)
		is.Equal(len(plain), 16)
		is.Equal(PlainRecoveryCode(" "+strings.ToUpper(strings.ReplaceAll(code, "-", " "))+"\n"), plain)
		seen[plain] = true
	}
	is.Equal(len(seen), 10)
	is.Equal(PlainRecoveryCode("123456"), "")
	is.Equal(PlainRecoveryCode(""), "")
}
