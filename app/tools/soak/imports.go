package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"confab/app/tools/rig"
)

const (
	// importedPeople is how many people are in files, and linesOfFile how many in each.
	importedPeople, linesOfFile = 2000, 150
)

// importContacts keeps importing files, one after the other, so that what a file says of
// somebody holds until the next one does.
func (o *tenant) importContacts(ctx context.Context, random *rand.Rand) error {
	for n := 0; sleep(ctx, time.Duration(500+random.IntN(1500))*time.Millisecond); n++ {
		names, file := make(map[string]string), "phone_number,name\n"
		for range linesOfFile {
			number := fmt.Sprintf("+1555%d5%05d", o.index, random.IntN(importedPeople))
			if names[number] == "" {
				names[number] = fmt.Sprintf("Name %d", n)
				file += number + "," + names[number] + "\n"
			}
		}
		if err := o.importFile(file, len(names), newIdempotencyKey(random)); err != nil {
			return err
		}

		o.mu.Lock()
		o.imports++
		for number, name := range names {
			o.imported[number] = name
		}
		o.mu.Unlock()
	}
	return nil
}

// importFile imports a file and waits for the end. Each line must be accounted for.
func (o *tenant) importFile(file string, lines int, key string) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "people.csv")
	if err == nil {
		_, err = io.WriteString(part, file)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		return err
	}

	path := "/" + o.number + "/contact_imports"
	a, err := o.repeat(rig.Request{
		Method: "POST", Path: path, Body: body.String(), IdempotencyKey: key, ContentType: form.FormDataContentType(),
	})
	if err != nil {
		return err
	}
	var i struct {
		ID, Status                                 string
		Lines, Created, Updated, Unchanged, Failed int
	}
	if err := json.Unmarshal(a.body.Data, &i); err != nil || a.status != http.StatusAccepted {
		return fmt.Errorf("an import was answered with %d %s", a.status, a.body.Error.Code)
	}

	began := time.Now()
	for i.Status == "running" {
		if time.Since(began) > o.trial.settleTimeout() { // a server that lives for moments comes to little
			return fmt.Errorf("import %s does not end", i.ID)
		}
		time.Sleep(100 * time.Millisecond)
		if err := o.callOK("GET", path+"/"+i.ID, "", "", &i); err != nil {
			return err
		}
	}
	if i.Status != "completed" || i.Lines != lines || i.Created+i.Updated+i.Unchanged != lines || i.Failed != 0 {
		return fmt.Errorf("an import of %d lines ended as %+v", lines, i)
	}
	return nil
}

// auditImports compares the people of all files with those that are exported.
func (o *tenant) auditImports(r *report) error {
	export := o.client.Client
	export.Timeout = 0 // it is long
	_, text, err := export.Do(context.Background(), rig.Request{Method: "GET", Path: "/" + o.number + "/contacts.csv"})
	if err != nil {
		return err
	}

	sheet := csv.NewReader(bytes.NewReader(text))
	sheet.FieldsPerRecord = -1
	header, err := sheet.Read()
	if err != nil || len(header) < 4 || header[0] != "phone_number" || header[3] != "name" {
		return fmt.Errorf("the export begins with %q: %w", header, err)
	}

	seen := make(map[string]int)
	for {
		line, err := sheet.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		number := strings.TrimPrefix(line[0], "'")
		if want, ours := o.imported[number]; ours {
			seen[number]++
			if line[3] != want {
				r.discrepancy("%s: %s is called %q, the last file says %q", o.name, number, line[3], want)
			}
		}
	}

	for number := range o.imported {
		if seen[number] != 1 {
			r.discrepancy("%s: %s was imported, and is there %d times", o.name, number, seen[number])
		}
	}
	r.imports += o.imports
	return nil
}
