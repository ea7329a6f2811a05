package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"confab/app/config"
	"confab/app/datadir"
	"confab/storage"
)

// store is the data directory's database, opened for one command. A server may
// run on the same directory: SQLite lets both processes write, and change tells
// the server of what was written.
type store struct {
	*storage.DB
	dir         datadir.Dir
	config      config.Config
	providerURL string // where the provider is called, once providerAccounts was
}

// noDatabase says that there is none, and where one may be meant.
func noDatabase(dir string) error {
	if sandbox, _ := datadir.Dir(defaultSandboxDir).Exists(); sandbox {
		return fmt.Errorf("there is no confab database in %s: check --data-dir; that of the sandbox is %s", dir, defaultSandboxDir)
	}
	return fmt.Errorf("there is no confab database in %s: check --data-dir, or make one with 'confab orgs create'", dir)
}

// open opens the data directory. With create it may be new; otherwise a wrong
// --data-dir must not quietly become a new installation.
func (e *env) open(cmd *cobra.Command, create bool) (*store, error) {
	c, err := e.settings(cmd, nil)
	if err != nil {
		return nil, err
	}

	s := &store{dir: datadir.Dir(c.DataDir), config: c}
	exists, err := s.dir.Exists()
	if err != nil {
		return nil, err
	}
	if !create && !exists {
		return nil, noDatabase(c.DataDir)
	}

	// A running server has migrated the database; this command leaves its schema
	// alone then.
	if err := s.dir.Prepare(); err != nil {
		return nil, err
	}
	served, err := s.dir.IsServed()
	if err != nil {
		return nil, err
	}

	o := storage.Options{
		Schema:    e.Schema,
		Readers:   1,
		SkipCheck: true,
		OnUpgrade: func(progress string) { fmt.Fprintln(os.Stderr, progress) },
	}
	s.DB, err = s.dir.Open(o, os.Getenv("CONFAB_MASTER_KEY"), served)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// change writes in one transaction, and returns when the running server, if
// there is one, has read again what it keeps in memory.
func (s *store) change(ctx context.Context, fn func(*storage.Tx) error) error {
	return s.changeAndNotify(ctx, datadir.CommandRefresh, fn)
}

// changeAndNotify writes in one transaction, and sends a command to the running
// server, if there is one.
func (s *store) changeAndNotify(ctx context.Context, command string, fn func(*storage.Tx) error) error {
	if err := s.Update(ctx, fn); err != nil {
		return err
	}

	// The transaction is committed: the error must not look as if it were not.
	if err := s.dir.SendCommand(ctx, command); err != nil {
		return fmt.Errorf("the change is stored, but %w", err)
	}
	return nil
}

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

// organization finds an organization by the id that a flag or argument gave.
func organization(rx *storage.Rx, id string) (storage.Organization, error) {
	o, err := rx.Organization(id)
	if errors.Is(err, storage.ErrNotFound) {
		err = fmt.Errorf("there is no organization %s", id)
	}
	return o, err
}

// onlyOrganization finds the organization of a flag, or the only one if the flag is not
// given.
func onlyOrganization(rx *storage.Rx, id string) (storage.Organization, error) {
	if id != "" {
		return organization(rx, id)
	}

	all, err := rx.Organizations()
	switch {
	case err != nil:
		return storage.Organization{}, err
	case len(all) == 0:
		return storage.Organization{}, errors.New("there is no organization: make one with 'confab orgs create'")
	case len(all) > 1:
		return storage.Organization{}, errors.New("there are several organizations: say which with --org")
	}
	return all[0], nil
}

// eachOrganization calls f for the organization with the id, or for all without one.
func (s *store) eachOrganization(ctx context.Context, id string, f func(*storage.Rx, storage.Organization) error) error {
	return s.View(ctx, func(rx *storage.Rx) error {
		all, err := rx.Organizations()
		if id != "" {
			var one storage.Organization
			one, err = organization(rx, id)
			all = []storage.Organization{one}
		}

		if err != nil {
			return err
		}

		for _, o := range all {
			if err := f(rx, o); err != nil {
				return err
			}
		}
		return nil
	})
}
