package rest

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

func TestErrorsOutsideOfTheAPIHaveItsEnvelope(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	refuse := func(err error) answer {
		rec := httptest.NewRecorder()
		f.api.WriteError(rec, httptest.NewRequest("GET", "/media/x?token=secret", nil), err)
		got := answer{status: rec.Code, header: rec.Header(), body: rec.Body.String()}
		is.True(storage.ValidID(storage.PrefixRequest, got.header.Get("X-Request-Id")))
		is.Equal(got.get("error.request_id"), got.header.Get("X-Request-Id"))
		return got
	}
	missing := refuse(Fail(ResourceNotFound, "This path does not exist."))
	is.Equal(missing.code(), "404 resource_not_found")
	is.Equal(len(f.log.lines(missing.header.Get("X-Request-Id"))), 0)

	broken := refuse(errors.New("torn wire"))
	is.Equal(broken.code(), "500 internal_error")
	is.True(!strings.Contains(broken.body, "torn wire"))
	lines := f.log.lines(broken.header.Get("X-Request-Id"))
	is.Equal(len(lines), 1)
	is.True(strings.Contains(lines[0], "torn wire"))
	is.True(!strings.Contains(lines[0], "secret"))
}
