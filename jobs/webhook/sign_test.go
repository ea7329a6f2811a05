package webhook

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

const (
	secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
	newer  = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
)

var signedAt = time.Unix(1614265330, 0)

// The digests below were made with openssl, so that sign and verify cannot agree
// on a mistake:
//
//	printf '1614265330.{"test": 2432232314}' | openssl dgst -sha256 -hmac "$secret"
func TestSignaturesAreWhatOthersCompute(t *testing.T) {
	is := is.New(t)
	body := []byte(`{"test": 2432232314}`)
	is.Equal(Sign(signedAt, body, secret), "t=1614265330,v1=ca84ff4f4c2d7d658a486595d5e7983994df7e0adea1ea4f3c6f85bb1cf572d5")
	is.Equal(Sign(signedAt, body, secret, newer), "t=1614265330,v1=ca84ff4f4c2d7d658a486595d5e7983994df7e0adea1ea4f3c6f85bb1cf572d5,v1=8dbc842b6599c1be049900723cebba01cdec937f060d8d59fd18e8efade1dbb7") // one for each, in order
	is.Equal(Sign(signedAt, body), "t=1614265330")
}

// The first vector is the one that the Standard Webhooks specification publishes.
func TestStandardSignaturesAreWhatOthersCompute(t *testing.T) {
	is := is.New(t)
	const id, published = "msg_p5jXN8AQM9LWM0D4loKWxJek", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	body := []byte(`{"test": 2432232314}`)
	is.Equal(SignStandard(id, signedAt, body, published), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
	is.Equal(len(strings.Fields(SignStandard(id, signedAt, body, published, newer))), 2)
	is.Equal(SignStandard(id, signedAt, body, "whsec_not base64"), "")
}

func TestVerifyAcceptsAnySegmentOfAnySecret(t *testing.T) {
	body := []byte(`{"a":1}`)
	for _, test := range []struct {
		name   string
		signed []string
		known  []string
		err    error
	}{
		{"one secret", []string{secret}, []string{secret}, nil},
		{"receiver knows the old one yet", []string{secret, newer}, []string{secret}, nil},
		{"receiver knows the new one already", []string{secret, newer}, []string{newer}, nil},
		{"receiver knows both, one is left", []string{newer}, []string{secret, newer}, nil},
		{"another secret", []string{secret}, []string{newer}, ErrMismatch},
		{"no secret", []string{secret}, nil, ErrMismatch},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(Verify(Sign(signedAt, body, test.signed...), body, signedAt, test.known...), test.err)
		})
	}
}

func TestVerifyRefusesWhatWasTamperedWith(t *testing.T) {
	is := is.New(t)
	body := []byte(`{"a":1}`)
	header := Sign(signedAt, body, secret)
	for i := range body {
		changed := append([]byte(nil), body...)
		changed[i] ^= 1
		is.Equal(Verify(header, changed, signedAt, secret), ErrMismatch)
	}
	is.Equal(Verify(header, append(body, '\n'), signedAt, secret), ErrMismatch)
	is.Equal(Verify(strings.Replace(header, "t=1614265330", "t=1614265331", 1), body, signedAt, secret), ErrMismatch)
	is.Equal(Verify(strings.Replace(header, "t=1614265330", "t=01614265330", 1), body, signedAt, secret), ErrMismatch) // the text is signed, not the number
}

func TestVerifyRefusesOldAndFutureTimes(t *testing.T) {
	body := []byte(`{}`)
	header := Sign(signedAt, body, secret)
	for _, test := range []struct {
		off time.Duration
		err error
	}{
		{0, nil}, {Tolerance, nil}, {-Tolerance, nil},
		{Tolerance + time.Second, ErrStale}, {-Tolerance - time.Second, ErrStale},
		{100 * 365 * 24 * time.Hour, ErrStale},
	} {
		t.Run(test.off.String(), func(t *testing.T) {
			is := is.New(t)
			is.Equal(Verify(header, body, signedAt.Add(test.off), secret), test.err)
		})
	}
}

func TestMalformedSignatureHeadersAreNamedSo(t *testing.T) {
	mac := strings.Repeat("ab", 32)
	for _, header := range []string{
		"", "t=1", "v1=" + mac, "t=,v1=" + mac, "t=x,v1=" + mac, "t=-1,v1=" + mac, "t=1,v1=", "t=1,v1=" + mac[1:], "t=1,v1=" + mac + "ab",
		"t=1,t=2,v1=" + mac, "t=99999999999999999999,v1=" + mac, "t=1,v0=" + mac, "t=1" + strings.Repeat(",v1="+mac, maxSegments),
	} {
		t.Run(header[:min(len(header), 24)], func(t *testing.T) {
			is := is.New(t)
			is.True(errors.Is(Verify(header, nil, signedAt, secret), ErrMalformed))
		})
	}
}

func TestVerifyLeavesUnknownSegmentsAside(t *testing.T) {
	is := is.New(t)
	is.NoErr(Verify("v0=old, "+Sign(signedAt, nil, secret)+",v2=new,", nil, signedAt, secret))
}

// FuzzVerify holds that no header makes Verify panic, that what it takes apart
// goes together again, and that nothing but the right digest is accepted.
func FuzzVerify(f *testing.F) {
	f.Add("", []byte(nil))
	f.Add(Sign(signedAt, []byte("{}"), secret, newer), []byte("{}"))
	f.Add("t=1,v1="+strings.Repeat("00", 32), []byte("x"))
	f.Add("t=1,v1=,v1==,,", []byte("x"))
	f.Fuzz(func(t *testing.T, header string, body []byte) {
		written, at, macs, err := parseSignature(header)
		if err != nil {
			if !errors.Is(err, ErrMalformed) || Verify(header, body, signedAt, secret) == nil {
				t.Fatalf("%q: %v", header, err)
			}
			return
		}
		again := "t=" + written
		for _, mac := range macs {
			again += ",v1=" + hex.EncodeToString(mac)
		}
		if got := Verify(again, body, at, secret); !errors.Is(got, Verify(header, body, at, secret)) {
			t.Fatalf("%q and %q differ: %v", header, again, got)
		}
		genuine := strings.Contains(again, hex.EncodeToString(digest([]byte(secret), body, written, ".")))
		if (Verify(header, body, at, secret) == nil) != genuine {
			t.Fatalf("%q is not what was signed, or is", header)
		}
		if _, err := strconv.ParseInt(written, 10, 64); err != nil {
			t.Fatalf("%q has a time that is none", header)
		}
	})
}

func TestTheTestSecretsAreShapedLikeRealOnes(t *testing.T) {
	for _, s := range []string{secret, newer} {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, SecretPrefix))
		if err != nil || len(key) != 32 {
			t.Errorf("%s: %d bytes, %v", s, len(key), err)
		}
	}
}
