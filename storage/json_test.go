package storage_test

import (
	"encoding/json"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

func TestJSONIsPassedOnAsItIs(t *testing.T) {
	for _, text := range []string{`{"b":1,"a":[1,2]}`, `"text"`, `[]`, `null`} {
		is := is.New(t)
		in := struct{ Args storage.JSON }{storage.JSON(text)}
		b, err := json.Marshal(in)
		is.NoErr(err)
		is.Equal(string(b), `{"Args":`+text+`}`)
		var out struct{ Args storage.JSON }
		is.NoErr(json.Unmarshal(b, &out))
		if text == "null" {
			is.True(out.Args == nil)
			continue
		}
		is.Equal(string(out.Args), text) // not base64
	}
}

func TestJSONNilIsNull(t *testing.T) {
	is := is.New(t)
	b, err := json.Marshal(storage.JSON(nil))
	is.NoErr(err)
	is.Equal(string(b), "null")
	v, err := storage.JSON(nil).Value()
	is.NoErr(err)
	is.Equal(v, nil)
	j := storage.JSON("{}")
	is.NoErr(j.Scan(nil))
	is.True(j == nil)
	is.True(j.Scan(5) != nil) // a number is no JSON text
}

func TestJSONGoesThroughAStrictTextColumn(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	var texts []storage.JSON
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		err := tx.Exec(`INSERT INTO jobs (kind, args, state, due_at, last_error, created_at) VALUES ('a', ?, 'due', 0, ?, 0)`,
			storage.JSON(`{"n":1}`), storage.JSON(nil))
		if err != nil {
			return err
		}
		return tx.List(&texts, `SELECT args FROM jobs UNION ALL SELECT last_error FROM jobs`)
	})
	is.Equal(texts, []storage.JSON{storage.JSON(`{"n":1}`), nil})
}

func TestJSONScannedFromBytesIsACopy(t *testing.T) {
	is := is.New(t)
	b := []byte(`[1]`)
	var j storage.JSON
	is.NoErr(j.Scan(b))
	b[1] = '2'
	is.Equal(string(j), `[1]`)
}

func TestJSONIsEqualByWhatItMeans(t *testing.T) {
	for _, test := range []struct {
		a, b storage.JSON
		want bool
	}{
		{nil, nil, true},
		{nil, storage.JSON(`null`), false},
		{storage.JSON(`{"a":1,"b":[2]}`), storage.JSON(`{ "b": [2], "a": 1 }`), true},
		{storage.JSON(`[1,2]`), storage.JSON(`[2,1]`), false},
		{storage.JSON(`{"id":12345678901234567890}`), storage.JSON(`{"id":12345678901234567891}`), false}, // the same as floats
		{storage.JSON(`{"a":"é"}`), storage.JSON(`{"a":"\u00e9"}`), true},
	} {
		t.Run(string(test.a)+" "+string(test.b), func(t *testing.T) {
			is := is.New(t)
			is.Equal(test.a.Equal(test.b), test.want)
			is.Equal(test.b.Equal(test.a), test.want)
		})
	}
}
