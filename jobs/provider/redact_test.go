package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// shown is everything that printing or logging a value can bring to light.
func shown(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		fmt.Fprintf(&b, verb+"\n", v)
	}
	slog.New(slog.NewTextHandler(&b, nil)).Info("text", "value", v, "list", []any{v})
	slog.New(slog.NewJSONHandler(&b, nil)).Info("json", "value", v, "list", []any{v})
	if text, err := json.Marshal(v); err == nil {
		b.Write(text)
	}
	for err, ok := v.(error); ok && err != nil; err = errors.Unwrap(err) {
		fmt.Fprintf(&b, "%v %+v %#v\n", err, err, err)
	}
	return b.String()
}

// hides asserts that nothing secret is in a text, in any common writing.
func hides(t *testing.T, text string, hidden ...string) {
	t.Helper()
	for _, secret := range hidden {
		for _, form := range []string{secret, url.QueryEscape(secret), fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret)} {
			if strings.Contains(text, form) {
				t.Fatalf("%q shows in: %.300s", form, text)
			}
		}
	}
}

func TestATokenShowsItselfToNobody(t *testing.T) {
	is := is.New(t)
	type account struct {
		Token  Token
		hidden Token
		list   []Token
		byName map[string]Token
	}
	a := account{token, token, []Token{token}, map[string]Token{"x": token}}
	for _, v := range []any{token, &token, a, &a, []Token{token}, map[string]Token{"x": token}} {
		hides(t, shown(t, v), tokenText)
	}
	is.Equal(token.Reveal(), tokenText)
	is.Equal(fmt.Sprint(token), "[redacted]")
	is.True(Token{}.IsZero())
}

func TestAClientShowsNoSecret(t *testing.T) {
	c := through(t, nil)
	hides(t, shown(t, c)+shown(t, *c), appSecret)
}

// everyCall makes each call that takes a secret.
func everyCall(ctx context.Context, c *Client) map[string]error {
	f := File{Name: "a.png", MIME: "image/png", Size: 3, Content: strings.NewReader("abc")}
	failed := map[string]error{}
	_, failed["send"] = c.Send(ctx, token, "1", []byte(`{}`), nil)
	failed["read"] = c.MarkRead(ctx, token, "1", "wamid.1", true)
	_, failed["upload"] = c.UploadMedia(ctx, token, "1", f, nil)
	_, failed["lookup"] = c.lookupMedia(ctx, token, "1", "2")
	_, failed["download"] = c.downloadMedia(ctx, token, Media{url: &url.URL{Scheme: "https", Host: "cdn.test", RawQuery: "mid=" + tokenText}}, 10, io.Discard)
	_, failed["handle"] = c.UploadHandle(ctx, token, f)
	_, failed["continue"] = c.uploadContent(ctx, token, "upload:1", f)
	_, failed["templates"] = c.Templates(ctx, token, "1", "")
	_, failed["create"] = c.CreateTemplate(ctx, token, "1", []byte(`{}`))
	failed["edit"] = c.EditTemplate(ctx, token, "1", []byte(`{}`))
	_, failed["number"] = c.Number(ctx, token, "1")
	_, failed["numbers"] = c.Numbers(ctx, token, "1")
	failed["register"] = c.Register(ctx, token, "1", "918273")
	failed["subscribe"] = c.Subscribe(ctx, token, "1")
	failed["unsubscribe"] = c.Unsubscribe(ctx, token, "1")
	_, failed["exchange"] = c.ExchangeCode(ctx, "AQBsecret|code=")
	_, failed["debug"] = c.TokenTargets(ctx, token, "x")
	return failed
}

func TestNoErrorShowsASecret(t *testing.T) {
	all := []string{tokenText, appSecret, "AQBsecret|code=", "918273", "4242|" + appSecret}
	everything := func(r *http.Request) string {
		text, _ := url.QueryUnescape(r.URL.String())
		return text + " " + r.URL.String() + " " + r.Header.Get("Authorization")
	}
	answer := func(r *http.Request, status int, body string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
	for name, transport := range map[string]roundTripper{
		"a transport that says everything": func(r *http.Request) (*http.Response, error) {
			return nil, errors.New("cannot: " + everything(r))
		},
		"a transport whose errors hold addresses": func(r *http.Request) (*http.Response, error) {
			return nil, &url.Error{Op: "Get", URL: r.URL.String(), Err: errors.New(everything(r))}
		},
		"a refusal that repeats everything": func(r *http.Request) (*http.Response, error) {
			text, _ := json.Marshal(everything(r))
			return answer(r, 401, fmt.Sprintf(`{"error":{"message":%[1]s,"type":%[1]s,"code":190,"error_user_msg":%[1]s,"error_user_title":%[1]s,
				"error_data":{"details":%[1]s,"blame_field_specs":[[%[1]s]]},"fbtrace_id":%[1]s,"href":%[1]s,"title":%[1]s}}`, text))
		},
		"a refusal whose secret lies across the cut": func(r *http.Request) (*http.Response, error) {
			text, _ := json.Marshal(strings.Repeat("x", maxTextBytes-8) + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			return answer(r, 401, fmt.Sprintf(`{"error":{"message":%s,"code":190}}`, text))
		},
		"an answer that cannot be read": func(r *http.Request) (*http.Response, error) { return answer(r, 200, "{"+everything(r)) },
		"a redirect":                    func(r *http.Request) (*http.Response, error) { return answer(r, 302, everything(r)) },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			failed := everyCall(t.Context(), through(t, transport))
			is.True(len(failed) > 15)
			for call, err := range failed {
				is.True(err != nil) // call
				hides(t, call+": "+shown(t, err), append(all, tokenText[:8])...)
			}
		})
	}
}

func TestNoTokenIsPartOfAnAddress(t *testing.T) {
	is := is.New(t)
	visited := 0
	c := through(t, func(r *http.Request) (*http.Response, error) {
		visited++
		if r.URL.Path != "/v23.0/debug_token" && r.URL.Host != "cdn.test" { // which asks about it; which the lookup named
			hides(t, r.URL.String(), tokenText)
		}
		if r.URL.Path != "/v23.0/oauth/access_token" { // which the provider will not have otherwise
			hides(t, r.URL.String(), appSecret)
		}
		return nil, io.EOF
	})
	calls := len(everyCall(t.Context(), c))
	is.True(15 < calls && calls <= visited)
}
