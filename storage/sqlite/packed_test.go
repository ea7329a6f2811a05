package sqlite_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"confab/storage/sqlite"

	"github.com/matryer/is"
	"pgregory.net/rapid"
)

// hostileTexts are what a row may hold that JSON has to escape, or that is no text.
var hostileTexts = []string{
	"", "plain", `"`, `\`, `\"`, `\\`, `a\u0041`, "a\x00b", "\x01\x02\b\t\n\v\f\r\x1f\x7f", "'", "</script>&", "Grüße, 世界 👋",
	"\u2028\u2029", "\xff", "a\xc3", "\xed\xa0\x80", "null", "[1,2]", `{"a":"b \" c"}`, ",", "]", strings.Repeat("long \"text\" ", 400),
}

// drawText is one of those, or any other, or several in a row.
func drawText(t *rapid.T, name string) string {
	part := rapid.OneOf(rapid.SampledFrom(hostileTexts), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, name), "")
}

// packedRow has a column of every type that can be packed, each also without a value.
type packedRow struct {
	Text      string
	Optional  *string
	None      *string
	JSON      sqlite.JSON
	NoJSON    sqlite.JSON
	Time      sqlite.Time
	Long      int64
	Short     int
	Yes, No   bool
	MaybeInt  *int
	MaybeLong *int64
	NoInt     *int
	NoLong    *int64
}

func (r *packedRow) fields() (all []any) {
	for _, field := range reflect.ValueOf(r).Elem().Fields() {
		all = append(all, field.Addr().Interface())
	}
	return all
}

// Values written into a row come out of it packed, byte for byte.
func TestAPackedRowComesOutAsItWentIn(t *testing.T) {
	db := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, math.MinInt64, math.MaxInt64}))
		optional, short, long := drawText(rt, "optional"), int(number.Draw(rt, "short")), number.Draw(rt, "long")
		in := packedRow{
			Text: drawText(rt, "text"), Optional: &optional, JSON: sqlite.JSON(drawText(rt, "JSON")),
			Time: sqlite.Time(number.Draw(rt, "time")), Long: number.Draw(rt, "number"), Short: int(number.Draw(rt, "int")),
			Yes: true, MaybeInt: &short, MaybeLong: &long,
		}
		var args []any
		for _, field := range reflect.ValueOf(in).Fields() {
			args = append(args, field.Interface())
		}

		var out packedRow
		view(t, db, func(rx sqlite.Rx) error {
			return rx.ScanPacked(out.fields(), `SELECT json_array(?`+strings.Repeat(", ?", len(args)-1)+`)`, args...)
		})
		if !reflect.DeepEqual(out, in) {
			rt.Fatalf("%+v\nbecame\n%+v", in, out)
		}
	})
}

func TestARowThatIsNotPackedAsExpectedIsAFault(t *testing.T) {
	for text, dest := range map[string][]any{
		``:                      {new(string)},
		`[`:                     {new(string)},
		`[]`:                    {new(string)},
		`["a"`:                  {new(string)},
		`["a"]x`:                {new(string)},
		`["a","b"]`:             {new(string)},
		`["a"] `:                {new(string)},
		`["a`:                   {new(string)},
		`["a\"]`:                {new(string)},
		`["\`:                   {new(string)},
		`["\x"]`:                {new(string)},
		`["\u00"]`:              {new(string)},
		`["\u0080"]`:            {new(string)},
		`["\u1234"]`:            {new(string)},
		`["\u00zz"]`:            {new(string)},
		`[null]`:                {new(string)},
		`[1]`:                   {new(string)},
		`["1"]`:                 {new(int64)},
		`[1.5]`:                 {new(int64)},
		`[null]  `:              {new(*string)},
		`[nope]`:                {new(*string)},
		`[9223372036854775808]`: {new(int64)},
		`["a";1]`:               {new(string), new(int)},
		`["a" ,1]`:              {new(string), new(int)},
		`[1,]`:                  {new(int), new(int)},
		`[true]`:                {new(bool)},
		`["a"]`:                 {new(float64)},
		`[7]`:                   {new(float64)},
	} {
		if err := sqlite.Unpack(text, dest...); err == nil {
			t.Errorf("%s was taken for a row", text)
		}
	}
}

func TestTextsOfPackedRowsStayApart(t *testing.T) {
	is := is.New(t)
	var a, b, c *string
	var d string
	is.NoErr(sqlite.Unpack(`["one","t\"wo",null,"four"]`, &a, &b, &c, &d))
	is.Equal([]string{*a, *b, d}, []string{"one", `t"wo`, "four"})
	is.Equal(c, nil)
	*a = "changed"
	is.Equal(*b, `t"wo`)
}

// Any text is read or refused, without a panic.
func FuzzUnpack(f *testing.F) {
	for _, text := range append(hostileTexts, `["a",null,1,"{\"b\":2}"]`, `["a\u001f",1,2,3]`) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var (
			a string
			b *string
			c int64
			d sqlite.JSON
		)
		_ = sqlite.Unpack(text, &a, &b, &c, &d)
		_ = sqlite.Unpack(text, &d, &c, &b, &a)
	})
}

// Any value that SQLite packs is unpacked.
func FuzzPacked(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text, text, int64(1))
	}
	db := open(f)
	f.Fuzz(func(t *testing.T, text, stored string, number int64) {
		var a, b string
		var c sqlite.JSON
		var n int64
		view(t, db, func(rx sqlite.Rx) error {
			return rx.ScanPacked([]any{&a, &c, &n, &b}, `SELECT json_array(?, ?, ?, ?)`, text, stored, number, text)
		})
		if a != text || b != text || string(c) != stored || n != number {
			t.Fatalf("%q %q %q %d", a, b, c, n)
		}
	})
}
