package provider

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/matryer/is"
)

// shelf plays an account with count templates, in pages.
func shelf(t *testing.T, count int) (*Client, *[]string) {
	t.Helper()
	asked := &[]string{}
	return play(t, func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.RawQuery)
		from, _ := strconv.Atoi(r.URL.Query().Get("after"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		io.WriteString(w, `{"data":[`)
		to := min(from+limit, count)
		for i := from; i < to; i++ {
			if i > from {
				io.WriteString(w, ",")
			}
			fmt.Fprintf(w, `{"id":"%d","name":"t%d","language":"en_US","status":"APPROVED","category":"UTILITY","components":[{"type":"BODY","text":"x"}]}`, i, i)
		}
		fmt.Fprintf(w, `],"paging":{"cursors":{"before":"x","after":"%d"}`, to)
		if to < count {
			io.WriteString(w, `,"next":"https://elsewhere.test/next?after=x"`)
		}
		io.WriteString(w, `}}`)
	}), asked
}

func TestTemplatesAreListedThroughAllPages(t *testing.T) {
	for _, test := range []struct{ count, pages int }{{0, 1}, {1, 1}, {100, 1}, {101, 2}, {350, 4}} {
		t.Run(strconv.Itoa(test.count), func(t *testing.T) {
			is := is.New(t)
			c, asked := shelf(t, test.count)
			all, err := c.Templates(t.Context(), token, "7", "")
			is.NoErr(err)
			for n, template := range all {
				is.Equal(template.Name, "t"+strconv.Itoa(n))
			}
			is.Equal(len(all), test.count)
			is.Equal(len(*asked), test.pages)
		})
	}
}

func TestFiltersAreAsked(t *testing.T) {
	is := is.New(t)
	c, got := says(t, 200, `{"data":[]}`)
	all, err := c.Templates(t.Context(), token, "7", "a")
	is.NoErr(err)
	is.Equal(len(all), 0)
	is.Equal(got.Path, "/v23.0/7/message_templates")
	is.Equal(got.Query, "fields=id%2Cname%2Clanguage%2Cstatus%2Ccategory%2Ccomponents%2Cparameter_format%2Crejected_reason&limit=100&name=a")
}

func TestAListThatBreaksOffEndsWithAnError(t *testing.T) {
	for name, second := range map[string]string{
		"server error":      `500`,
		"no data":           `{"paging":{}}`,
		"null data":         `{"data":null}`,
		"same cursor again": `{"data":[],"paging":{"cursors":{"after":"A"},"next":"https://x.test"}}`,
		"next, no cursor":   `{"data":[],"paging":{"next":"https://x.test"}}`,
		"error in a 200":    `{"data":[],"error":{"code":190}}`,
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			calls := 0
			c := play(t, func(w http.ResponseWriter, r *http.Request) {
				switch calls++; {
				case calls == 1:
					io.WriteString(w, `{"data":[{"id":"1"}],"paging":{"cursors":{"after":"A"},"next":"https://x.test"}}`)
				case second == "500":
					w.WriteHeader(500)
				default:
					io.WriteString(w, second)
				}
			})
			all, err := c.Templates(t.Context(), token, "7", "")
			is.Equal(len(all), 0) // a part of it would look like a short list
			is.True(err != nil)
			is.Equal(calls, 2)
		})
	}
}

func TestACursorMayStandInTheAddressOnly(t *testing.T) {
	is := is.New(t)
	c := play(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("after") == "B" {
			io.WriteString(w, `{"data":[{"id":"2"}]}`)
			return
		}
		io.WriteString(w, `{"data":[{"id":"1"}],"paging":{"next":"https://x.test/v1/7?limit=1&after=B"}}`)
	})
	all, err := c.Templates(t.Context(), token, "7", "")
	is.NoErr(err)
	is.Equal(len(all), 2)
}

func TestAnEndlessListEnds(t *testing.T) {
	is := is.New(t)
	calls := 0
	c := through(t, nil)
	c.http.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		calls++
		return reply(r, fmt.Sprintf(`{"data":[],"paging":{"cursors":{"after":"%d"},"next":"https://x.test"}}`, calls)), nil
	})
	_, err := c.Templates(t.Context(), token, "7", "")
	failure(t, err, "upstream_error", true, Unknown)
	is.Equal(calls, maxPages)
}

func TestTemplatesAreCreatedAndEdited(t *testing.T) {
	is := is.New(t)
	c, got := says(t, 200, `{"id":"594425479261596","status":"PENDING","category":"MARKETING"}`)
	created, err := c.CreateTemplate(t.Context(), token, "7", []byte(`{"name":"x"}`))
	is.NoErr(err)
	is.Equal(created, Template{ID: "594425479261596", Status: "PENDING", Category: "MARKETING"})
	is.Equal(got.Method+" "+got.Path+" "+got.Body, `POST /v23.0/7/message_templates {"name":"x"}`)

	c, _ = says(t, 200, `{"id":594425479261596,"name":"x","components":[{"type":"BODY"}],"quality_score":{"score":"GREEN"},"message_send_ttl_seconds":"60"}`)
	created, err = c.CreateTemplate(t.Context(), token, "7", []byte(`{"name":"x"}`))
	is.NoErr(err)
	is.Equal(created.ID, ID("594425479261596")) // also when it is written as a number
	is.Equal(string(created.Components), `[{"type":"BODY"}]`)

	c, got = says(t, 200, `{"success":true}`)
	is.NoErr(c.EditTemplate(t.Context(), token, "5", []byte(`{"components":[]}`)))
	is.Equal(got.Method+" "+got.Path+" "+got.Body, `POST /v23.0/5 {"components":[]}`)
}

func TestACreatedTemplateNeedsAnID(t *testing.T) {
	c, _ := says(t, 200, `{"status":"PENDING"}`)
	_, err := c.CreateTemplate(t.Context(), token, "7", []byte(`{}`))
	failure(t, err, "upstream_error", true, Unknown)
}

func TestALostTemplateIsNotALostAccount(t *testing.T) {
	is := is.New(t)
	lost := `{"error":{"message":"Unsupported get request.","type":"GraphMethodException","code":100,"error_subcode":33}}`
	c, _ := says(t, 400, lost)
	err := c.EditTemplate(t.Context(), token, "5", []byte(`{}`))
	is.True(IsMissing(err))
	is.Equal(ClassOf(err).Effect, NoEffect)
	_, err = c.CreateTemplate(t.Context(), token, "7", []byte(`{}`))
	is.True(IsMissing(err))
	is.Equal(ClassOf(err).Effect, Degraded) // but a lost account is
}
