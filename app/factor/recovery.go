package factor

import (
	"crypto/rand"
	"strings"
)

const (
	// recoveryCodes is how many a person gets.
	recoveryCodes = 10
	// recoveryLength is how many characters one has: 80 bits, too many to guess even for
	// someone who has stolen the hashes.
	recoveryLength = 16
	groupLength    = 4
)

// NewRecoveryCodes makes recovery codes, as they are shown.
func NewRecoveryCodes() []string {
	codes := make([]string, recoveryCodes)
	for i := range codes {
		text := strings.ToLower(rand.Text()[:recoveryLength])
		var groups []string
		for at := 0; at < recoveryLength; at += groupLength {
			groups = append(groups, text[at:at+groupLength])
		}
		codes[i] = strings.Join(groups, "-")
	}
	return codes
}

// PlainRecoveryCode is a recovery code as it is hashed, however it was typed; "" if it is none.
func PlainRecoveryCode(typed string) string {
	plain := strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(strings.TrimSpace(typed)))
	if len(plain) != recoveryLength {
		return ""
	}
	return plain
}
