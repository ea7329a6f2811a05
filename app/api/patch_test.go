package api

import (
	"encoding/json"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
)

func TestAPatchTellsAbsentNullAndValueApart(t *testing.T) {
	type body struct {
		Name rest.Patch[string] `json:"name"`
	}
	tests := map[string]rest.Patch[string]{
		`{}`:                       {},
		`{"name":null}`:            {Set: true, Null: true},
		`{"name":""}`:              {Set: true},
		`{"name":"a"}`:             {Set: true, Value: "a"},
		`{"name":"a","name":"b"}`:  {Set: true, Value: "b"},
		`{"name":"a","name":null}`: {Set: true, Null: true},
		`{"name":null,"name":"b"}`: {Set: true, Value: "b"},
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			is := is.New(t)
			var in body
			is.NoErr(json.Unmarshal([]byte(text), &in))
			is.Equal(in.Name, want)
			is.Equal(in.Name.Given(), want.Set && !want.Null)
		})
	}
}
