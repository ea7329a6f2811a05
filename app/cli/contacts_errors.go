package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"confab/jobs/contactsheet"
	"confab/storage"
)

// shownImportErrors is how many lines an import's error names.
const shownImportErrors = 20

// importError says which lines of an import were left out, and why.
func importError(i storage.ContactImport) error {
	var problems []contactsheet.Problem
	if err := json.Unmarshal(i.Errors, &problems); err != nil {
		return err
	}

	text := new(strings.Builder)
	fmt.Fprintf(text, "%s of %s lines were skipped", formatCount(i.Failed), formatCount(i.Lines))
	if i.Status == storage.ImportFailed {
		text.Reset()
		text.WriteString("the import failed")
	}
	for _, p := range problems[:min(len(problems), shownImportErrors)] {
		fmt.Fprintf(text, "\nline %d: %s", p.Line, printable(p.Message))
	}
	if len(problems) > shownImportErrors {
		text.WriteString("\nand more")
	}
	return errors.New(text.String())
}
