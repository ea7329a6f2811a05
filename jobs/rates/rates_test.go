package rates

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"confab/jobs/provider"
	"confab/storage"
)

const head = "from,country,category,price,currency\n"

func day(text string) storage.Time {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return storage.At(t)
}

func table(t *testing.T, lines string) *Table {
	t.Helper()
	all, err := Parse(strings.NewReader(head + lines))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(all, func(a, b storage.Rate) int { return int(a.ValidFrom - b.ValidFrom) })
	return NewTable(all)
}

func TestTheLongestCallingCodeWins(t *testing.T) {
	is := is.New(t)
	rates := table(t, "2026-10-01,*,utility,0.5,USD\n2026-10-01,1,utility,0.1,USD\n2026-10-01,1876,utility,0.2,USD\n2026-11-01,1,utility,0.3,USD\n")
	for _, c := range []struct{ prefix, day, want string }{
		{"155500", "2026-10-31", "0.1"},
		{"155500", "2026-11-01", "0.3"}, // the newest price that is not of a later day
		{"187655", "2026-11-01", "0.2"}, // though another code has a newer one
		{"447700", "2026-11-01", "0.5"},
		{"", "2026-11-01", "0.5"},
		{"155500", "2026-09-30", ""},
	} {
		sum := rates.NewSum()
		sum.Add(c.prefix, "utility", day(c.day), 1)
		if c.want == "" {
			is.Equal(sum.Estimate(), nil)
		} else {
			is.Equal(*sum.Estimate(), Estimate{c.want, "USD"})
		}
	}
	is.Equal(rates.From(day("2026-10-15")), day("2026-10-01"))
	is.Equal(rates.From(day("2026-12-15")), day("2026-11-01"))
	is.Equal(rates.From(day("2026-09-15")), storage.Time(0))
}

func TestNothingIsGuessed(t *testing.T) {
	is := is.New(t)
	is.Equal(NewTable(nil).NewSum().Estimate(), nil) // without rates

	sum := table(t, "2026-10-01,1,utility,0.1,EUR\n").NewSum()
	is.Equal(*sum.Estimate(), Estimate{"0", "EUR"})
	sum.Add("155500", "utility", day("2026-10-02"), 30)
	is.Equal(*sum.Estimate(), Estimate{"3", "EUR"})
	sum.Add("447700", "utility", day("2026-10-02"), 0)
	is.Equal(*sum.Estimate(), Estimate{"3", "EUR"})
	sum.Add("155500", "unknown", day("2026-10-02"), 1)
	is.Equal(sum.Estimate(), nil)
}

// TestAmountsAreExact holds sums against rationals that are worked out another way.
func TestAmountsAreExact(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		prices := rapid.SliceOfN(rapid.StringMatching(`[0-9]{1,9}(\.[0-9]{1,9})?`), 1, 8).Draw(r, "prices")
		var file strings.Builder
		for i, p := range prices {
			fmt.Fprintf(&file, "2026-10-01,%d,utility,%s,USD\n", 100+i, p)
		}
		rates := table(t, file.String())

		sum, want := rates.NewSum(), new(big.Rat)
		for i, p := range prices {
			n := rapid.Int64Range(0, 1<<40).Draw(r, "messages")
			sum.Add(fmt.Sprint(100+i, "555"), "utility", day("2026-10-01"), n)
			one, _ := new(big.Rat).SetString(p)
			want.Add(want, one.Mul(one, new(big.Rat).SetInt64(n)))
		}

		got, ok := new(big.Rat).SetString(sum.Estimate().Amount)
		if !ok || got.Cmp(want) != 0 || strings.ContainsAny(sum.Estimate().Amount, "eE/") {
			r.Fatalf("%s, not %s", sum.Estimate().Amount, want.FloatString(decimals))
		}
	})
}

func TestAFileIsCheckedWhole(t *testing.T) {
	good := "2026-10-01,+44,utility,0.0220,USD\n"
	for name, c := range map[string]struct{ file, says string }{
		"empty":           {"", "the first line must be: from,country,category,price,currency"},
		"no rates":        {head, "no rates"},
		"other columns":   {"country,from,category,price,currency\n" + good, "the first line must be"},
		"a short line":    {head + good + "2026-10-01,44\n", "wrong number of fields"},
		"a date":          {head + good + "1.10.2026,44,utility,1,USD\n", `line 3: from "1.10.2026" must be a date`},
		"a day":           {head + "2026-02-30,44,utility,1,USD\n", "must be a date"},
		"a country":       {head + "2026-10-01,GB,utility,1,USD\n", "must be a calling code"},
		"too many digits": {head + "2026-10-01,4412345,utility,1,USD\n", "of up to six digits"},
		"a category":      {head + "2026-10-01,44,Utility,1,USD\n", "must be one of"},
		"a comma":         {head + "2026-10-01,44,utility,\"0,1\",USD\n", "must be a decimal"},
		"a negative":      {head + "2026-10-01,44,utility,-1,USD\n", "must be a decimal"},
		"an exponent":     {head + "2026-10-01,44,utility,1e3,USD\n", "must be a decimal"},
		"a currency":      {head + "2026-10-01,44,utility,1,$\n", "must be a currency"},
		"two currencies":  {head + good + "2026-10-01,45,utility,1,EUR\n", "must be USD"},
		"twice":           {head + good + good, "line 3: the same day, country and category as in line 2"},
		"too long":        {head + strings.Repeat("#", maxFile+1), "more than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(strings.NewReader(c.file))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, not %s", err, c.says)
			}
		})
	}

	is := is.New(t)
	all, err := Parse(strings.NewReader("\ufeff" + head + good + "2026-10-01,*,marketing,1,USD\n"))
	is.NoErr(err)
	is.Equal(all[0], storage.Rate{Prefix: "44", Category: "utility", ValidFrom: day("2026-10-01"), Price: "0.0220", Currency: "USD"})
	is.Equal(all[1].Prefix, "")

	_, err = Parse(strings.NewReader(head + "x,44,utility,1,USD\n2026-10-01,x,utility,1,USD\n"))
	is.True(strings.Contains(err.Error(), "line 2") && strings.Contains(err.Error(), "line 3")) // all of it
	for _, category := range provider.PricingCategories() {
		_, err := Parse(strings.NewReader(head + "2026-10-01,44," + category + ",1,USD\n"))
		is.NoErr(err)
	}
}
