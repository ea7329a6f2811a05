package storagetest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Golden holds a JSON document against testdata/golden/<name>.json, or with update writes it.
func Golden(t testing.TB, name string, document []byte, update bool) {
	t.Helper()
	var got bytes.Buffer
	if err := json.Indent(&got, document, "", "  "); err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	got.WriteByte('\n')

	path := filepath.Join("testdata", "golden", name+".json")
	if update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s: got %s, want %s", path, got.Bytes(), want)
	}
}
