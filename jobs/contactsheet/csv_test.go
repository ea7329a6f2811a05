package contactsheet_test

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/matryer/is"

	"confab/jobs/contactsheet"
	"confab/storage"
)

// readAll reads a file and returns its records, joined.
func readAll(t testing.TB, text string, comma byte) (records []string) {
	r := contactsheet.NewReader(strings.NewReader(text), comma, 0)
	for {
		before := r.Offset()
		cells, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			if r.Offset() != int64(len(text)) {
				t.Fatalf("it ends at %d of %d", r.Offset(), len(text))
			}
			return records
		case errors.Is(err, contactsheet.ErrTooLong):
			records = append(records, "too long")
		case errors.Is(err, contactsheet.ErrUnclosed):
			records = append(records, "unclosed")
		case err != nil:
			t.Fatal(err)
		default:
			records = append(records, strings.Join(cells, "|"))
		}
		if r.Offset() <= before {
			t.Fatal("it does not get on")
		}
	}
}

func TestRecordsOfEveryForm(t *testing.T) {
	is := is.New(t)
	for text, want := range map[string][]string{
		"":                        nil,
		"a,b\nc":                  {"a|b", "c"},
		"a,b\r\nc,\r\n":           {"a|b", "c|"},
		"a\rb\r":                  {"a", "b"},
		"\n\na":                   {"", "", "a"},
		`"a,b","c""d"` + "\nx":    {`a,b|c"d`, "x"},
		"\"a\nb\",c\nd":           {"a\nb|c", "d"},
		`a"b,"c"d,""` + "\n":      {`a"b|cd|`},
		`"open`:                   {"open"},          // nothing is lost with it
		`"open` + "\nb":           {"unclosed", "b"}, // it goes on at the next line
		"a,\"b\nc,\"d\"\ne":       {"unclosed", "c|d", "e"},
		"\"a\nb\"c\nd":            {"unclosed", `b"c`, "d"},
		"a,\"b\r\nc\r\n":          {"unclosed", "c"},
		"\"a\rb":                  {"unclosed", "b"},
		"a,\x00,\xff\n":           {"a|\x00|\xff"},
		strings.Repeat(",", 1000): {strings.Repeat("|", 1000)},
	} {
		is.Equal(readAll(t, text, ','), want)
	}
	is.Equal(readAll(t, "a;b,c\n", ';'), []string{"a|b,c"})

	long := strings.Repeat("x", 300<<10)
	is.Equal(readAll(t, "\"a\n"+long+"\nb\n", ','), []string{"too long", "too long", "b"})
	is.Equal(readAll(t, "a\n"+strings.Repeat(long, 4)+"\nb\n", ','), []string{"a", "too long", "b"}) // a long line is one
	got := readAll(t, `"a`+"\nb\n"+strings.Repeat("line\n", 60<<10), ',')
	is.Equal(got[:3], []string{"too long", "b", "line"}) // it goes on after the line with the quote
}

func TestATitleInQuotesMayHoldTheOtherSeparator(t *testing.T) {
	is := is.New(t)
	for text, comma := range map[string]byte{
		"phone_number;\"note, long, text\"\n": ';', "phone_number,\"a;b;c\"\n": ',', "name;phone_number\n": ';', "phone_number\n": ',',
	} {
		layout, err := contactsheet.ReadLayout(strings.NewReader(text))
		is.NoErr(err)
		is.Equal(layout.Comma, comma)
	}
}

func TestLabelsAreCutApart(t *testing.T) {
	is := is.New(t)
	for _, c := range []struct {
		labels, known, names, unknown string
	}{
		{"a;b", "a|b", "a|b", ""},
		{" a ; b; ", "a|b", "a|b", ""},
		{"a;b", "a|b|a;b", "a|b", ""}, // as an export of two labels has it
		{"a;b", "a|a;b", "a;b", ""},
		{"c;a;b", "a;b|c", "c|a;b", ""},
		{"a;x", "a|b", "", "x"},
	} {
		row := contactsheet.Row{Labels: c.labels}
		names, unknown := row.LabelNames(func(name string) bool { return slices.Contains(strings.Split(c.known, "|"), name) })
		is.Equal([]string{strings.Join(names, "|"), unknown}, []string{c.names, c.unknown})
	}
}

func FuzzReader(f *testing.F) {
	for _, text := range []string{"a,b\n", `"a""b",c`, "\"\n\"\r\n", "=1;@x", "\xef\xbb\xbfphone_number\n+1555"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := readAll(t, text, ',')

		// What the standard library takes, it takes likewise, blank lines apart.
		all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err == nil && !strings.Contains(text, "\r") && len(text) < 1000 {
			var want []string
			for _, cells := range all {
				want = append(want, strings.Join(cells, "|"))
			}
			got = slices.DeleteFunc(got, func(record string) bool { return record == "" })
			want = slices.DeleteFunc(want, func(record string) bool { return record == "" })
			if !slices.Equal(got, want) {
				t.Errorf("%q: %q instead of %q", text, got, want)
			}
		}

		layout, err := contactsheet.ReadLayout(strings.NewReader(text))
		if err != nil {
			return
		}
		r := contactsheet.NewReader(strings.NewReader(text[layout.First:]), layout.Comma, layout.First)
		for {
			cells, err := r.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil {
				if row, problem := layout.Row(cells); problem == nil {
					if row.Name != nil && !utf8.ValidString(*row.Name) {
						t.Errorf("%q is no text", *row.Name)
					}
					_, _ = row.ChangeMetadata(nil)
				}
			}
		}
	})
}

// What nobody sees before a formula does not hide it: some spreadsheets pass over it.
func TestGuardLooksBehindWhatNobodySees(t *testing.T) {
	is := is.New(t)
	for _, before := range []string{"", " ", "\u00a0", "\x00", "\x0b", "\x1f", "\u0085", "\u200b", "\u2028", "\ufeff", " \""} {
		is.Equal(contactsheet.Guard(before+"=1"), "'"+before+"=1")
		is.Equal(contactsheet.Guard("a;"+before+"=1"), "a;'"+before+"=1")
	}
	is.Equal(contactsheet.Guard(" plain"), " plain")
}

// A cell that is guarded and read is the cell.
func FuzzGuard(f *testing.F) {
	for _, cell := range []string{"=1", "'=1", "''=1", "'\"'=1", "a;'=1", "''", "+1", "\tx", "\rx", "plain", "",
		" =1", "' =1", "\n=1", "\x00=1", "a; =1", "\u200b'=1"} {
		f.Add(cell)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		guarded := contactsheet.Guard(cell)
		if strings.HasPrefix(guarded, "=") || strings.HasPrefix(guarded, "+") || strings.HasPrefix(guarded, "-") || strings.HasPrefix(guarded, "@") {
			t.Errorf("%q would be run", guarded)
		}
		var out strings.Builder
		w, err := contactsheet.NewWriter(&out, contactsheet.Keys{"k": true})
		if err != nil {
			t.Fatal(err)
		}
		phone := "+15551234567"
		if err := w.Write(storage.Contact{PhoneNumber: &phone, Name: &cell, CreatedAt: 1}, nil); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		layout, err := contactsheet.ReadLayout(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		cells, err := contactsheet.NewReader(strings.NewReader(text[layout.First:]), layout.Comma, 0).Read()
		if err != nil || len(cell) > 1000 {
			return
		}
		row, problem := layout.Row(cells)
		if problem != nil {
			return // too long, or no text
		}
		// A line break of a cell is \n however it was written.
		want := strings.TrimSpace(strings.ReplaceAll(cell, "\r\n", "\n"))
		got := ""
		if row.Name != nil {
			got = strings.ReplaceAll(*row.Name, "\r\n", "\n")
		}
		if got != want && !strings.Contains(cell, "\r") {
			t.Errorf("%q came back as %q", want, got)
		}
	})
}
