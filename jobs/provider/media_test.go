package provider

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

func picture(content string) File {
	return File{Name: `odd "name"` + "\r\n.png", MIME: "image/png", Size: int64(len(content)), Content: strings.NewReader(content)}
}

func TestMediaIsUploadedAsAForm(t *testing.T) {
	is := is.New(t)
	content := strings.Repeat("png", 50_000)
	c := play(t, func(w http.ResponseWriter, r *http.Request) {
		is.Equal(r.URL.Path, "/v23.0/1/media")
		is.Equal(r.Header.Get("Authorization"), "Bearer "+tokenText)
		is.True(r.ContentLength > int64(len(content))) // streamed, but of known length
		is.NoErr(r.ParseMultipartForm(1 << 20))
		is.Equal(r.FormValue("messaging_product"), "whatsapp")
		is.Equal(r.FormValue("type"), "image/png")
		file, header, err := r.FormFile("file")
		is.NoErr(err)
		got, err := io.ReadAll(file)
		is.NoErr(err)
		is.Equal(string(got), content)
		is.Equal(header.Header.Get("Content-Type"), "image/png")
		io.WriteString(w, `{"id":"1037543291543636"}`)
	})
	id, err := c.UploadMedia(t.Context(), token, "1", picture(content), nil)
	is.NoErr(err)
	is.Equal(id, "1037543291543636")
}

func TestAnUploadThatCannotBeRightIsNotTried(t *testing.T) {
	is := is.New(t)
	c := through(t, func(*http.Request) (*http.Response, error) { panic("nothing may be sent") })
	f := picture("x")
	f.MIME = "image/png\r\nX-Evil: 1"
	_, err := c.UploadMedia(t.Context(), token, "1", f, nil)
	failure(t, err, "upstream_error", false, NotSent)

	c, _ = says(t, 200, `{}`)
	_, err = c.UploadMedia(t.Context(), token, "1", picture("x"), nil)
	failure(t, err, "upstream_error", true, Unknown) // no id, no success
	c, _ = says(t, 400, `{"error":{"message":"(#100) Param file must be a file with one of the following types","code":100}}`)
	_, err = c.UploadMedia(t.Context(), token, "1", picture("x"), nil)
	failure(t, err, "upstream_error", false, Refused)
	is.True(err != nil)
}

// library plays a provider that holds one file.
func library(t *testing.T, content string) (*Client, *int) {
	t.Helper()
	lookups := new(int)
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v23.0/77":
			*lookups++
			fmt.Fprintf(w, `{"messaging_product":"whatsapp","url":"%s/get?mid=%d","mime_type":"image/png","sha256":"x","file_size":%d,"id":"77"}`, server.URL, *lookups, len(content))
		case "/get":
			if r.Header.Get("Authorization") != "Bearer "+tokenText || r.URL.Query().Get("mid") == "1" {
				http.NotFound(w, r) // the first address is stale at once
				return
			}
			w.Header().Set("Content-Type", "image/jpeg")
			io.WriteString(w, content)
		default:
			w.WriteHeader(400)
			io.WriteString(w, `{"error":{"message":"Unsupported get request.","type":"GraphMethodException","code":100,"error_subcode":33}}`)
		}
	}))
	t.Cleanup(server.Close)
	return dial(t, Options{BaseURL: server.URL, Version: "v23.0"}), lookups
}

func TestMediaIsLookedUpAndDownloadedWithTheToken(t *testing.T) {
	is := is.New(t)
	c, lookups := library(t, "the content")
	m, err := c.lookupMedia(t.Context(), token, "77", "1")
	is.NoErr(err)
	is.Equal(m.Size, int64(11))
	is.Equal(m.MIME, "image/png")

	_, err = c.downloadMedia(t.Context(), token, m, 100, io.Discard)
	is.True(IsMissing(err)) // expired
	failure(t, err, "upstream_error", true, Refused)

	var b bytes.Buffer
	*lookups = 0
	m, err = c.FetchMedia(t.Context(), token, "77", "", 11, &b)
	is.NoErr(err)
	is.Equal(*lookups, 2)          // it was looked up again
	is.Equal(m.MIME, "image/jpeg") // as the download says
	is.Equal(b.String(), "the content")

	_, err = c.FetchMedia(t.Context(), token, "78", "", 11, &b)
	is.True(IsMissing(err))
	failure(t, err, "upstream_error", false, Refused)
	is.Equal(ClassOf(err).Effect, NoEffect) // lost media is not a lost account
}

func TestMediaOverTheLimitIsRefused(t *testing.T) {
	is := is.New(t)
	c, _ := library(t, "the content")
	_, err := c.FetchMedia(t.Context(), token, "77", "", 10, io.Discard)
	is.True(errors.Is(err, ErrTooLarge)) // by what the lookup says
	is.True(!IsTransient(err))

	m, err := c.lookupMedia(t.Context(), token, "77", "")
	is.NoErr(err)
	m.Size = 0
	var b bytes.Buffer
	_, err = c.downloadMedia(t.Context(), token, m, 10, &b)
	is.True(errors.Is(err, ErrTooLarge)) // by what comes
	is.True(b.Len() <= 10)
}

func TestAFullDiskIsNotTheProvidersFault(t *testing.T) {
	is := is.New(t)
	c, _ := library(t, "the content")
	full := errors.New("disk full")
	_, err := c.FetchMedia(t.Context(), token, "77", "", 100, writer(func([]byte) (int, error) { return 0, full }))
	is.Equal(err, full)
	is.True(!IsTransient(err))
}

type writer func([]byte) (int, error)

func (f writer) Write(p []byte) (int, error) { return f(p) }

func TestADownloadGoesOnlyWhereTheLookupSays(t *testing.T) {
	for _, at := range []string{"http://lookaside.test/x", "ftp://provider.test/x", "https://user@lookaside.test/x", "//lookaside.test", "/x", "https://", "%"} {
		t.Run(at, func(t *testing.T) {
			c, _ := says(t, 200, fmt.Sprintf(`{"id":"77","url":%q}`, at))
			_, err := c.lookupMedia(t.Context(), token, "77", "")
			failure(t, err, "upstream_error", true, Unknown)
		})
	}
	c := through(t, func(*http.Request) (*http.Response, error) { panic("nothing may be sent") })
	_, err := c.downloadMedia(t.Context(), Token{}, Media{url: &url.URL{}}, 10, io.Discard)
	failure(t, err, "auth_expired", false, NotSent)
}

func TestADownloadFollowsNoRedirectWithTheToken(t *testing.T) {
	is := is.New(t)
	visited := []string{}
	c := through(t, func(r *http.Request) (*http.Response, error) {
		visited = append(visited, r.URL.Host)
		return &http.Response{StatusCode: 302, Header: http.Header{"Location": {"https://evil.test/"}}, Body: http.NoBody, Request: r}, nil
	})
	_, err := c.downloadMedia(t.Context(), token, Media{url: &url.URL{Scheme: "https", Host: "cdn.test"}}, 10, io.Discard)
	failure(t, err, "upstream_error", true, Refused)
	is.Equal(visited, []string{"cdn.test"})
}

func TestADownloadThatBreaksOffIsNotASmallerFile(t *testing.T) {
	c := through(t, func(r *http.Request) (*http.Response, error) {
		body := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(io.ErrUnexpectedEOF))
		return &http.Response{StatusCode: 200, Body: io.NopCloser(body), Request: r}, nil
	})
	_, err := c.downloadMedia(t.Context(), token, Media{url: &url.URL{Scheme: "https", Host: "cdn.test"}}, 100, io.Discard)
	failure(t, err, "upstream_error", true, Unknown)
}

// drip gives one byte after each pause, and ends after count of them.
type drip struct {
	ctx   context.Context
	pause time.Duration
	count int
}

func (d *drip) Read(p []byte) (int, error) {
	if d.count == 0 {
		return 0, io.EOF
	}
	d.count--
	select {
	case <-time.After(d.pause):
		p[0] = 'x'
		return 1, nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

func (d *drip) Close() error { return nil }

func TestATransferIsBoundedByItsProgress(t *testing.T) {
	for _, test := range []struct {
		name  string
		pause time.Duration
		count int
		took  time.Duration
		ok    bool
	}{
		{"slow but steady", 20 * time.Second, 10, 200 * time.Second, true},
		{"stalled", time.Hour, 1, stallTimeout, false},
		{"steady without end", 20 * time.Second, 1000, transferLimit, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				c := through(t, func(r *http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: 200, Body: &drip{r.Context(), test.pause, test.count}, Request: r}, nil
				})
				start := time.Now()
				_, err := c.downloadMedia(t.Context(), token, Media{url: &url.URL{Scheme: "https", Host: "cdn.test"}}, 1<<20, io.Discard)
				is.Equal(time.Since(start), test.took)
				is.Equal(err == nil, test.ok)
				if !test.ok {
					is.True(errors.Is(err, context.DeadlineExceeded))
					failure(t, err, "upstream_error", true, Unknown)
				}
			})
		})
	}
}

func TestASlowConsumerDoesNotStallADownload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := through(t, func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: &drip{r.Context(), time.Second, 3}, Request: r}, nil
		})
		slow := writer(func(p []byte) (int, error) {
			<-time.After(time.Minute)
			return len(p), nil
		})
		_, err := c.downloadMedia(t.Context(), token, Media{url: &url.URL{Scheme: "https", Host: "cdn.test"}}, 100, slow)
		is.New(t).NoErr(err)
	})
}

func TestAnUploadThatStallsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := through(t, func(r *http.Request) (*http.Response, error) {
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		start := time.Now()
		_, err := c.UploadMedia(t.Context(), token, "1", picture("abc"), nil)
		is.Equal(time.Since(start), stallTimeout)
		failure(t, err, "upstream_error", true, Unknown)
	})
}

func TestAHashIsComparedInEitherWriting(t *testing.T) {
	is := is.New(t)
	sum := sha256.Sum256([]byte("x"))
	for _, text := range []string{hex.EncodeToString(sum[:]), strings.ToUpper(hex.EncodeToString(sum[:])), base64.StdEncoding.EncodeToString(sum[:]), base64.RawStdEncoding.EncodeToString(sum[:]), "", "?"} {
		is.True(Media{SHA256: text}.Matches(hex.EncodeToString(sum[:])))
	}
	other := sha256.Sum256([]byte("y"))
	is.True(!Media{SHA256: hex.EncodeToString(other[:])}.Matches(hex.EncodeToString(sum[:])))
	is.True(!Media{SHA256: base64.StdEncoding.EncodeToString(other[:])}.Matches(hex.EncodeToString(sum[:])))
}
