package callback

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

const secret, token = "app secret", "verify token"

// post sends a callback and returns the error that it was refused with, if any.
func post(t testing.TB, s *Server, body, signature string) (status int, refused error) {
	t.Helper()
	s.WriteError = func(w http.ResponseWriter, _ *http.Request, err error) {
		refused = err
		w.WriteHeader(http.StatusTeapot)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/provider/webhook", strings.NewReader(body))
	r.Header.Set("X-Hub-Signature-256", signature)
	s.ServeHTTP(w, r)
	return w.Code, refused
}

func sign(body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func newCallbacks(t *testing.T) *Server {
	t.Helper()
	return New(Options{DB: storagetest.Open(t), AppSecret: secret, VerifyToken: token, Log: slog.New(slog.DiscardHandler)})
}

func kept(t *testing.T, s *Server) (all []storage.RawCallback) {
	t.Helper()
	storagetest.View(t, s.DB, func(rx *storage.Rx) (err error) { all, err = rx.RawCallbacks(10); return err })
	return all
}

func TestASignedCallbackIsKeptChangeByChange(t *testing.T) {
	is := is.New(t)
	s := newCallbacks(t)
	body := `{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"a":1}},{"field":"account_update"}]}]}`
	status, refused := post(t, s, body, sign(body))
	is.NoErr(refused)
	is.Equal(status, 200)
	all := kept(t, s)
	is.Equal(len(all), 2)
	is.Equal(all[1].Field, "messages")
	is.Equal(string(all[1].Payload), `{"a":1}`)
}

func TestWhatCannotBeReadIsKeptAsItCame(t *testing.T) {
	is := is.New(t)
	s := newCallbacks(t)
	status, refused := post(t, s, "garbage", sign("garbage"))
	is.NoErr(refused)
	is.Equal(status, 200)
	is.Equal(string(kept(t, s)[0].Payload), "garbage")
}

func TestOnlyTheProviderIsBelieved(t *testing.T) {
	body := `{"entry":[]}`
	for name, signature := range map[string]string{
		"none":           "",
		"of other bytes": sign(body + " "),
		"no prefix":      strings.TrimPrefix(sign(body), "sha256="),
		"sha1":           storagetest.Swap(t, sign(body), "sha256", "sha1"),
		"not hex":        "sha256=zz",
		"cut short":      sign(body)[:40],
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s := newCallbacks(t)
			_, refused := post(t, s, body, signature)
			is.True(errors.Is(refused, ErrUnauthorized))
			is.Equal(len(kept(t, s)), 0)
		})
	}
}

// TestTheBodyOfAStrangerIsNotRead posts callbacks that cannot be the provider's: a
// stranger must not make the server hold megabytes to find that out.
func TestTheBodyOfAStrangerIsNotRead(t *testing.T) {
	good := sign("")
	for name, c := range map[string]struct {
		signature, secret string
		length            int64
		want              error
	}{
		"no signature":       {"", secret, -1, ErrUnauthorized},
		"no prefix":          {strings.TrimPrefix(good, "sha256="), secret, -1, ErrUnauthorized},
		"a digit too few":    {good[:len(good)-1], secret, -1, ErrUnauthorized},
		"a digit too many":   {good + "0", secret, -1, ErrUnauthorized},
		"two digits more":    {good + "00", secret, -1, ErrUnauthorized},
		"no digits":          {"sha256=" + strings.Repeat("x", 64), secret, -1, ErrUnauthorized},
		"no secret is set":   {good, "", -1, ErrUnauthorized},
		"it says it is long": {good, secret, maxBody + 1, ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s := newCallbacks(t)
			var refused error
			s.AppSecret, s.WriteError = c.secret, func(_ http.ResponseWriter, _ *http.Request, err error) { refused = err }
			body := strings.NewReader(strings.Repeat(" ", maxBody))
			r := httptest.NewRequest("POST", "/provider/webhook", body)
			r.ContentLength = c.length
			r.Header.Set("X-Hub-Signature-256", c.signature)
			s.ServeHTTP(httptest.NewRecorder(), r)
			is.True(errors.Is(refused, c.want))
			if read := maxBody - body.Len(); read > 0 {
				t.Errorf("%d bytes were read", read)
			}
		})
	}
}

func TestWithoutSecretsNobodyIsBelieved(t *testing.T) {
	is := is.New(t)
	for _, o := range []Options{{AppSecret: secret}, {VerifyToken: token}, {}} {
		s := newCallbacks(t)
		s.AppSecret, s.VerifyToken = o.AppSecret, o.VerifyToken
		_, refused := post(t, s, "{}", sign("{}"))
		is.True(errors.Is(refused, ErrUnauthorized))
	}
}

func TestAnOversizedCallbackIsRefused(t *testing.T) {
	is := is.New(t)
	s := newCallbacks(t)
	body := strings.Repeat(" ", maxBody+1)
	_, refused := post(t, s, body, sign(body))
	is.True(errors.Is(refused, ErrTooLarge))
}

func TestAFailedCommitIsNotAcknowledged(t *testing.T) {
	is := is.New(t)
	s := newCallbacks(t)
	is.NoErr(s.DB.Close())
	_, refused := post(t, s, "{}x", sign("{}x"))
	is.True(errors.Is(refused, storage.ErrUnavailable)) // so the provider will come again
}

func TestTheHandshakeNeedsTheToken(t *testing.T) {
	s := newCallbacks(t)
	for query, want := range map[string]string{
		"hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=verify+token": "1158201444",
		"hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=wrong":        "refused",
		"hub.mode=unsubscribe&hub.challenge=1&hub.verify_token=verify+token":        "refused",
		"": "refused",
	} {
		is := is.New(t)
		s.WriteError = func(w http.ResponseWriter, _ *http.Request, err error) {
			is.True(errors.Is(err, ErrUnauthorized))
			w.Write([]byte("refused"))
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "/provider/webhook?"+query, nil))
		is.Equal(w.Body.String(), want)
	}

	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("HEAD", "/provider/webhook?hub.mode=subscribe&hub.challenge=1&hub.verify_token=verify+token", nil))
	if w.Code != 200 {
		t.Error("HEAD is answered with", w.Code)
	}
}
