package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"confab/app/api"
	"confab/jobs"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/storage"
)

// connectFlags say which number is to be connected, and whose it is.
type connectFlags struct {
	org, number, waba, token string
	team, customer, pin      string
}

func (e *env) accountsConnect() *cobra.Command {
	var f connectFlags
	cmd := &cobra.Command{
		Use:   "connect --org ORG --phone-number-id ID --waba-id ID --access-token TOKEN",
		Short: "Connect a business number and print its account id",
		Long: "Connect a business number. The token is checked with the provider before anything is stored, and the app\n" +
			"is subscribed to the business account's callbacks. With --pin, a number that is not connected yet is also\n" +
			"registered; otherwise it stays in onboarding until 'confab accounts register' completes it. The server\n" +
			"syncs its templates right away, or when it starts. A number that lost its connection can be reconnected\n" +
			"with another token. Pass secrets as - to read each from a line of standard input, or set\n" +
			accessTokenVariable + " and " + pinVariable + ".",
		Example: "  confab accounts connect --org org_01J… --phone-number-id 106540352242922 --waba-id 102290129340398" +
			" --access-token - < token.txt\n" +
			"  confab accounts connect --org org_01J… --phone-number-id 106540352242922 --waba-id 102290129340398" +
			" --access-token EAA… --pin 123456 --json",
		RunE: e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
			a, err := s.connect(cmd, f)
			if err != nil {
				return err
			}
			return printNew(cmd, a.PublicID, api.ViewAccount(a, s.Now()))
		}),
	}

	requiredOrg(cmd, &f.org, "that owns the number")
	requiredFlag(cmd, &f.number, "phone-number-id", "the provider's `id` for the number", parseProviderID)
	requiredFlag(cmd, &f.waba, "waba-id", "the provider's `id` for the business account", parseProviderID)

	cmd.Flags().StringVar(&f.token, "access-token", "", "the provider's access `token` for the number and the business account")
	parsedFlag(cmd, &f.team, "team", "the number's `team` (default: the customer's, or the organization's first)", parseText)
	parsedFlag(cmd, &f.customer, "customer", "the end-`customer` that owns the number", parseText)
	cmd.Flags().StringVar(&f.pin, "pin", "", "register the number with this 6-digit `PIN`, unless it is already connected")
	return withJSON(cmd)
}

// connect checks a number and its token at the provider, and stores the account.
func (s *store) connect(cmd *cobra.Command, f connectFlags) (a storage.AccountDetail, err error) {
	claim, err := f.readClaim(newSecretReader(cmd.InOrStdin()))
	if err != nil {
		return a, err
	}

	// The flags are checked before the provider is called. They are checked
	// again in its transaction, because the database may have changed meanwhile.
	ctx := cmd.Context()
	if _, err := storage.Query(ctx, s.DB, f.resolveAccount); err != nil {
		return a, err
	}
	accounts, err := s.providerAccounts()
	if err != nil {
		return a, err
	}
	number, registered, err := accounts.Connect(ctx, claim)
	if err != nil {
		return a, s.explainNoAnswer(err)
	}

	if !registered {
		claim.PIN = "" // the provider has not checked it
	}

	// The app is subscribed now, and the number may be registered: an interrupt must not lose that.
	err = s.change(context.WithoutCancel(ctx), func(tx *storage.Tx) error {
		if a, err = f.resolveAccount(&tx.Rx); err != nil {
			return err
		}
		if a, err = jobs.StoreConnected(tx, a, claim, number); err != nil {
			return err
		}
		return s.audit(tx, a.OrganizationID, "number.connected", "number", f.number)
	})
	return a, err
}

// readClaim reads what the provider is asked for, with the secrets of the flags.
func (f connectFlags) readClaim(from *secretReader) (c provisioning.NumberClaim, err error) {
	c = provisioning.NumberClaim{PhoneNumberID: f.number, WABAID: f.waba}

	token, err := from.read("access-token", f.token, accessTokenVariable)
	switch {
	case err != nil:
		return c, err
	case token == "":
		return c, usage("--access-token is missing")
	}

	c.Token = provider.NewToken(token)
	c.PIN, err = readPIN(from, f.pin)
	return c, err
}

// resolveAccount is the account that the flags mean: a new one (its ID is 0),
// with its organization, team and customer, or one that lost its connection.
func (f connectFlags) resolveAccount(rx *storage.Rx) (a storage.AccountDetail, err error) {
	o, err := organization(rx, f.org)
	if err != nil {
		return a, err
	}

	// The team of a customer's number is always the customer's.
	a.OrganizationID = o.ID
	if f.customer != "" {
		c, err := rx.Customer(o.ID, f.customer)
		if err != nil {
			return a, ifMissing(err, "organization %s has no customer %s", o.PublicID, f.customer)
		}
		if f.team != "" && f.team != c.TeamPublicID {
			return a, fmt.Errorf("customer %s belongs to %s", c.ID, c.TeamPublicID)
		}
		a.CustomerID, f.team = &c.ID, c.TeamPublicID
	}

	team, err := chooseTeam(rx, o, f.team)
	if err != nil {
		return a, err
	}

	a.TeamID = team.ID
	return f.checkExisting(rx, a)
}

// checkExisting returns the account that the number belongs to already, or else the one that is
// wanted. An existing one must have the same owner and must not be connected.
func (f connectFlags) checkExisting(rx *storage.Rx, wanted storage.AccountDetail) (storage.AccountDetail, error) {
	key, err := rx.AccountKey(f.number)
	if errors.Is(err, storage.ErrNotFound) {
		return wanted, nil
	}
	if err != nil {
		return wanted, err
	}

	a, err := rx.AccountDetail(key.ID)
	switch {
	case err != nil:
		return a, err
	case a.OrganizationID != wanted.OrganizationID:
		return a, fmt.Errorf("number %s is already connected by another organization", f.number)
	case a.Status == storage.AccountConnected:
		return a, fmt.Errorf("number %s is already connected", f.number)
	case f.customer != "" && storage.OrEmpty(a.CustomerID) != f.customer, f.team != "" && a.TeamPublicID != f.team:
		return a, fmt.Errorf("number %s belongs to another team or customer: "+
			"remove it first with 'confab accounts disconnect %s --purge'", f.number, f.number)
	}
	return a, nil
}
