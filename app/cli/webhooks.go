package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"confab/app/api"
	"confab/jobs/webhook"
	"confab/storage"
)

// webhookSecretVariable holds a signing secret for the commands that need one,
// and for the command that 'sandbox exec --forward-to' runs.
const webhookSecretVariable = "CONFAB_WEBHOOK_SECRET"

// ownedSubscription is a subscription with its organization and its secrets.
type ownedSubscription struct {
	storage.Subscription
	organization string
	secrets      []storage.Secret
}

func (e *env) webhooksList() *cobra.Command {
	columns := table[ownedSubscription]{
		heading: []string{"ID", "ORGANIZATION", "FORMAT", "STATUS", "REASON", "FAILURES", "URL", "EVENTS"},
		row: func(s ownedSubscription) []string {
			return []string{
				s.ID, s.organization, s.Format, s.Status, storage.OrEmpty(s.DisabledReason),
				strconv.Itoa(s.ConsecutiveFailures), s.URL, strings.Join(s.Events, " "),
			}
		},
		view: func(s ownedSubscription) any { return api.ViewSubscription(s.Subscription, s.secrets) },
	}

	read := func(rx *storage.Rx, organization int64) (all []ownedSubscription, err error) {
		found, err := rx.Subscriptions(organization, storage.First, math.MaxInt32)
		if err != nil {
			return nil, err
		}
		secrets, err := rx.SecretsOf(found)
		for _, s := range found {
			all = append(all, ownedSubscription{Subscription: s, secrets: secrets[s.ID]})
		}
		return all, err
	}
	view := func(s ownedSubscription, o storage.Organization, _ storage.Time) ownedSubscription {
		s.organization = o.PublicID
		return s
	}
	return organizationList(e, "webhooks", "List webhook subscriptions, newest first", columns, read, view)
}

func (e *env) webhooksEnable() *cobra.Command {
	return &cobra.Command{
		Use:   "enable WBS",
		Short: "Enable a disabled or paused subscription",
		Long: "Enable a disabled or paused subscription. Waiting deliveries are sent, oldest first; dead ones stay dead:\n" +
			"see 'confab deliveries replay'.",
		Example: "  confab webhooks enable wbs_01J…",
		RunE: e.runWrite(func(tx *storage.Tx, args []string) (done written, err error) {
			if err := tx.ResumeSubscription(args[0]); err != nil {
				return done, notFound(err, "webhook subscription", args[0])
			}
			done.entry, err = webhookEntry(&tx.Rx, "webhook.enabled", args[0])
			return done, err
		}),
	}
}

func (e *env) webhooksVerify() *cobra.Command {
	var (
		secret, signature string
		anyAge            bool
	)
	cmd := &cobra.Command{
		Use:   "verify --signature H [FILE]",
		Short: "Verify the signature of a delivery, as its receiver should",
		Long: "Verify the value of a delivery's X-Svc-Signature header against the exact bytes of its body, in FILE or\n" +
			"on standard input. Pass the secret as - (a line of standard input, before the body) or set\n" +
			"$" + webhookSecretVariable + ". The exit status is 0 if the signature is valid, 1 if it is not.",
		Example: "  confab webhooks verify --secret whsec_… --signature t=1767323045,v1=… body.json\n" +
			"  confab webhooks verify --signature \"$HEADER\" --any-age <body.json",
		RunE: e.run(func(cmd *cobra.Command, args []string) error {
			in := newSecretReader(cmd.InOrStdin())
			key, err := in.read("secret", secret, webhookSecretVariable)
			if err != nil {
				return err
			}
			if key == "" {
				return usage("set the secret with --secret or $%s", webhookSecretVariable)
			}

			// The secret's line was taken from standard input; the body is the rest.
			body, err := readFileOrStdin(in.lines, append(args, "-")[0])
			if err != nil {
				return err
			}

			err = webhook.Verify(signature, body, time.Now(), key)
			switch {
			case errors.Is(err, webhook.ErrMismatch):
				return fmt.Errorf("%w: it was made with another secret, or the body is not byte for byte what was sent", err)
			case errors.Is(err, webhook.ErrStale) && !anyAge:
				return fmt.Errorf("%w, though it is genuine: a receiver should refuse it (--any-age accepts it here)", err)
			case err != nil && !errors.Is(err, webhook.ErrStale):
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "The signature is good.")
			return nil
		}),
	}

	parsedFlag(cmd, &secret, "secret", "the signing `secret`, whsec_…", parseText)
	requiredFlag(cmd, &signature, "signature", "the `value` of the header X-Svc-Signature", parseText)
	cmd.Flags().BoolVar(&anyAge, "any-age", false, "also accept an old signature, which a receiver should refuse")
	return cmd
}
