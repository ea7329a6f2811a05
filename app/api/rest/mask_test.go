package rest

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestAPathIsMaskedHoweverOftenItIsEscaped(t *testing.T) {
	is := is.New(t)
	const key = "svc_live_0123456789abcdefABCDEF0123456789"
	is.Equal(maskPath("/v1/labels/lbl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"), "/v1/labels/lbl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D")

	for _, path := range []string{
		"/v1/" + key,
		"/v1/%73vc_live_" + key[9:],
		"/v1/%2573vc_live_" + key[9:],
		"/v1/%2573vc_live_" + key[9:] + "%25zz",
		"/v1/" + strings.Repeat("%25", 3000) + "73vc_live_" + key[9:],
		"/v1/%" + strings.Repeat("25", 8000) + "73vc_live_" + key[9:],
	} {
		if got := maskPath(path); strings.Contains(got, key[12:]) || len(got) > maxMaskedPath {
			t.Errorf("%.60s: %.200s", path, got)
		}
	}
}

// However a path is escaped, little is read and made of it.
func TestMaskingAPathTakesLittle(t *testing.T) {
	hostile := "/v1/%" + strings.Repeat("25", 8000)
	perRun := testing.AllocsPerRun(10, func() { maskPath(hostile) })
	if perRun > 20 {
		t.Errorf("%v allocations", perRun)
	}
}
