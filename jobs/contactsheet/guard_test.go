package contactsheet_test

import (
	"strings"
	"testing"

	"confab/jobs/contactsheet"
	"confab/storage"
)

// opened are the cells that a program sees which separates them by ; or by tabs and knows no
// quotes but those around a whole cell, as spreadsheets do in half of the world.
func opened(text string) []string {
	cells := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(";\t\r\n", r) })
	for i, cell := range cells {
		cells[i] = strings.TrimLeft(cell, `"`)
	}
	return cells
}

// However a spreadsheet divides a file that we wrote, it runs no cell of it.
func TestNoCellIsRunHoweverAFileIsDivided(t *testing.T) {
	for _, text := range []string{
		"=1+1", "x;=1+1", "x;+1", "x;-1", "x;@SUM(A1)", "x\n=1+1", "x\r=1+1", "x\r\n=1+1", "x\t=1+1", "\t=1+1", ";;=1+1", "\n\n=1", "a;b;=1;c\n-2;d",
		"x;\"=1+1", "x\n\"\"=1+1", "＝1+1", "x;＋1", "x;－1", "x;＠SUM(A1)", `x;"` + "\n" + `=cmd|' /C calc'!A1`,
	} {
		t.Run(text, func(t *testing.T) {
			var out strings.Builder
			w, err := contactsheet.NewWriter(&out, contactsheet.Keys{"k": true, "k;=1+1": true})
			if err != nil {
				t.Fatal(err)
			}
			metadata, value := storage.JSON(`{"k":`+quoted(text)+`}`), text
			c := storage.Contact{Name: &value, Username: &value, Email: &value, BSUID: &value, Metadata: metadata, CreatedAt: 1}
			if err := w.Write(c, []storage.AttachedLabel{{Name: "a"}, {Name: "=1+1"}, {Name: text}}); err != nil {
				t.Fatal(err)
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}

			for _, cell := range opened(out.String()) {
				if cell != "" && strings.ContainsAny(cell[:1], "=+-@") || strings.HasPrefix(cell, "＝") || strings.HasPrefix(cell, "＋") ||
					strings.HasPrefix(cell, "－") || strings.HasPrefix(cell, "＠") {
					t.Errorf("%q would be run, in %q", cell, out.String())
				}
			}
		})
	}
}

// Metadata in one column, where there are too many keys for one each, is guarded as well.
func TestMetadataInOneColumnIsNotRun(t *testing.T) {
	keys := make(contactsheet.Keys)
	for i := range 300 {
		keys[strings.Repeat("k", i+1)] = true
	}
	var out strings.Builder
	w, err := contactsheet.NewWriter(&out, keys)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(storage.Contact{Metadata: storage.JSON(`{"k":"x;=1+1"}`), CreatedAt: 1}, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), ";=1+1") {
		t.Errorf("%s", out.String())
	}
}

func quoted(text string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text) + `"`
}
