package api

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// uphold sends a body to the number. The verdict on it must be the answer, with
// nothing stored; one without a fault may only fail for a missing resource.
func (f *fixture) uphold(body, verdict string) {
	f.t.Helper()
	before := f.effects()
	got := f.call("POST", messages, body)
	lacking := []string{"400 invalid_template_name", "422 media_not_found", "404 resource_not_found"}
	fault := got.status != 200 && !slices.ContainsFunc(lacking, func(code string) bool { return strings.HasPrefix(got.code(), code) })
	switch {
	case verdict != "" && got.code() != "400 "+verdict:
		f.t.Errorf("%.300s -> %s, not %s", body, got.code(), verdict)
	case verdict == "" && fault:
		f.t.Errorf("%.300s -> %s", body, got.body)
	case verdict == "" && described().refuses("POST", messages, body):
		f.t.Errorf("openapi.json forbids %.300s", body)
	case got.status != 200 && f.effects() != before:
		f.t.Errorf("%.300s -> %s left %s", body, got.code(), f.effects())
	}
}

// missed reports whether openapi.json would let a body pass that the API refuses.
func missed(body string) bool { return !described().refuses("POST", messages, body) }

func TestTheAPIUpholdsTheLimitsOfEveryText(t *testing.T) {
	f, _ := serveNumber(t)
	for _, l := range textLimits {
		t.Run(l.param, func(t *testing.T) {
			f := f.in(t)
			absent, bad := "", "invalid_field_value "+l.param
			if l.absent != "" {
				absent = "missing_required_field " + l.absent
			}
			f.uphold(l.without(), absent)
			f.uphold(l.with("null"), absent)
			f.uphold(l.with(`""`), bad)
			f.uphold(l.with("5"), bad)
			f.uphold(l.with(l.long(len(l.prefix)+1)), "")
			if l.most > 0 {
				f.uphold(l.with(l.long(l.most)), "")
				f.uphold(l.with(l.long(l.most+1)), bad)
			}
		})
	}
}

func TestTheDescriptionKnowsTheLimitsOfContent(t *testing.T) {
	is := is.New(t)
	for _, l := range textLimits {
		if l.kind == "template" || strings.HasPrefix(l.param, "interactive.header") {
			continue // described in words
		}
		if l.absent != "" && l.absent != "interactive.action.sections[1].title" { // needed by the second only
			is.True(!missed(l.without()))
		}
		is.True(!missed(l.with(`""`)))
		if l.most > 0 {
			is.True(!missed(l.with(l.long(l.most + 1)))) // one more
		}
	}
	for _, body := range []string{`{}`, `{"type":"text"}`, `{"status":"read"}`, message("sticker", `{}`), message("text", `null`),
		`{"messaging_product":"chat","type":"text","text":{"body":"x"}}`} {
		is.True(!missed(body))
	}
}
