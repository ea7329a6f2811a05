package config

import (
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestAgesTakeDaysAndTheUnitsOfGo(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "0d": 0, "90d": 90 * day, "1d12h": 36 * time.Hour, "1d1h1m1s": day + time.Hour + time.Minute + time.Second,
		"0.5d": 12 * time.Hour, "1d0.5h": day + 30*time.Minute, "720h": 30 * day, "1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond,
		"1d.5h": day + 30*time.Minute, "106751d": 106751 * day,
	} {
		t.Run(text, func(t *testing.T) {
			is := is.New(t)
			got, err := ParseAge(text)
			is.NoErr(err)
			is.Equal(got, want)
		})
	}
	for _, text := range []string{
		"", "d", "90", "1w", "-1d", "-5m", "1d-2h", "1d+2h", "2h1d", "1dd", "1 d", " 1d", "1e3d", "infd", "nand", ".d",
		"200000d", "106751d24h", "1d9999999h", "2562048h",
	} {
		t.Run("not "+text, func(t *testing.T) {
			is := is.New(t)
			_, err := ParseAge(text)
			is.True(err != nil)
		})
	}
}

func TestNetworksAreBroughtIntoOneForm(t *testing.T) {
	for text, want := range map[string]string{
		"10.1.2.3": "10.1.2.3/32", "10.1.2.3/8": "10.0.0.0/8", "::1": "::1/128", "fd00::1/8": "fd00::/8",
		"::ffff:10.1.2.3": "10.1.2.3/32", "0.0.0.0/0": "0.0.0.0/0",
	} {
		t.Run(text, func(t *testing.T) {
			is := is.New(t)
			got, err := parsePrefix(text)
			is.NoErr(err)
			is.Equal(got.String(), want)
		})
	}
}

func FuzzAge(f *testing.F) {
	for _, seed := range []string{"90d", "1d12h", "-1d", "0.5d", "106751d23h47m16s", "1h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		age, err := ParseAge(text)
		if err == nil && age < 0 {
			t.Fatalf("ParseAge(%q) = %v", text, age)
		}
		if again, err := ParseAge(age.String()); err != nil || again != age {
			t.Fatalf("%v reads back as %v, %v", age, again, err)
		}
	})
}
