package provider

import (
	"errors"
	"fmt"
	"io"
	"net/http"
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

func TestUploadsNeedAnswersThatMakeSense(t *testing.T) {
	f := File{MIME: "image/png", Size: 3, Content: strings.NewReader("abc")}
	for _, body := range []string{`{}`, `{"id":"123"}`, `{"id":7}`} {
		c, _ := says(t, 200, body)
		_, err := c.UploadHandle(t.Context(), token, f)
		failure(t, err, "upstream_error", true, Unknown)
	}
}

func TestAnUploadNeedsAnApp(t *testing.T) {
	is := is.New(t)
	c := dial(t, Options{BaseURL: "https://provider.test"})
	_, err := c.UploadHandle(t.Context(), token, File{Name: "a.png", MIME: "image/png", Size: 1})
	failure(t, err, "upstream_error", false, NotSent)
	is.True(errors.Is(err, errNoApp))
}
