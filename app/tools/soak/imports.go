package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"math/rand/v2"
	"mime/multipart"
	"strings"
	"time"

	"confab/app/tools/rig"
)

// importedPeople is how many people are in files, and linesOfFile how many in each.
const importedPeople, linesOfFile = 2000, 150

// importContacts imports a file. There is one after the other, so that what a file says of
// somebody holds until the next one does.
func (o *tenant) importContacts(_ context.Context, n int) {
	names, file := make(map[string]string), "phone_number,name\n"
	for range linesOfFile {
		number := fmt.Sprintf("+1555%d5%05d", o.index, rand.IntN(importedPeople))
		if names[number] == "" {
			names[number] = fmt.Sprintf("Name %d", n)
			file += number + "," + names[number] + "\n"
		}
	}

	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, _ := form.CreateFormFile("file", "people.csv") // a buffer takes everything
	fmt.Fprint(part, file)
	form.Close()

	path := "/" + o.number + "/contact_imports"
	var i struct {
		ID, Status                                 string
		Lines, Created, Updated, Unchanged, Failed int
	}
	o.call(rig.Request{
		Method: "POST", Path: path, Body: body.String(), IdempotencyKey: newIdempotencyKey(), ContentType: form.FormDataContentType(),
	}, &i)

	began := time.Now()
	for i.Status == "running" {
		// A server that lives for moments comes to little.
		rig.Require(time.Since(began) < o.trial.settleTimeout(), "import %s does not end", i.ID)
		time.Sleep(100 * time.Millisecond)
		o.get(path+"/"+i.ID, &i)
	}
	lines := len(names) // each must be accounted for
	rig.Require(i.Status == "completed" && i.Lines == lines && i.Created+i.Updated+i.Unchanged == lines && i.Failed == 0,
		"an import of %d lines ended as %+v", lines, i)
	o.record(func() { maps.Copy(o.imported, names) })
}

func (o *tenantAudit) auditImports() {
	export := o.client.Client
	export.Timeout = 0 // it is long
	_, text, err := export.Do(context.Background(), rig.Request{Method: "GET", Path: "/" + o.number + "/contacts.csv"})
	rig.Check(err)

	sheet := csv.NewReader(bytes.NewReader(text))
	sheet.FieldsPerRecord = -1
	lines := rig.Must(sheet.ReadAll())
	rig.Require(len(lines) > 0 && len(lines[0]) > 3 && lines[0][0] == "phone_number" && lines[0][3] == "name",
		"the export begins with %.200q", text)

	seen := make(map[string]int)
	for _, line := range lines[1:] {
		number := strings.TrimPrefix(line[0], "'")
		if want, ours := o.imported[number]; ours {
			seen[number]++
			o.expect(line[3] == want, "%s is called %q, the last file says %q", number, line[3], want)
		}
	}

	for number := range o.imported {
		o.expect(seen[number] == 1, "%s was imported, and is there %d times", number, seen[number])
	}
}
