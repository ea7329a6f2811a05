package api

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
)

// attempts are the bodies that a request to a route is tried with: in any
// of them a missing resource comes first.
func attempts(o owner, rt rest.Route) []string {
	if rt.Method != "POST" && rt.Method != "PATCH" {
		return []string{""}
	}
	return append(o.bodies(rt), "", "{", `{"unknown":1}`)
}

// A client that walks the table with its own key finds nothing of anyone else's:
// not at their number, and not by one of their ids in any place of a path.
func TestNoRouteReachesAnotherOrganization(t *testing.T) {
	f, ours, theirs := serveEverything(t)
	before := f.contents()
	f.everyRoute(t, func(t *testing.T, f *fixture, rt rest.Route) {
		for _, place := range places(&rt) {
			path := theirs.path(t, rt, map[string]string{place: ours.has[place]})
			unknown := theirs.path(t, rt, map[string]string{place: unknownID(f, ours.has[place])})
			for _, body := range attempts(theirs, rt) {
				got := f.callAs(theirs.Secret, rt.Method, path, body)
				if got.code() != "404 resource_not_found" {
					t.Errorf("%s %s %.200s -> %s", rt.Method, path, body, got.body)
				}
				if missing := f.callAs(theirs.Secret, rt.Method, unknown, body); plainBody(got) != plainBody(missing) {
					t.Errorf("%s tells a foreign id from none:\n%s\n%s", path, got.body, missing.body)
				}
			}
		}
		if len(places(&rt)) > 1 { // all of it theirs, but the key ours
			got := f.callAs(ours.Secret, rt.Method, theirs.path(t, rt, nil), "")
			is.New(t).Equal(got.code(), "404 resource_not_found")
		}
	})
	for table, rows := range f.contents() {
		if rows != before[table] {
			t.Errorf("%s was changed:\n%s\nwas:\n%s", table, rows, before[table])
		}
	}
}

// An id of somebody else's in a body is refused, or passed over: it changes
// nothing of theirs.
func TestNoBodyReachesAnotherOrganization(t *testing.T) {
	f, ours, theirs := serveEverything(t)
	before := ours.shows(t, f)
	tried := 0
	f.everyRoute(t, func(t *testing.T, f *fixture, rt rest.Route) {
		if rt.Method != "POST" && rt.Method != "PATCH" {
			return
		}
		path := theirs.path(t, rt, nil)
		for i, body := range theirs.bodies(rt) {
			for _, id := range append(slices.Collect(maps.Values(theirs.has)), theirs.user, theirs.Team.PublicID) {
				foreign := strings.ReplaceAll(body, `"`+id+`"`, `"`+ours.counterpart(theirs, id)+`"`)
				if foreign == body {
					continue
				}
				tried++
				got := f.callAs(theirs.Secret, rt.Method, path, foreign)
				skipped := got.status == 200 && strings.HasSuffix(rt.Path, "/bulk_label") && counts(got) == "0 0 1 0"
				if got.status < 400 && !skipped {
					t.Errorf("%s, example %d with a foreign id: %s -> %s", path, i, foreign, got.body)
				}
			}
		}
	})
	is.New(t).True(tried >= 5)
	after := ours.shows(t, f)
	is.New(t).True(len(before) >= 20)
	for path, data := range before {
		if !reflect.DeepEqual(after[path], data) {
			t.Errorf("%s was changed:\n%v\nwas:\n%v", path, after[path], data)
		}
	}
}

// counterpart is what an owner has in the place of another's id.
func (o owner) counterpart(other owner, id string) string {
	for place, value := range other.has {
		if value == id {
			return o.has[place]
		}
	}
	if id == other.user {
		return o.user
	}
	return o.Team.PublicID
}

var idPattern = regexp.MustCompile(`^\^([a-z]+_)`)

// Lists hold nothing of anybody else's, and a foreign id as a filter finds
// nothing.
func TestNoListReachesAnotherOrganization(t *testing.T) {
	f, ours, theirs := serveEverything(t)
	lists, filters := 0, 0
	f.everyRoute(t, func(t *testing.T, f *fixture, rt rest.Route) {
		if rt.Method != "GET" {
			return
		}
		lists++
		path := theirs.path(t, rt, nil)
		got := f.callAs(theirs.Secret, "GET", path, "")
		for place, id := range ours.has {
			if place != "" && strings.Contains(got.body, id) { // the number is in every sample of an event
				t.Errorf("%s shows %s", path, id)
			}
		}
		for _, parameter := range describedOperation(rt).Parameters {
			p := parameter.Value
			kind := idPattern.FindStringSubmatch(p.Schema.Value.Pattern)
			if p.In != "query" || kind == nil {
				continue
			}
			filters++
			for _, id := range []string{ours.own(kind[1] + "01JQ0Z8M4T9V2X3W5Y6A7B8C9D"), f.db.NewID(kind[1])} {
				got := f.callAs(theirs.Secret, "GET", path+"?"+p.Name+"="+id, "")
				list, ok := got.get("data").([]any)
				if strings.HasSuffix(rt.Path, ".csv") {
					ok = strings.Count(got.body, "\n") == 1 // the header
				}
				if got.status != 200 || !ok || len(list) > 0 {
					t.Errorf("%s?%s=%s -> %s", path, p.Name, id, got.body)
				}
			}
		}
	})
	is.New(t).True(lists >= 20 && filters >= 5)
}

// An id that is none, or of nothing, is missing in every place of every path,
// no matter what else is wrong with the request.
func TestEveryRouteTakesABadIdForMissing(t *testing.T) {
	f, ours, _ := serveEverything(t)
	before := f.contents()
	f.everyRoute(t, func(t *testing.T, f *fixture, rt rest.Route) {
		for _, place := range places(&rt) {
			for _, bad := range badIDs(f, ours.has[place]) {
				path := ours.path(t, rt, map[string]string{place: bad})
				for _, body := range attempts(ours, rt) {
					if got := f.callAs(ours.Secret, rt.Method, path, body); got.code() != "404 resource_not_found" {
						t.Errorf("%s %s %.100s -> %s", rt.Method, path, body, got.body)
					}
				}
			}
		}
	})
	is.New(t).Equal(f.contents(), before)
}

// unknownID is an id of the same form as a good one, but of nothing.
func unknownID(f *fixture, good string) string {
	if prefix, rest, _ := strings.Cut(good, "_"); len(rest) == len(f.db.NewID("")) {
		return f.db.NewID(prefix + "_")
	}
	return "999999999" // a number, or a name
}

// badIDs are ids that are not quite like a good one, and one that is, but of
// nothing.
func badIDs(f *fixture, good string) []string {
	prefix, rest, _ := strings.Cut(good, "_")
	unknown := unknownID(f, good)
	if !strings.HasPrefix(unknown, prefix+"_") {
		return []string{"12345", strings.Repeat("1", 21), good + "0", "0" + good, unknown}
	}
	return []string{
		"x", prefix + "_", strings.ToLower(good), good + "0", good[:len(good)-1], "xxx_" + rest, rest, good[:len(good)-1] + "U", good + "%20", "%00", "..%2f", unknown,
	}
}
