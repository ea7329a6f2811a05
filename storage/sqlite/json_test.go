package sqlite_test

import (
	"encoding/json"
	"testing"

	"confab/storage/sqlite"

	"github.com/matryer/is"
)

func TestJSONIsPassedOnAsItIs(t *testing.T) {
	for _, text := range []string{`{"b":1,"a":[1,2]}`, `"text"`, `[]`, `null`} {
		is := is.New(t)
		in := struct{ Args sqlite.JSON }{sqlite.JSON(text)}
		b, err := json.Marshal(in)
		is.NoErr(err)
		is.Equal(string(b), `{"Args":`+text+`}`)
		var out struct{ Args sqlite.JSON }
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
	b, err := json.Marshal(sqlite.JSON(nil))
	is.NoErr(err)
	is.Equal(string(b), "null")
	v, err := sqlite.JSON(nil).Value()
	is.NoErr(err)
	is.Equal(v, nil)
	j := sqlite.JSON("{}")
	is.NoErr(j.Scan(nil))
	is.True(j == nil)
	is.True(j.Scan(5) != nil) // a number is no JSON text
}

func TestJSONGoesThroughAStrictTextColumn(t *testing.T) {
	is := is.New(t)
	db := open(t)
	var texts []sqlite.JSON
	update(t, db, func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`INSERT INTO things (name, args) VALUES (?, ?)`, sqlite.JSON(`{"n":1}`), sqlite.JSON(nil))
		if err != nil {
			return err
		}
		return tx.List(&texts, `SELECT name FROM things UNION ALL SELECT args FROM things`)
	})
	is.Equal(texts, []sqlite.JSON{sqlite.JSON(`{"n":1}`), nil})
}

func TestJSONScannedFromBytesIsACopy(t *testing.T) {
	is := is.New(t)
	b := []byte(`[1]`)
	var j sqlite.JSON
	is.NoErr(j.Scan(b))
	b[1] = '2'
	is.Equal(string(j), `[1]`)
}

func TestJSONIsEqualByWhatItMeans(t *testing.T) {
	for _, test := range []struct {
		a, b sqlite.JSON
		want bool
	}{
		{nil, nil, true},
		{nil, sqlite.JSON(`null`), false},
		{sqlite.JSON(`{"a":1,"b":[2]}`), sqlite.JSON(`{ "b": [2], "a": 1 }`), true},
		{sqlite.JSON(`[1,2]`), sqlite.JSON(`[2,1]`), false},
		{sqlite.JSON(`{"id":12345678901234567890}`), sqlite.JSON(`{"id":12345678901234567891}`), false}, // the same as floats
		{sqlite.JSON(`{"a":"é"}`), sqlite.JSON(`{"a":"\u00e9"}`), true},
	} {
		t.Run(string(test.a)+" "+string(test.b), func(t *testing.T) {
			is := is.New(t)
			is.Equal(test.a.Equal(test.b), test.want)
			is.Equal(test.b.Equal(test.a), test.want)
		})
	}
}
