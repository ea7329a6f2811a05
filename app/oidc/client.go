package oidc

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

const (
	// maxAnswer bounds an answer of the provider. Keys and tokens are far smaller.
	maxAnswer    = 1 << 20
	maxRedirects = 3
)

var errTooLarge = errors.New("the answer is too large")

// newClient makes the client that calls the provider. What is posted, our secret, goes nowhere
// else.
func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxResponseHeaderBytes = 64 << 10
	return &http.Client{
		Transport: boundedTransport{transport},
		Timeout:   timeout,
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if via[0].Method != http.MethodGet || len(via) > maxRedirects {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

// boundedTransport bounds the bodies of answers.
type boundedTransport struct{ http.RoundTripper }

func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = &boundedBody{response.Body, maxAnswer}
	}
	return response, err
}

type boundedBody struct {
	io.ReadCloser
	left int
}

// Read fails beyond the bound: part of an answer is none.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// unavailable is the error of a call that failed. The provider may have put anything in it.
func unavailable(call string, err error) error {
	return fmt.Errorf("%w: %s: %s", ErrUnavailable, call, clip(err.Error()))
}

// clip shortens what is logged.
func clip(text string) string {
	const most = 300
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}
