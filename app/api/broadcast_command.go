package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"confab/jobs"
	"confab/storage"
)

// BroadcastDraft is a broadcast as the command line asks for it.
type BroadcastDraft struct {
	Name, Template, Language string
	Parameters               []string      // texts for the template's variables, in their order; nil: chosen by Columns
	At                       string        // "" for at once
	LabelID                  string        // the audience,
	File                     io.ReadSeeker // or a CSV file of it
	Stored                   func(n int)   // is called as recipients are stored
}

// MakeBroadcast makes a broadcast of an account's without a request, in the same steps as the
// API. publish is called in the transaction that makes it appear.
func MakeBroadcast(
	ctx context.Context, db *storage.DB, account storage.AccountKey, d BroadcastDraft,
	publish func(func(*storage.Tx) (storage.Broadcast, error)) error,
) error {
	in := broadcastBody{hasFile: d.File != nil}
	r := &request{account: account, org: storage.Organization{ID: account.OrganizationID}}
	var b storage.Broadcast
	err := db.View(ctx, func(rx *storage.Rx) error {
		body, err := d.body(rx, account.ID)
		if err != nil {
			return err
		}
		r.body = body
		if err := r.decode(&in); err != nil {
			return err
		}
		b, err = in.resolve(rx, r)
		return err
	})
	if err != nil {
		return err
	}

	if b.AudienceType == storage.AudienceLabel {
		return publish(func(tx *storage.Tx) (storage.Broadcast, error) {
			made := b
			err := tx.InsertBroadcast(&made)
			if err == nil {
				err = jobs.PublishBroadcast(tx, &made)
			}
			return made, err
		})
	}
	return d.storeFile(ctx, db, &in, b, publish)
}

// storeFile stores the recipients of the file and publishes the broadcast.
func (d BroadcastDraft) storeFile(
	ctx context.Context, db *storage.DB, in *broadcastBody, b storage.Broadcast,
	publish func(func(*storage.Tx) (storage.Broadcast, error)) error,
) error {
	next, err := NewRecipientFile(d.File, in.content)
	if err != nil {
		return err
	}
	counted := func(limit int) ([]storage.BroadcastRecipient, error) {
		some, err := next(limit)
		if d.Stored != nil {
			d.Stored(len(some))
		}
		return some, err
	}
	if err := jobs.StoreRecipients(ctx, db, &b, counted); err != nil {
		return err
	}

	err = publish(func(tx *storage.Tx) (storage.Broadcast, error) {
		made := b
		err := jobs.PublishBroadcast(tx, &made)
		return made, err
	})
	if err != nil {
		err = errors.Join(err, jobs.DeleteUnpublished(ctx, db, b))
	}
	return err
}

// body is the draft as the body of a request.
func (d BroadcastDraft) body(rx *storage.Rx, account int64) ([]byte, error) {
	t, err := rx.Template(account, d.Template, d.Language)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, fmt.Errorf("this number has no template %s in %s: see 'confab templates sync'", d.Template, d.Language)
	}
	if err != nil {
		return nil, err
	}

	parameters, err := d.parameters(t)
	if err != nil {
		return nil, err
	}
	template := map[string]any{"name": d.Template, "language": d.Language}
	if len(parameters) > 0 {
		template["components"] = []any{map[string]any{"type": "body", "parameters": parameters}}
	}
	body := map[string]any{"name": d.Name, "template": template}
	if d.At != "" {
		body["scheduled_at"] = d.At
	}
	if d.LabelID != "" {
		body["audience"] = map[string]any{"label_id": d.LabelID}
	}
	return json.Marshal(body)
}

// parameters are the texts for the variables of the template's body: those that were given,
// or fields. A variable with a name is the field of that name; the first with a number the
// first column of the file that is no number, and so on.
func (d BroadcastDraft) parameters(t storage.Template) ([]any, error) {
	stored := storedTemplate{Components: []byte(t.Components), ParameterFormat: t.ParameterFormat, Category: t.Category}
	parts, err := stored.parts()
	body := findPart(parts, "body")
	if err != nil || body == nil {
		return nil, err
	}
	names := variables(body.Text)
	texts := d.Parameters
	if texts == nil {
		if texts, err = d.fieldsFor(names, stored.named()); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 && len(texts) > 0 {
		return nil, errors.New("the template has no variables: leave out --parameter")
	}
	if len(texts) != len(names) {
		return nil, fmt.Errorf("the template has %d variables (%s), and %d texts were given: give --parameter for each",
			len(names), strings.Join(names, ", "), len(texts))
	}

	all := make([]any, len(names))
	for i, name := range names {
		parameter := map[string]any{"type": "text", "text": texts[i]}
		if stored.named() {
			parameter["parameter_name"] = name
		}
		all[i] = parameter
	}
	return all, nil
}

// fieldsFor are the fields that stand for variables.
func (d BroadcastDraft) fieldsFor(names []string, named bool) (texts []string, err error) {
	var columns []string
	if d.File != nil && !named {
		if columns, err = d.columns(); err != nil {
			return nil, err
		}
	}

	for i, name := range names {
		n, isNumber := strconv.Atoi(name)
		switch {
		case named || isNumber != nil:
			texts = append(texts, "{{"+name+"}}")
		case n >= 1 && n <= len(columns):
			texts = append(texts, "{{"+columns[n-1]+"}}")
		case i == 0 && len(names) == 1:
			texts = append(texts, "{{name}}") // the contact's
		}
	}
	return texts, nil
}

// columns are the columns of the file that are fields.
func (d BroadcastDraft) columns() (columns []string, err error) {
	table, err := newCSVTable(d.File, recipientsPart)
	if err != nil {
		return nil, err
	}
	number := table.column("phone_number", "to")
	for i, name := range table.header {
		if i != number {
			columns = append(columns, name)
		}
	}
	_, err = d.File.Seek(0, io.SeekStart)
	return columns, err
}
