package storage_test

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

// listMethods are the methods of Rx that list page after page: all that are told
// where a page begins. A new one is in by itself.
func listMethods() (lists []reflect.Method) {
	t := reflect.TypeFor[*storage.Rx]()
	for i := range t.NumMethod() {
		m := t.Method(i)
		for n := 1; n < m.Type.NumIn(); n++ {
			if m.Type.In(n) == reflect.TypeFor[storage.After]() {
				lists = append(lists, m)
			}
		}
	}
	return lists
}

// arguments are what a list can be called with, by the filters that they set:
// every one, and every set of several.
func arguments(t *testing.T, m reflect.Method) map[string][]reflect.Value {
	all := map[string][]reflect.Value{"": nil}
	for n := 1; n < m.Type.NumIn(); n++ {
		next := make(map[string][]reflect.Value)
		for name, args := range all {
			for more, value := range choices(t, m.Name, m.Type.In(n)) {
				next[name+more] = append(slices.Clone(args), value)
			}
		}
		all = next
	}
	return all
}

// choices are the values that a parameter can have.
func choices(t *testing.T, method string, in reflect.Type) map[string]reflect.Value {
	switch {
	case in == reflect.TypeFor[storage.After]():
		return map[string]reflect.Value{"": reflect.ValueOf(storage.First)}
	case in.Kind() == reflect.Struct:
		all := map[string]reflect.Value{" by": reflect.Zero(in)}
		for i := range in.NumField() {
			for name, value := range maps.Clone(all) {
				set := reflect.New(in).Elem()
				set.Set(value)
				fill(t, method, set.Field(i))
				all[name+" "+in.Field(i).Name] = set
			}
		}
		return all
	default:
		value := reflect.New(in).Elem()
		fill(t, method, value)
		return map[string]reflect.Value{"": value}
	}
}

func fill(t *testing.T, method string, value reflect.Value) {
	t.Helper()
	switch value.Kind() {
	case reflect.String:
		value.SetString("x")
	case reflect.Int, reflect.Int64:
		value.SetInt(5)
	case reflect.Bool:
		value.SetBool(true)
	default:
		t.Fatalf("%s takes a %s, which this test cannot make up", method, value.Type())
	}
}

// seeks matches a step that finds rows by an index, and either in the order of the
// list, from where the page begins, or at most one: by a unique key.
var seeks = regexp.MustCompile(`SEARCH \w+ USING (COVERING )?INDEX (\w+ \(.*\(\w+,(id|\w+_id)\)[<>]\(\?,\?\)|contacts_phone|contacts_bsuid|sqlite_autoindex_conversations_2)`)

// Every list, with every set of filters, begins at its index: it neither reads
// what lies before the page nor sorts.
func TestEveryListSeeksByItsIndex(t *testing.T) {
	db := open(t, newFile(t))
	lists := listMethods()
	if len(lists) < 4 {
		t.Fatalf("only %d lists were found", len(lists))
	}
	for _, m := range lists {
		for filters, args := range arguments(t, m) {
			storagetest.View(t, db, func(rx *storage.Rx) error {
				plans, err := rx.Plans(func() error {
					out := m.Func.Call(append([]reflect.Value{reflect.ValueOf(rx)}, args...))
					err, _ := out[len(out)-1].Interface().(error)
					return err
				})
				if err != nil || len(plans) == 0 {
					return fmt.Errorf("%s%s: %v", m.Name, filters, err)
				}
				for query, plan := range plans {
					if strings.Contains(query, "LIMIT") && !seeks.MatchString(plan) || slow.MatchString(plan) {
						t.Errorf("%s%s:\n%s\n%s", m.Name, filters, query, plan)
					}
				}
				return nil
			})
		}
	}
}
