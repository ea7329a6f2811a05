package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"confab/app/api/rest"
	"confab/app/api/template"
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
}

// MakeBroadcast makes a broadcast of an account as the API does. finish runs the step that
// publishes it, as that of jobs.MakeBroadcast does.
func MakeBroadcast(
	ctx context.Context, db *storage.DB, account storage.AccountKey, d BroadcastDraft,
	finish func(publish func(*storage.Tx) (storage.Broadcast, error)) error,
) error {
	in := broadcastBody{hasFile: d.File != nil}
	var b storage.Broadcast
	err := db.View(ctx, func(rx *storage.Rx) error {
		body, err := d.body(rx, account.ID)
		if err != nil {
			return err
		}
		if err := rest.Decode(body, rx.ClockTime(), &in); err != nil {
			return err
		}
		b, err = in.resolve(rx, account, nil)
		return err
	})
	if err != nil {
		return err
	}

	recipients, err := in.source(d.File)
	if err != nil {
		return err
	}
	return jobs.MakeBroadcast(ctx, db, b, recipients, finish)
}

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
	stored, err := template.Parse(t)
	names, named := stored.BodyVariables()
	texts := d.Parameters
	if err == nil && texts == nil {
		texts, err = d.fieldsFor(names, named)
	}
	if err != nil {
		return nil, err
	}
	if len(names) == 0 && len(texts) > 0 {
		return nil, errors.New("the template has no variables: leave out --parameter")
	}
	if len(texts) != len(names) {
		return nil, fmt.Errorf("the template's variables are %s: give --parameter once for each, not %d times",
			strings.Join(names, ", "), len(texts))
	}

	all := make([]any, len(names))
	for i, name := range names {
		parameter := map[string]any{"type": "text", "text": texts[i]}
		if named {
			parameter["parameter_name"] = name
		}
		all[i] = parameter
	}
	return all, nil
}

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
	_, columns, number, err := openRecipients(d.File)
	if err != nil {
		return nil, err
	}
	if number >= 0 {
		columns = slices.Delete(columns, number, number+1)
	}
	_, err = d.File.Seek(0, io.SeekStart)
	return columns, err
}
