package sqlite_test

import (
	"encoding/json"
	"testing"
	"time"

	"confab/storage/sqlite"

	"github.com/matryer/is"
	"pgregory.net/rapid"
)

func TestTimeIsWrittenInUTCWithThreeDecimals(t *testing.T) {
	east := time.FixedZone("east", 2*60*60)
	for _, c := range []struct {
		at   time.Time
		text string
		json string
	}{
		{time.Date(2026, 1, 2, 5, 4, 5, 678_999_999, east), "2026-01-02T03:04:05.678Z", `"2026-01-02T03:04:05.678Z"`},
		{time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC), "2026-12-31T23:59:59.000Z", `"2026-12-31T23:59:59.000Z"`},
		{time.UnixMilli(1), "1970-01-01T00:00:00.001Z", `"1970-01-01T00:00:00.001Z"`},
		{time.UnixMilli(0), "", "null"}, // never
	} {
		is := is.New(t)
		at := sqlite.At(c.at)
		is.Equal(at.String(), c.text)
		b, err := json.Marshal(at)
		is.NoErr(err)
		is.Equal(string(b), c.json)
	}
}

func TestTimeReadsBackWhatItWrote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := sqlite.Time(rapid.Int64Range(0, 253_402_300_799_999).Draw(t, "ms")) // until the year 9999
		b, err := json.Marshal(at)
		if err != nil {
			t.Fatal(err)
		}
		back := sqlite.Time(-1)
		if err := json.Unmarshal(b, &back); err != nil || back != at {
			t.Fatalf("%d became %s and then %d (%v)", at, b, back, err)
		}
	})
}

// Writing digits by hand is the same as the standard library's format, in any year.
func TestTimeIsWrittenLikeTheStandardLibraryWouldWriteIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		near := rapid.Int64Range(0, 4_102_444_800_000)                            // until the year 2100
		far := rapid.Int64Range(-70_000_000_000_000_000, 300_000_000_000_000_000) // also before Christ, and in years of five digits
		early := rapid.Int64Range(-62_167_219_200_000, 0)                         // from the year 0 on
		at := sqlite.Time(rapid.OneOf(near, far, early).Draw(t, "ms"))
		want := `null`
		if at != 0 {
			want = at.Std().Format(`"2006-01-02T15:04:05.000Z"`)
		}
		if got := string(at.AppendJSON([]byte("x"))); got != "x"+want {
			t.Fatalf("%d became %s, not %s", at, got, want)
		}
	})
}

func TestTimeRefusesWhatIsNoTime(t *testing.T) {
	for _, text := range []string{`5`, `""`, `"yesterday"`, `"2026-01-02"`, `{}`, `true`, `"2026-13-02T00:00:00Z"`} {
		at := sqlite.Time(7)
		if err := json.Unmarshal([]byte(text), &at); err == nil || at != 7 {
			t.Errorf("%s was taken for %v (%v)", text, at, err)
		}
	}
}

func TestTimeCountsLikeTheStandardLibrary(t *testing.T) {
	is := is.New(t)
	at := sqlite.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	later := at.Add(90*time.Minute + time.Millisecond)
	is.Equal(later.Sub(at), 90*time.Minute+time.Millisecond)
	is.Equal(at.Sub(later), -90*time.Minute-time.Millisecond)
	is.Equal(later.Std(), time.Date(2026, 1, 2, 4, 34, 5, 1_000_000, time.UTC))
}
