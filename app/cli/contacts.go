package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"confab/app"
	"confab/app/api"
	"confab/app/datadir"
	"confab/jobs"
	"confab/jobs/contactsheet"
	"confab/jobs/queue"
	"confab/storage"
)

const (
	// importPoll is how often a command looks how far the server is with an import.
	importPoll = 200 * time.Millisecond
	// maxImport is the largest file, as the API takes it.
	maxImport = 100 << 20
	// exportBatch is how many contacts of an export are read at once.
	exportBatch = 500
)

func (e *env) contactsExport() *cobra.Command {
	var f numberFlags
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Export the contacts of a number as CSV to standard output",
		Long: "Export the contacts of a number as CSV to standard output: phone_number, bsuid, username, name, email,\n" +
			"labels, opted_in, marketing_opted_out, created_at and the metadata. Text that a spreadsheet would run as a\n" +
			"formula is prefixed with a ', also after a ;, a tab or a line break in a cell.",
		Example: "  confab contacts export > contacts.csv\n  confab contacts export --phone-number-id 106540352242922 > contacts.csv",
		RunE: e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
			var account storage.AccountKey
			err := s.write(cmd, func(tx *storage.Tx) (_ written, err error) {
				account, err = f.account(&tx.Rx)
				return written{entry: auditEntry{account.OrganizationID, "contacts.exported", "number", account.PhoneNumberID}}, err
			})
			if err != nil {
				return err
			}
			return s.exportContacts(cmd.Context(), account.ID, cmd.OutOrStdout())
		}),
	}

	f.add(cmd)
	return cmd
}

// exportContacts goes over the contacts twice: the header line names all keys of their metadata.
func (s *store) exportContacts(ctx context.Context, account int64, out io.Writer) error {
	keys := make(contactsheet.Keys)
	err := s.eachContact(ctx, account, func(c storage.Contact, _ []storage.AttachedLabel) error {
		keys.Add(c.Metadata)
		return nil
	})
	if err != nil {
		return err
	}

	w, err := contactsheet.NewWriter(out, keys)
	if err != nil {
		return err
	}
	if err := s.eachContact(ctx, account, w.Write); err != nil {
		return err
	}
	return w.Flush()
}

// eachContact calls fn with all contacts of an account, newest first, read page by page.
func (s *store) eachContact(ctx context.Context, account int64, fn func(storage.Contact, []storage.AttachedLabel) error) error {
	for after := storage.First; ; {
		var rows []storage.Contact
		var labels map[string][]storage.AttachedLabel
		err := s.View(ctx, func(rx *storage.Rx) (err error) {
			if rows, _, err = rx.Contacts(account, storage.ContactFilter{}, after, exportBatch); err != nil {
				return err
			}
			ids := make([]string, len(rows))
			for i, c := range rows {
				ids[i] = c.ID
			}
			labels, err = rx.ContactLabels(ids...)
			return err
		})
		if err != nil {
			return err
		}

		for _, c := range rows {
			if err := fn(c, labels[c.ID]); err != nil {
				return err
			}
		}
		if len(rows) < exportBatch {
			return nil
		}
		after = storage.After{Key: rows[exportBatch-1].CreatedAt, ID: rows[exportBatch-1].ID}
	}
}

type importFlags struct {
	numberFlags
	dryRun bool
	label  string
}

func (e *env) contactsImport() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Import contacts from a CSV file; - is standard input",
		Long: "Import contacts from a CSV file with the columns of 'confab contacts export', including phone_number or\n" +
			"bsuid; - is standard input. Contacts are matched by number, then by BSUID, and created if there is no\n" +
			"match; empty cells leave a field unchanged. Labels must already exist, by name, in the number's team.\n" +
			"Lines with errors are skipped and listed.\n\n" +
			"A running server does the work, and continues if you stop this command. Without a server, this command\n" +
			"does it.",
		Example: "  confab contacts import people.csv --dry-run\n" +
			"  confab contacts import people.csv --label lbl_01J… --phone-number-id 106540352242922\n" +
			"  confab contacts export --org org_01J… | confab contacts import - --org org_01K…",
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			return s.importContacts(cmd, args[0], f)
		}),
	}

	f.add(cmd)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only count what would change")
	parsedFlag(cmd, &f.label, "label", "a `label` to add to every contact in the file", parseText)
	return withJSON(cmd)
}

// importContacts takes in a file, and prints what became of it.
func (s *store) importContacts(cmd *cobra.Command, name string, f importFlags) error {
	files, err := storage.OpenImportFiles(s.dir.File(storage.ImportsDir))
	if err != nil {
		return err
	}
	i := storage.ContactImport{ID: s.NewID(storage.PrefixImport), DryRun: f.dryRun, Line: 1}
	size, err := saveImport(cmd, files, &i, name)
	if err != nil {
		return err
	}

	err = s.write(cmd, func(tx *storage.Tx) (done written, err error) {
		a, err := f.account(&tx.Rx)
		if err != nil {
			return done, err
		}
		i.AccountID, i.LabelID = a.ID, storage.OrNil(f.label)
		if f.label != "" {
			l, err := tx.Label(a.OrganizationID, f.label)
			if errors.Is(err, storage.ErrNotFound) || err == nil && l.TeamID != a.TeamID {
				err = fmt.Errorf("the number's team has no label %s", f.label)
			}
			if err != nil {
				return done, err
			}
		}

		if err := tx.InsertContactImport(&i); err != nil {
			return done, err
		}
		if !i.DryRun { // which changes nothing
			done.entry = auditEntry{a.OrganizationID, "contacts.imported", "contact_import", i.ID}
		}
		return done, jobs.EnqueueContactImport(tx, i)
	})
	switch {
	case errors.Is(err, errSaved):
		return err // the server reads the file when it can
	case err != nil:
		return errors.Join(err, files.Remove(i.ID))
	}
	if i, err = s.followImport(cmd, files, i, size); err != nil {
		return err
	}
	return printImport(cmd, i)
}

// saveImport stores the file, if it is one of contacts, finds its first line, and returns its size.
func saveImport(cmd *cobra.Command, files storage.ImportFiles, i *storage.ContactImport, name string) (size int64, err error) {
	in := cmd.InOrStdin()
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return 0, err
		}
		defer file.Close()
		if info, err := file.Stat(); err == nil && info.IsDir() {
			return 0, fmt.Errorf("%s is a directory: use a file, or - for standard input", name)
		}
		in = file
	}
	if err := files.Save(i.ID, io.LimitReader(in, maxImport+1)); err != nil {
		return 0, err
	}

	file, err := files.Open(i.ID)
	if err != nil {
		return 0, err
	}
	defer file.Close()

	layout, err := contactsheet.ReadLayout(file)
	if info, stat := file.Stat(); stat == nil {
		size = info.Size()
	}
	if err == nil && size > maxImport {
		err = errors.New("is larger than 100 MiB")
	}
	if err != nil {
		return 0, errors.Join(fmt.Errorf("%s %w", name, err), files.Remove(i.ID))
	}

	i.Offset = layout.First
	return size, nil
}

// followImport shows how far an import is until it is done, by the running server or by this process.
func (s *store) followImport(
	cmd *cobra.Command, files storage.ImportFiles, i storage.ContactImport, size int64,
) (storage.ContactImport, error) {
	ctx := cmd.Context()
	line := newProgress(cmd.ErrOrStderr(), "importing", formatBytes)
	defer line.end()
	report := func(now storage.ContactImport) { line.step(now.Offset, size) }

	lock, err := s.dir.LockShared()
	switch {
	case err == nil:
		defer lock.Close()
		log := app.NewLogger(cmd.ErrOrStderr(), s.config.Log)
		err := jobs.New(jobs.Options{DB: s.DB, Imports: files, Log: log}).ImportContacts(ctx, i.AccountID, i.ID, report)
		if errors.Is(err, context.Canceled) {
			return i, errors.New("stopped: the next server continues it as import " + i.ID)
		}
		if err != nil {
			return i, err
		}
	case !errors.Is(err, datadir.ErrServed):
		return i, err
	}

	for {
		i, err = storage.Query(ctx, s.DB, func(rx *storage.Rx) (storage.ContactImport, error) {
			return rx.ContactImport(i.AccountID, i.ID)
		})
		if err != nil || i.Status != storage.ImportRunning {
			return i, err
		}
		report(i)
		if !queue.Pause(ctx, importPoll) {
			return i, errors.New("detached: the server continues it as import " + i.ID)
		}
	}
}

func printImport(cmd *cobra.Command, i storage.ContactImport) error {
	err := printOne(cmd, api.ViewContactImport(i), [][]string{
		{"import", i.ID},
		{"status", i.Status},
		{"lines", formatCount(i.Lines)},
		{"created", formatCount(i.Created)},
		{"updated", formatCount(i.Updated)},
		{"unchanged", formatCount(i.Unchanged)},
		{"failed", formatCount(i.Failed)},
	})
	if err != nil || i.Failed == 0 && i.Status == storage.ImportCompleted {
		return err
	}

	problem := importError(i)
	if i.Status == storage.ImportCompleted && i.Failed < i.Lines { // what could be taken in was
		printError(cmd.ErrOrStderr(), problem)
		return nil
	}
	return problem
}

// shownImportErrors is how many lines an import's error names.
const shownImportErrors = 20

func importError(i storage.ContactImport) error {
	var problems []contactsheet.Problem
	if err := json.Unmarshal(i.Errors, &problems); err != nil {
		return err
	}

	text := fmt.Sprintf("%s of %s lines were skipped", formatCount(i.Failed), formatCount(i.Lines))
	if i.Status == storage.ImportFailed {
		text = "the import failed"
	}
	for _, p := range problems[:min(len(problems), shownImportErrors)] {
		text += fmt.Sprintf("\nline %d: %s", p.Line, printable(p.Message))
	}
	if len(problems) > shownImportErrors {
		text += "\nand more"
	}
	return errors.New(text)
}
