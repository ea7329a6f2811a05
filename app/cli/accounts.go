package cli

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"confab/app"
	"confab/app/api"
	"confab/app/datadir"
	"confab/jobs"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/storage"
)

// pinVariable is for a PIN that should not be seen on a command line.
const pinVariable = "CONFAB_PIN"

func parseProviderID(s string) (string, error) {
	if !provider.PhoneNumberID.MatchString(s) {
		return "", errors.New("must be a provider id of 6 to 20 digits")
	}
	return s, nil
}

// readPIN reads the PIN of a flag as a secretReader does; "" for none.
func readPIN(from *secretReader, value string) (string, error) {
	pin, err := from.read("pin", value, pinVariable)
	if err == nil && pin != "" && !api.PIN.MatchString(pin) {
		err = usage("the PIN must have 6 digits")
	}
	return pin, err
}

// providerAccounts calls the provider that the settings name. In a sandbox's
// directory it calls the sandbox's simulator, regardless of the settings.
func (s *store) providerAccounts() (*provisioning.Accounts, error) {
	o := app.ProviderOptions(s.config.Provider, s.version)

	var sandbox sandboxState
	found, err := readStateFile(sandboxFile(s.dir), &sandbox)
	if err != nil {
		return nil, err
	}
	if found { // a sandbox's directory
		o.BaseURL, o.AppID, o.AppSecret = sandbox.SimulatorURL, sandbox.AppID, sandbox.AppSecret
	}

	s.providerURL = o.BaseURL
	client, err := provider.New(o)
	return provisioning.NewAccounts(s.DB, client), err
}

// account finds a live account by the phone number id that an argument gives.
func account(rx *storage.Rx, number string) (storage.AccountDetail, error) {
	key, err := rx.AccountKey(number)
	if err != nil {
		return storage.AccountDetail{}, accountNotFound(err, number)
	}
	return rx.AccountDetail(key.ID)
}

func (s *store) findAccount(ctx context.Context, number string) (storage.AccountDetail, error) {
	return storage.Query(ctx, s.DB, func(rx *storage.Rx) (storage.AccountDetail, error) { return account(rx, number) })
}

// printAccount shows one account, read again: the provider may have changed any of its fields.
func (s *store) printAccount(cmd *cobra.Command, number string) error {
	a, err := s.findAccount(cmd.Context(), number)
	if err != nil {
		return err
	}
	return printOne(cmd, api.ViewAccount(a, s.Now()), [][]string{
		{"id", a.PublicID},
		{"phone number id", storage.OrEmpty(a.PhoneNumberID)},
		{"number", storage.OrEmpty(a.PhoneNumber)},
		{"name", storage.OrEmpty(a.Name)},
		{"status", a.Status},
		{"reason", storage.OrEmpty(a.StatusReason)},
		{"provider status", storage.OrEmpty(a.ProviderStatus)},
		{"restricted", yesOrNo(a.Restricted)},
	})
}

// ownedAccount is an account with the id of its organization, at a time.
type ownedAccount struct {
	storage.AccountDetail
	organization string
	now          storage.Time
}

func (e *env) accountsList() *cobra.Command {
	columns := table[ownedAccount]{
		heading: []string{"PHONE NUMBER ID", "NUMBER", "NAME", "STATUS", "PROVIDER STATUS", "ORGANIZATION", "CREATED"},
		row: func(a ownedAccount) []string {
			return []string{
				storage.OrEmpty(a.PhoneNumberID), storage.OrEmpty(a.PhoneNumber), storage.OrEmpty(a.Name),
				a.Status, storage.OrEmpty(a.ProviderStatus), a.organization, a.CreatedAt.String(),
			}
		},
		view: func(a ownedAccount) any { return api.ViewAccount(a.AccountDetail, a.now) },
	}

	read := func(rx *storage.Rx, organization int64) ([]storage.AccountDetail, error) {
		all, _, err := rx.Accounts(organization, storage.AccountFilter{}, storage.First, math.MaxInt32)
		return all, err
	}
	view := func(a storage.AccountDetail, o storage.Organization, now storage.Time) ownedAccount {
		return ownedAccount{a, o.PublicID, now}
	}
	return organizationList(e, "accounts", "List business numbers in any state", columns, read, view)
}

func (e *env) accountsRegister() *cobra.Command {
	var pin string
	cmd := &cobra.Command{
		Use:   "register PHONE_NUMBER_ID",
		Short: "Register a number with the provider, using its PIN",
		Long: "Register a number with the provider so that it can send. If the number has two-step verification, the\n" +
			"PIN must match; otherwise this PIN becomes its permanent one. The provider allows ten attempts in 72\n" +
			"hours. A number that is already connected is left unchanged. Pass the PIN as - to read it from standard\n" +
			"input, or set " + pinVariable + ". Without a PIN, the stored one is used: from a setup link\n" +
			"or an earlier registration.",
		Example: "  confab accounts register 106540352242922\n" +
			"  confab accounts register 106540352242922 --pin 123456\n" +
			"  confab accounts register 106540352242922 --pin - < pin.txt",
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			given, err := readPIN(newSecretReader(cmd.InOrStdin()), pin)
			if err != nil {
				return err
			}

			err = s.updateFromProvider(cmd, args[0], "number.registered", func(accounts *provisioning.Accounts, id int64) (writer, error) {
				done, err := accounts.Register(cmd.Context(), id, given)
				if errors.Is(err, provisioning.ErrNoPIN) {
					err = usage("--pin is required: no PIN is stored for this number")
				}
				return done.Store, err
			})
			if err != nil {
				return err
			}
			return s.printAccount(cmd, args[0])
		}),
	}

	cmd.Flags().StringVar(&pin, "pin", "", "the number's 6-digit `PIN` (default: the stored one)")
	return withJSON(cmd)
}

func (e *env) accountsCheck() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "check PHONE_NUMBER_ID",
		Short: "Fetch a number's status from the provider and store it",
		Long: "Fetch a number's status from the provider and store it: whether its access token is valid, its status,\n" +
			"and whether it is restricted. A running server does this every hour. A disconnected number that is\n" +
			"connected at the provider is reconnected.",
		Example: "  confab accounts check 106540352242922\n  confab accounts check 106540352242922 --json",
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			err := s.updateFromProvider(cmd, args[0], "", func(accounts *provisioning.Accounts, id int64) (writer, error) {
				return accounts.CheckNumber(cmd.Context(), id)
			})
			if err != nil {
				return err
			}
			return s.printAccount(cmd, args[0])
		}),
	})
}

// writer stores what a call to the provider returned.
type writer = func(*storage.Tx) error

// updateFromProvider makes a call about an account to the provider and stores what the
// call returned for writing, with an entry in the audit log if there is an action.
func (s *store) updateFromProvider(
	cmd *cobra.Command, number, action string, call func(accounts *provisioning.Accounts, id int64) (writer, error),
) error {
	ctx := cmd.Context()

	a, err := s.findAccount(ctx, number)
	if err != nil {
		return err
	}
	accounts, err := s.providerAccounts()
	if err != nil {
		return err
	}

	// The call is outside of any transaction, because it may take seconds. One that is
	// refused has itself stored what that means for the account, such as a lost token, so
	// a running server is asked to read the account again.
	store, err := call(accounts, a.ID)
	if err != nil {
		return errors.Join(s.explainNoAnswer(err), s.dir.SendCommand(ctx, datadir.CommandRefresh))
	}
	return s.write(cmd, func(tx *storage.Tx) (written, error) {
		return written{entry: auditEntry{a.OrganizationID, action, "number", number}}, store(tx)
	})
}

// explainNoAnswer adds to the error of a call that got no answer which address
// was called: the settings may be wrong.
func (s *store) explainNoAnswer(err error) error {
	if call, ok := errors.AsType[*provider.Error](err); ok && call.Status == 0 {
		return fmt.Errorf("the provider does not answer at %s (%w): check provider.base_url and the network", s.providerURL, call)
	}
	return err
}

func (e *env) accountsDisconnect() *cobra.Command {
	var purge bool
	cmd := &cobra.Command{
		Use:   "disconnect PHONE_NUMBER_ID",
		Short: "Stop using a number; with --purge, delete all its data too",
		Long: "Stop using a number: it no longer sends. Its messages and contacts stay, and it can be connected again.\n" +
			"With --purge, the number and all its data are deleted permanently, by the running server or the next one\n" +
			"that starts.",
		Example: "  confab accounts disconnect 106540352242922\n  confab accounts disconnect 106540352242922 --purge",
		RunE: e.runWrite(func(tx *storage.Tx, args []string) (done written, err error) {
			a, err := account(&tx.Rx, args[0])
			if err != nil {
				return done, err
			}

			done.entry = auditEntry{a.OrganizationID, "number.disconnected", "number", args[0]}
			const why = "Disconnected by the operator."
			if !purge {
				return done, tx.MarkAccountStatus(a.ID, storage.AccountDisconnected, why)
			}

			// The number is removed here; a job deletes its rows, which may be many.
			if err := tx.RemoveAccount(a.ID, why); err != nil {
				return done, err
			}
			return done, jobs.EnqueueAccountRemoval(tx, a.Account)
		}),
	}

	cmd.Flags().BoolVar(&purge, "purge", false, "also delete the number's messages, contacts, media and events")
	return cmd
}
