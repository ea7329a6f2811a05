package api

import (
	"testing"

	"github.com/matryer/is"
)

func TestHoursAreSetAndShown(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	got := f.callAs(ours.Secret, "GET", "/"+ours.number+"/hours", "")
	is.Equal(got.get("data.open_now"), true) // always open without hours
	is.Equal(got.get("data.weekly"), nil)

	got = f.callAs(ours.Secret, "PUT", "/"+ours.number+"/hours", `{"timezone":"Europe/Madrid","weekly":{"mon":[["09:00","12:30"],["14:00","24:00"]]},
		"holidays":[{"date":"2026-12-25","name":"Christmas"},{"date":"2026-12-31","spans":[["09:00","12:00"]]}]}`)
	t.Log(string(got.body))
	is.Equal(got.status, 200)
}
