package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"confab/app/config"
	"confab/app/datadir"
	"confab/app/replica"
	"confab/storage"
)

// store is the data directory's database, opened for one command. A server may run on the same
// directory: SQLite lets both processes write, and change notifies the server of what was written.
type store struct {
	*storage.DB
	dir         datadir.Dir
	config      config.Config
	version     string // of this program
	providerURL string // where the provider is called, once providerAccounts was
}

// noDatabase says that there is none, and where one may be meant.
func noDatabase(dir string) error {
	if replica.IsStandby(dir) {
		return fmt.Errorf("%s is the directory of a standby, which has no database before 'confab promote'", dir)
	}
	if sandbox, _ := datadir.Dir(defaultSandboxDir).Exists(); sandbox {
		return fmt.Errorf("there is no confab database in %s: check --data-dir; the sandbox's is %s", dir, defaultSandboxDir)
	}
	return fmt.Errorf("there is no confab database in %s: check --data-dir, or create one with 'confab orgs create'", dir)
}

// open opens the data directory. With create it may be new; otherwise a wrong
// --data-dir must not quietly become a new installation.
func (e *env) open(cmd *cobra.Command, create bool) (*store, error) {
	c, err := e.settings(cmd)
	if err != nil {
		return nil, err
	}

	s := &store{dir: datadir.Dir(c.DataDir), config: c, version: e.Version}
	exists, err := s.dir.Exists()
	if err != nil {
		return nil, err
	}
	if !create && !exists {
		return nil, noDatabase(c.DataDir)
	}

	// A running server has migrated the database; this command leaves its schema alone then.
	if err := s.dir.Prepare(); err != nil {
		return nil, err
	}
	served, err := s.dir.IsServed()
	if err != nil {
		return nil, err
	}

	o := storage.Options{
		Schema:    e.Schema,
		OnUpgrade: func(progress string) { fmt.Fprintln(os.Stderr, progress) },
	}
	s.DB, err = s.dir.OpenForCommand(o, os.Getenv("CONFAB_MASTER_KEY"), served)
	return s, err
}

// Close closes the database, with its changes counted.
func (s *store) Close() error {
	err := s.dir.CountChanges(context.Background(), s.DB)
	if err != nil {
		err = fmt.Errorf("the change is stored, but it cannot be counted, so that an older database may not be noticed: %w", err)
	}
	return errors.Join(err, s.DB.Close())
}

// change writes in one transaction, and returns when the running server, if
// there is one, has read again what it keeps in memory.
func (s *store) change(ctx context.Context, fn func(*storage.Tx) error) error {
	return s.changeAndNotify(ctx, datadir.CommandRefresh, fn)
}

// changeAndNotify writes in one transaction, and sends a command to the server, if one runs.
func (s *store) changeAndNotify(ctx context.Context, command string, fn func(*storage.Tx) error) error {
	if err := s.Update(ctx, fn); err != nil {
		return err
	}

	// The transaction is committed: the error must not look as if it were not.
	if err := s.dir.SendCommand(ctx, command); err != nil {
		return fmt.Errorf("%w, but %w", errSaved, err)
	}
	return nil
}

// errSaved begins an error that came after the commit: what was written stays.
var errSaved = errors.New("the change was saved")

// withStore makes a command's RunE of code that works on the data directory,
// which is opened before and closed after it. For create see open.
func (e *env) withStore(create bool, f func(cmd *cobra.Command, args []string, s *store) error) func(*cobra.Command, []string) error {
	return e.run(func(cmd *cobra.Command, args []string) (err error) {
		s, err := e.open(cmd, create)
		if err != nil {
			return err
		}

		defer func() {
			if closing := s.Close(); err == nil {
				err = closing
			}
		}()
		return f(cmd, args, s)
	})
}

// written is what a command wrote: the entry in the audit log, if it has an action, and
// what is printed, if it has a text.
type written struct {
	entry auditEntry
	text  string
	view  any // with --json
}

type auditEntry struct {
	organization                 int64
	action, targetType, targetID string
}

// write writes in one transaction, with the entry in the audit log, and prints the result.
func (s *store) write(cmd *cobra.Command, fn func(*storage.Tx) (written, error)) error {
	var done written
	err := s.change(cmd.Context(), func(tx *storage.Tx) (err error) {
		if done, err = fn(tx); err != nil || done.entry.action == "" {
			return err
		}
		return s.audit(tx, done.entry.organization, done.entry.action, done.entry.targetType, done.entry.targetID)
	})
	if err != nil && !errors.Is(err, errSaved) || done.text == "" {
		return err
	}
	return errors.Join(err, printNew(cmd, done.text, done.view)) // a secret is shown only now
}

// runWrite makes the RunE of a command that only writes to the database.
func (e *env) runWrite(fn func(tx *storage.Tx, args []string) (written, error)) func(*cobra.Command, []string) error {
	return e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
		return s.write(cmd, func(tx *storage.Tx) (written, error) { return fn(tx, args) })
	})
}

// showCommand completes a command that prints what read returns, as text or with --json. With
// flush, a running server first stores what it has not stored yet of the API's use.
func showCommand[T any](
	e *env, cmd *cobra.Command, flush bool, read func(rx *storage.Rx, args []string) (T, error), show func(*cobra.Command, T) error,
) *cobra.Command {
	cmd.RunE = e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
		if flush {
			s.flushCalls(cmd)
		}

		found, err := storage.Query(cmd.Context(), s.DB, func(rx *storage.Rx) (T, error) { return read(rx, args) })
		if err != nil {
			return err
		}
		return show(cmd, found)
	})
	return withJSON(cmd)
}

// listCommand completes a command that lists what read returns, as a table or with --json.
func listCommand[T any](
	e *env, cmd *cobra.Command, t table[T], read func(rx *storage.Rx, args []string) ([]T, error),
) *cobra.Command {
	return showCommand(e, cmd, t.flush, read, func(cmd *cobra.Command, all []T) error { return printList(cmd, all, t) })
}

// organizationList makes the command that lists what each organization has, or the one of a flag.
func organizationList[T, V any](
	e *env, noun, short string, t table[V], read func(rx *storage.Rx, organization int64) ([]T, error),
	view func(row T, o storage.Organization, now storage.Time) V,
) *cobra.Command {
	example := fmt.Sprintf("  confab %[1]s list\n  confab %[1]s list --org org_01J… --json", noun)
	cmd := &cobra.Command{Use: "list", Short: short, Example: example}
	return listCommand(e, cmd, t, readEachOrganization(cmd, read, view))
}

// readEachOrganization adds the flag that narrows a listing to an organization. It reads for
// listCommand what that one has, or each of all, and makes views of the rows, as of now.
func readEachOrganization[T, V any](
	cmd *cobra.Command, read func(rx *storage.Rx, organization int64) ([]T, error),
	view func(row T, o storage.Organization, now storage.Time) V,
) func(*storage.Rx, []string) ([]V, error) {
	var org string
	optionalOrg(cmd, &org)

	return func(rx *storage.Rx, _ []string) (views []V, err error) {
		organizations, err := rx.Organizations()
		if org != "" {
			organizations = make([]storage.Organization, 1)
			organizations[0], err = organization(rx, org)
		}
		if err != nil {
			return nil, err
		}

		for _, o := range organizations {
			rows, err := read(rx, o.ID)
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				views = append(views, view(row, o, rx.ClockTime()))
			}
		}
		return views, nil
	}
}

// notFound replaces storage.ErrNotFound by an error that names what was looked for.
func notFound(err error, what string, id any) error {
	return ifMissing(err, "there is no %s %v", what, id)
}

// ifMissing replaces storage.ErrNotFound by an error that says what is missing.
func ifMissing(err error, format string, args ...any) error {
	if errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf(format, args...)
	}
	return err
}

func organization(rx *storage.Rx, id string) (storage.Organization, error) {
	o, err := rx.Organization(id)
	return o, notFound(err, "organization", id)
}

// optionalOrganization finds the organization of a flag; its id is 0 if the flag is not given.
func optionalOrganization(rx *storage.Rx, id string) (storage.Organization, error) {
	if id == "" {
		return storage.Organization{}, nil
	}
	return organization(rx, id)
}

// onlyOrganization finds the organization of a flag, or the only one if the flag is not given.
func onlyOrganization(rx *storage.Rx, id string) (storage.Organization, error) {
	if id != "" {
		return organization(rx, id)
	}

	all, err := rx.Organizations()
	switch {
	case err != nil:
		return storage.Organization{}, err
	case len(all) == 0:
		return storage.Organization{}, errors.New("there is no organization: create one with 'confab orgs create'")
	case len(all) > 1:
		return storage.Organization{}, errors.New("there are several organizations: choose one with --org")
	}
	return all[0], nil
}

// theOnly is the one thing that was found; where there are several, the error ends with their ids.
func theOnly[T any](found []T, id func(T) string, none, several string) (one T, err error) {
	switch len(found) {
	case 0:
		return one, errors.New(none)
	case 1:
		return found[0], nil
	}

	var ids []string
	for _, one := range found {
		ids = append(ids, id(one))
	}
	return one, errors.New(several + strings.Join(ids, ", "))
}
