package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"confab/storage"
)

// chooseFile gives a file to the only field that takes one.
func (c *colleague) chooseFile(name, content string) {
	c.t.Helper()
	path := filepath.Join(c.t.TempDir(), name)
	c.is.NoErr(os.WriteFile(path, []byte(content), 0o600))
	c.Do(chromedp.SetUploadFiles(chromedp.CSS("input[type=file]"), []string{path}))
}

func TestContactsAreImportedAfterATrial(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.label("VIP")
	s.contact(number, "+15550001111", "Ana")
	c := s.consoleAt(t, storage.RoleAdmin, "contacts", "Contacts")
	c.Click("button", "Import")
	c.Find("dialog", "Import contacts")
	c.chooseFile("people.csv", "\ufeffMobile;Full name;Secret;metadata.order\r\n+15550001111;Ana Ruiz;x;42\r\n+15550002222;"+markup+";y;43\r\nnonsense;Bo;z;44\r\n")
	c.Find("combobox", "Column Mobile")
	c.shows("+15550001111")
	c.unharmed()
	c.shoot("import")
	c.Click("button", "Check")
	c.Find("region", "Preview")
	c.shows("must be a phone number")
	c.row("4", "must be a phone number")
	c.shoot("import-checked")
	c.is.Equal(len(s.everyContact(number)), 1) // nothing has changed yet
	c.Click("button", "Import")
	c.Find("region", "Imported")
	c.shoot("imported")
	c.Click("button", "Done")
	c.row("Ana Ruiz")
	c.row(markup)
	c.is.Equal(len(s.everyContact(number)), 2)
	c.is.Equal(fmt.Sprint(s.everyContact(number)[1]["metadata"]), "map[order:42]") // and nothing of the column that was left out

	// All that the filters leave is saved.
	eval[any](c.window, `void (HTMLAnchorElement.prototype.click = function () { window.saved = this.href })`)
	c.Fill("searchbox", "Search contacts", "Ruiz")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)
	eval[any](c.window, `void [...document.querySelectorAll("button")].find(b => b.textContent === "Export").click()`)
	url := eval[string](c.window, `window.saved`)
	c.is.True(strings.HasSuffix(url, "/contacts.csv?search=Ruiz"))
	text := eval[string](c.window, `fetch(window.saved).then(r => r.text())`)
	c.is.True(strings.Contains(text, "Ana Ruiz") && !strings.Contains(text, "onerror"))
	c.calm()
}

// everyContact lists the contacts of a number.
func (s *stage) everyContact(number string) (all []map[string]any) {
	s.t.Helper()
	var page struct{ Data []map[string]any }
	s.read("/"+number+"/contacts", &page)
	return page.Data
}
