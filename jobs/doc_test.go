package jobs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/jobs"
	"confab/storage/storagetest"
)

// TestEveryKindIsInTheDocumentation compares the table in doc.go with Kinds.
func TestEveryKindIsInTheDocumentation(t *testing.T) {
	is := is.New(t)
	text, err := os.ReadFile("doc.go")
	is.NoErr(err)

	var listed, kinds []string
	for _, row := range regexp.MustCompile(`(?m)^//\t([a-z][a-z._]*) +([a-z_.]+\.go)`).FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, row[1])
		_, err := os.Stat(row[2])
		is.NoErr(err)
	}
	for _, k := range jobs.New(jobs.Options{DB: storagetest.Open(t)}).Kinds() {
		kinds = append(kinds, k.Name)
	}
	is.Equal(strings.Join(listed, "\n"), strings.Join(kinds, "\n"))
}
