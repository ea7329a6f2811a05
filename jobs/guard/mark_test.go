package guard

import (
	"net/http"
	"testing"

	"github.com/matryer/is"
)

// Every request is marked, no matter what the caller has set, and after a redirect again. The
// caller's own request stays as it was.
func TestEveryRequestIsMarked(t *testing.T) {
	is := is.New(t)
	var marks []bool
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if marks = append(marks, IsFetch(r)); r.URL.Path == "/first" {
			http.Redirect(w, r, "/second", http.StatusFound)
		}
	})
	c := open(t, Options{AllowInsecure: true, Allow: loopback, Redirects: 1})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/first", nil)
	is.NoErr(err)
	req.Header[Header] = []string{""}
	res, err := c.Do(req)
	is.NoErr(err)
	res.Body.Close()
	is.Equal(req.Header.Get(Header), "")

	req, err = http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/third", nil)
	is.NoErr(err)
	res, err = c.Transport().RoundTrip(req)
	is.NoErr(err)
	res.Body.Close()
	is.Equal(marks, []bool{true, true, true})
}
