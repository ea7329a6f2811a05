package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// chooseFile gives a file to the only field that takes one.
func (c *colleague) chooseFile(name, content string) {
	c.t.Helper()
	path := filepath.Join(c.t.TempDir(), name)
	c.is.NoErr(os.WriteFile(path, []byte(content), 0o600))
	c.Upload("input[type=file]", path)
}

// contactsAreImportedAfterATrial makes two contacts more.
func contactsAreImportedAfterATrial(c *colleague, number string) {
	s := c.stage
	s.contact(number, "+15550005555", "Eva")
	before := len(s.everyContact(number))
	c.goTo("contacts", "Contacts")
	c.Click("button", "Import")
	c.Find("dialog", "Import contacts")
	c.chooseFile("people.csv", "\ufeffMobile;Full name;Secret;metadata.order\r\n+15550005555;Eva Lund;x;42\r\n+15550006666;"+markup+";y;43\r\nnonsense;Bo;z;44\r\n")
	c.Find("combobox", "Column Mobile")
	c.shows("+15550005555")
	c.unharmed()
	c.shoot("import")
	c.Click("button", "Check")
	c.Find("region", "Preview")
	c.shows("must be a phone number")
	c.row("4", "must be a phone number")
	c.shoot("import-checked")
	c.is.Equal(len(s.everyContact(number)), before) // nothing has changed yet
	c.Click("button", "Import")
	c.Find("region", "Imported")
	c.shoot("imported")
	c.Click("button", "Done")
	c.row("Eva Lund")
	c.row(markup)
	all := s.everyContact(number)
	c.is.Equal(len(all), before+1)
	eva := slices.IndexFunc(all, func(one map[string]any) bool { return one["name"] == "Eva Lund" })
	c.is.Equal(fmt.Sprint(all[eva]["metadata"]), "map[order:42]") // and nothing of the column that was left out
	c.calm()
}

// contactsAreExported saves all that the filters leave, which is Eva Lund.
func contactsAreExported(c *colleague) {
	eval[any](c.window, `void (HTMLAnchorElement.prototype.click = function () { window.saved = this.href })`)
	c.Fill("searchbox", "Search contacts", "Lund")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)
	eval[any](c.window, `void [...document.querySelectorAll("button")].find(b => b.textContent === "Export").click()`)
	url := eval[string](c.window, `window.saved`)
	c.is.True(strings.HasSuffix(url, "/contacts.csv?search=Lund"))
	text := eval[string](c.window, `fetch(window.saved).then(r => r.text())`)
	c.is.True(strings.Contains(text, "Eva Lund") && !strings.Contains(text, "onerror"))
	eval[any](c.window, `void delete HTMLAnchorElement.prototype.click`)
	c.calm()
}

// everyContact lists the contacts of a number.
func (s *stage) everyContact(number string) (all []map[string]any) {
	s.t.Helper()
	var page struct{ Data []map[string]any }
	s.read("/"+number+"/contacts", &page)
	return page.Data
}
