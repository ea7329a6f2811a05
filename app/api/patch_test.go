package api

import (
	"encoding/json"
	"testing"

	"github.com/matryer/is"
)

func TestAPatchTellsAbsentNullAndValueApart(t *testing.T) {
	type body struct {
		Name patch[string] `json:"name"`
	}
	tests := map[string]patch[string]{
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
			is.Equal(in.Name.given(), want.Set && !want.Null)
		})
	}
}
