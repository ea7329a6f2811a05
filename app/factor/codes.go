// Package factor has what people prove themselves with besides a password: one-time codes of
// an app, recovery codes, and passkeys. It stores nothing.
package factor

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/boombuler/barcode/qr"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
)

const (
	// step is how long a code is shown, and skew how many steps the clock of a phone may be
	// wrong.
	step = 30 * time.Second
	skew = 1
	// secretBytes is what RFC 4226 recommends.
	secretBytes = 20
)

// NewSecret makes the secret that the app shares, in the form that people type.
func NewSecret() string {
	secret := make([]byte, secretBytes)
	rand.Read(secret)
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)
}

// CodeURL is what apps read from the picture: the secret, and whose it is.
func CodeURL(secret, account string) string {
	values := url.Values{"secret": {secret}, "issuer": {"confab"}}
	return "otpauth://totp/" + url.PathEscape("confab:"+account) + "?" + values.Encode()
}

// AcceptedStep is the step whose code this is; false if it is that of no step which may be used
// now and comes after the last that was accepted.
func AcceptedStep(secret, code string, now time.Time, last int64) (int64, bool) {
	code = strings.ReplaceAll(strings.TrimSpace(code), " ", "")
	current := now.Unix() / int64(step/time.Second)

	for at := max(last+1, current-skew); at <= current+skew; at++ {
		want, err := hotp.GenerateCodeCustom(secret, uint64(at), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			return at, true
		}
	}
	return 0, false
}

// quietZone is the empty margin that readers of the picture need, in modules.
const quietZone = 4

// Picture is a QR code: the dark modules as the path of an SVG whose sides are Size long.
type Picture struct {
	Size int    `json:"size"`
	Path string `json:"path"`
}

// Draw draws a text as a QR code.
func Draw(text string) (Picture, error) {
	code, err := qr.Encode(text, qr.M, qr.Unicode)
	if err != nil {
		return Picture{}, fmt.Errorf("draw a QR code: %w", err)
	}

	var path strings.Builder
	size := code.Bounds().Dx()
	dark := func(x, y int) bool {
		if x >= size {
			return false
		}
		r, _, _, _ := code.At(x, y).RGBA()
		return r == 0
	}
	for y := range size {
		for x := 0; x < size; x++ {
			start := x
			for dark(x, y) {
				x++
			}
			if x > start {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", start+quietZone, y+quietZone, x-start, x-start)
			}
		}
	}
	return Picture{Size: size + 2*quietZone, Path: path.String()}, nil
}

const (
	// recoveryCodes is how many a person gets.
	recoveryCodes = 10
	// recoveryLength is how many characters one has: 80 bits, too many to guess even for
	// someone who has stolen the hashes.
	recoveryLength = 16
)

// NewRecoveryCodes makes recovery codes, as they are shown.
func NewRecoveryCodes() []string {
	codes := make([]string, recoveryCodes)
	for i := range codes {
		codes[i] = InGroups(strings.ToLower(rand.Text()[:recoveryLength]), "-")
	}
	return codes
}

// InGroups is a code as people read and type it: in groups of four.
func InGroups(code, separator string) string {
	groups := slices.Collect(slices.Chunk([]byte(code), 4))
	return string(bytes.Join(groups, []byte(separator)))
}

// PlainRecoveryCode is a recovery code as it is hashed, however it was typed; "" if it is none.
func PlainRecoveryCode(typed string) string {
	plain := strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(strings.TrimSpace(typed)))
	if len(plain) != recoveryLength {
		return ""
	}
	return plain
}
