// Package webhook signs deliveries and makes them: each is one signed POST to an
// address that a customer gave us, so it goes through package guard.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far a signature's time may be from the receiver's clock.
const Tolerance = 300 * time.Second

// SecretPrefix begins every signing secret; standard base64 follows it.
const SecretPrefix = "whsec_"

// What Verify finds wrong.
var (
	// ErrMalformed means that the header is not t=…,v1=….
	ErrMalformed = errors.New("the signature header cannot be read")
	// ErrMismatch means that no segment was made with one of the secrets.
	ErrMismatch = errors.New("the signature does not match")
	// ErrStale means that the signature is genuine, and too old or ahead of time.
	ErrStale = errors.New("the signature's time is too far from now")
)

// Sign makes the value of X-Svc-Signature: the time, and for each secret the
// HMAC-SHA256 of time, dot and body, keyed by the whole secret's bytes.
func Sign(at time.Time, body []byte, secrets ...string) string {
	t := strconv.FormatInt(at.Unix(), 10)

	b := make([]byte, 0, len("t=,")+len(t)+len(secrets)*len(",v1=")+len(secrets)*hex.EncodedLen(sha256.Size))
	b = append(append(b, "t="...), t...)
	for _, secret := range secrets {
		b = append(b, ",v1="...)
		b = hex.AppendEncode(b, digest([]byte(secret), body, t, "."))
	}

	return string(b)
}

// SignStandard makes the value of webhook-signature, as Standard Webhooks has
// it: for each secret the HMAC-SHA256 of id, time and body, keyed by the bytes
// that its base64 encodes.
func SignStandard(id string, at time.Time, body []byte, secrets ...string) string {
	t := strconv.FormatInt(at.Unix(), 10)
	var b []byte
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, SecretPrefix))
		if err != nil {
			continue // not one of our secrets; a Standard Webhooks library would refuse it too
		}

		if b != nil {
			b = append(b, ' ')
		}
		b = append(b, "v1,"...)
		b = base64.StdEncoding.AppendEncode(b, digest(key, body, id, ".", t, "."))
	}

	return string(b)
}

// SignNative makes the value of X-Hub-Signature-256, as the provider signs its callbacks: with
// one secret, over the body alone.
func SignNative(body []byte, secret string) string {
	return "sha256=" + hex.EncodeToString(digest([]byte(secret), body))
}

// digest is the HMAC-SHA256 of a body with a prefix.
func digest(key, body []byte, prefix ...string) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range prefix {
		mac.Write([]byte(part))
	}
	mac.Write(body)
	return mac.Sum(nil)
}

// Verify checks the value of X-Svc-Signature against the raw bytes of a body, as
// a receiver should. Any segment may match any secret, so that secrets can be
// rotated; the comparison takes constant time; and a signature older than Tolerance
// is refused, so that no one can replay an old delivery.
func Verify(header string, body []byte, now time.Time, secrets ...string) error {
	t, at, given, err := parseSignature(header)
	if err != nil {
		return err
	}

	matches := false
	for _, secret := range secrets {
		want := digest([]byte(secret), body, t, ".")
		for _, mac := range given {
			matches = hmac.Equal(mac, want) || matches
		}
	}

	switch {
	case !matches:
		return ErrMismatch
	case now.Sub(at).Abs() > Tolerance:
		return ErrStale
	}
	return nil
}

// maxSegments bounds the comparisons that one header can cause.
const maxSegments = 32

// parseSignature reads t=…,v1=…[,v1=…]: the time as it was written and signed, the same parsed,
// and the signatures. Segments with other names are ignored: another version of the scheme may
// add some.
func parseSignature(header string) (t string, at time.Time, macs [][]byte, err error) {
	if strings.Count(header, ",") >= maxSegments {
		return t, at, nil, fmt.Errorf("%w: it has too many parts", ErrMalformed)
	}

	for segment := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(segment), "=")
		switch name {
		case "t":
			if t != "" {
				return t, at, nil, fmt.Errorf("%w: it has two times", ErrMalformed)
			}
			seconds, err := strconv.ParseUint(value, 10, 62)
			if err != nil {
				return t, at, nil, fmt.Errorf("%w: t is not a number of seconds", ErrMalformed)
			}
			t, at = value, time.Unix(int64(seconds), 0)
		case "v1":
			mac, err := hex.DecodeString(value)
			if err != nil || len(mac) != sha256.Size {
				return t, at, nil, fmt.Errorf("%w: v1 is not 64 hexadecimal digits", ErrMalformed)
			}
			macs = append(macs, mac)
		}
	}

	if t == "" || len(macs) == 0 {
		return t, at, nil, fmt.Errorf("%w: it needs t and v1", ErrMalformed)
	}
	return t, at, macs, nil
}
