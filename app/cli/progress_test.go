package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestBar(t *testing.T) {
	is := is.New(t)
	is.Equal(progressBar("purging", 0, 2000, formatCount), "purging [..............................]   0%  0 of 2,000")
	is.Equal(progressBar("purging", 1000, 2000, formatCount), "purging [###############...............]  50%  1,000 of 2,000")
	is.Equal(progressBar("purging", 2000, 2000, formatCount), "purging [##############################] 100%  2,000 of 2,000")
	is.Equal(progressBar("purging", 0, 0, formatCount), "purging [..............................]   0%  0 of 1")
	is.Equal(progressBar("copying", 3<<20, 1<<20, formatBytes), "copying [##############################] 100%  3.0 MiB of 3.0 MiB") // it grew meanwhile
}

func TestCountsAndSizesAreReadable(t *testing.T) {
	is := is.New(t)
	for n, want := range map[int64]string{0: "0", 12: "12", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567"} {
		is.Equal(formatCount(n), want)
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 5 << 30: "5.0 GiB", 1 << 62: "4.0 EiB"} {
		is.Equal(formatBytes(n), want)
	}
}

func TestProgressIsForTerminals(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	p := newProgress(&out, "purging", formatCount)
	p.step(1, 2)
	p.end()
	is.Equal(out.String(), "")

	p = &progress{w: &out, what: "purging", format: formatCount}
	for range 100 {
		p.step(1, 2)
	}
	p.end()
	is.Equal(strings.Count(out.String(), "purging"), 1) // not faster than people can read
	is.True(strings.HasSuffix(out.String(), "\r\x1b[K"))
}
