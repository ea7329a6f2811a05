package provider

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/matryer/is"
)

const session = "upload:MTphdHRhY2htZW50OmY=?sig=ARZqkGCA_uQ-8=x"

func TestAHeaderHandleComesFromAnUploadSession(t *testing.T) {
	is := is.New(t)
	var asked []seen
	c := play(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, record(r))
		if len(asked) == 1 {
			fmt.Fprintf(w, `{"id":%q}`, session)
			return
		}
		io.WriteString(w, `{"h":"4::aW1hZ2UvcG5n:ARZ"}`)
	})
	f := File{Name: "a b.png", MIME: "image/png", Size: 5, Content: strings.NewReader("bytes")}
	handle, err := c.UploadHandle(t.Context(), token, f)
	is.NoErr(err)
	is.Equal(handle, "4::aW1hZ2UvcG5n:ARZ")
	is.Equal(len(asked), 2)
	is.Equal(asked[0].Method+" "+asked[0].Path+"?"+asked[0].Query, "POST /v23.0/4242/uploads?file_length=5&file_name=a+b.png&file_type=image%2Fpng")
	is.Equal(asked[0].Auth, "Bearer "+tokenText)
	is.Equal(asked[1].Method+" "+asked[1].Path+"?"+asked[1].Query, "POST /v23.0/upload:MTphdHRhY2htZW50OmY=?sig=ARZqkGCA_uQ-8%3Dx")
	is.Equal(asked[1].Auth, "OAuth "+tokenText)
	is.Equal(asked[1].Header.Get("file_offset"), "0")
	is.Equal(asked[1].Body, "bytes")
}

// unreliable plays a provider that takes a part of the content and then fails.
type unreliable struct {
	received strings.Builder
	takes    []int // how much each attempt takes before it fails
	offsets  []string
}

func (u *unreliable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/uploads"):
		io.WriteString(w, `{"id":"upload:1"}`)
	case r.Method == http.MethodGet:
		fmt.Fprintf(w, `{"id":"upload:1","file_offset":%d}`, u.received.Len())
	default:
		u.offsets = append(u.offsets, r.Header.Get("file_offset"))
		if len(u.takes) > 0 {
			io.CopyN(&u.received, r.Body, int64(u.takes[0]))
			u.takes = u.takes[1:]
			http.Error(w, "gone", http.StatusBadGateway)
			return
		}
		io.Copy(&u.received, r.Body)
		io.WriteString(w, `{"h":"handle"}`)
	}
}

func TestAnInterruptedUploadIsTakenUpAtItsOffset(t *testing.T) {
	for _, test := range []struct {
		name    string
		takes   []int
		offsets string
		ok      bool
	}{
		{"once", []int{4}, "0 4", true},
		{"twice", []int{4, 3}, "0 4 7", true},
		{"all there, only the answer lost", []int{10}, "0 10", true},
		{"too often", []int{1, 1, 1}, "0 1 2", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			u := &unreliable{takes: test.takes}
			server := httptest.NewServer(u)
			defer server.Close()
			c := dial(t, Options{BaseURL: server.URL, AppID: "4242"})
			handle, err := c.UploadHandle(t.Context(), token, File{MIME: "image/png", Size: 10, Content: strings.NewReader("0123456789")})
			is.Equal(strings.Join(u.offsets, " "), test.offsets)
			is.Equal(err == nil, test.ok)
			if test.ok {
				is.Equal(handle, "handle")
				is.Equal(u.received.String(), "0123456789")
			}
		})
	}
}

func TestUploadsNeedAnswersThatMakeSense(t *testing.T) {
	is := is.New(t)
	f := File{MIME: "image/png", Size: 3, Content: strings.NewReader("abc")}
	for _, body := range []string{`{}`, `{"id":"123"}`, `{"id":7}`} {
		c, _ := says(t, 200, body)
		_, err := c.UploadHandle(t.Context(), token, f)
		failure(t, err, "upstream_error", true, Unknown)
	}
	for _, body := range []string{`{}`, `{"file_offset":-1}`, `{"file_offset":null}`, `{"file_offset":"x"}`} {
		c, _ := says(t, 200, body)
		_, err := c.uploadOffset(t.Context(), token, "upload:1")
		failure(t, err, "upstream_error", true, Unknown)
	}
	c, _ := says(t, 200, `{"file_offset":"2"}`)
	offset, err := c.uploadOffset(t.Context(), token, "upload:1")
	is.NoErr(err)
	is.Equal(offset, int64(2))

	for _, bad := range []int64{-1, 4} {
		_, err = c.continueUpload(t.Context(), token, "upload:1", f, bad)
		failure(t, err, "upstream_error", false, NotSent)
	}
	_, err = c.uploadOffset(t.Context(), token, "12345")
	failure(t, err, "upstream_error", false, NotSent)
	_, err = dial(t, Options{BaseURL: "https://provider.test"}).startUpload(t.Context(), token, f)
	failure(t, err, "upstream_error", false, NotSent) // without an app there are no sessions
}

func TestAnUploadNeedsAnApp(t *testing.T) {
	is := is.New(t)
	c := dial(t, Options{BaseURL: "https://provider.test"})
	_, err := c.UploadHandle(t.Context(), token, File{Name: "a.png", MIME: "image/png", Size: 1})
	failure(t, err, "upstream_error", false, NotSent)
	is.True(errors.Is(err, errNoApp))
}
