package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
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

func (e *env) webhooks() *cobra.Command {
	return e.group("webhooks", "List webhook subscriptions, enable them, and verify signatures",
		e.webhooksList(), e.webhooksEnable(), e.webhooksVerify())
}

// ownedSubscription is a subscription with its organization and its secrets.
type ownedSubscription struct {
	storage.Subscription
	organization string
	secrets      []storage.Secret
}

func (e *env) webhooksList() *cobra.Command {
	var (
		org    string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List webhook subscriptions, newest first",
		Example: "  confab webhooks list\n  confab webhooks list --org org_01J… --json",
		Args:    arguments(),
		RunE: e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
			all, err := s.subscriptions(cmd, org)
			if err != nil {
				return err
			}

			if asJSON {
				views := make([]any, len(all))
				for i, sub := range all {
					views[i] = api.ViewSubscription(sub.Subscription, sub.secrets)
				}
				return printJSON(cmd.OutOrStdout(), views)
			}

			heading := []string{"ID", "ORGANIZATION", "STATUS", "REASON", "FAILURES", "URL", "EVENTS"}
			return printList(cmd, false, all, heading, func(s ownedSubscription) []string {
				return []string{
					s.ID, s.organization, s.Status, optionalText(s.DisabledReason),
					strconv.Itoa(s.ConsecutiveFailures), s.URL, strings.Join(s.Events, " "),
				}
			})
		}),
	}

	optionalOrg(cmd, &org)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// subscriptions reads the subscriptions of one organization, or of all.
func (s *store) subscriptions(cmd *cobra.Command, org string) (all []ownedSubscription, err error) {
	err = s.eachOrganization(cmd.Context(), org, func(rx *storage.Rx, o storage.Organization) error {
		for after := storage.First; ; {
			page, err := rx.Subscriptions(o.ID, after, listLimit)
			if err != nil {
				return err
			}

			secrets, err := rx.SecretsOf(page)
			if err != nil {
				return err
			}

			for _, sub := range page {
				all = append(all, ownedSubscription{sub, o.PublicID, secrets[sub.ID]})
			}

			if len(page) < listLimit {
				return nil
			}

			last := page[len(page)-1]
			after = storage.After{Key: last.CreatedAt, ID: last.ID}
		}
	})
	return all, err
}

func (e *env) webhooksEnable() *cobra.Command {
	return &cobra.Command{
		Use:   "enable WBS",
		Short: "Make a disabled or paused subscription active again",
		Long: "Make a disabled or paused subscription active again. Deliveries that waited go out, oldest first;\n" +
			"those that are dead stay so: see 'confab deliveries replay'.",
		Example: "  confab webhooks enable wbs_01J…",
		Args:    arguments("WBS"),
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			err := s.change(cmd.Context(), func(tx *storage.Tx) error {
				if err := tx.ResumeSubscription(args[0]); err != nil {
					return err
				}
				return s.auditWebhook(tx, "webhook.enabled", args[0])
			})
			return subscriptionNotFound(err, args[0])
		}),
	}
}

// subscriptionNotFound replaces storage.ErrNotFound by an error that names the
// subscription.
func subscriptionNotFound(err error, id string) error {
	if errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("there is no webhook subscription %s", id)
	}
	return err
}

func (e *env) webhooksVerify() *cobra.Command {
	var (
		secret, signature string
		anyAge            bool
	)
	cmd := &cobra.Command{
		Use:   "verify --signature H [FILE]",
		Short: "Check the signature of a delivery, as its receiver should",
		Long: "Check the value of a delivery's X-Svc-Signature header against the exact bytes of its body, in FILE or\n" +
			"on standard input. The secret may be given as - (a line of standard input, before the body) or by\n" +
			"$" + webhookSecretVariable + ". Exit status 0 when the signature is good, 1 when it is not.",
		Example: "  confab webhooks verify --secret whsec_… --signature t=1767323045,v1=… body.json\n" +
			"  confab webhooks verify --signature \"$HEADER\" --any-age <body.json",
		Args: arguments("[FILE]"),
		RunE: e.run(func(cmd *cobra.Command, args []string) error {
			in := newSecretReader(cmd.InOrStdin())
			key, err := in.read("secret", secret, webhookSecretVariable)
			if err != nil {
				return err
			}
			if key == "" {
				return usage("give the secret with --secret or $%s", webhookSecretVariable)
			}

			// The secret's line was taken from standard input; the body is the rest.
			body, err := readBody(in.lines, args)
			if err != nil {
				return err
			}

			if err := webhook.Verify(signature, body, time.Now(), key); err != nil && !(anyAge && errors.Is(err, webhook.ErrStale)) {
				return explainSignatureError(err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), "The signature is good.")
			return nil
		}),
	}

	parsedFlag(cmd, &secret, "secret", "the signing `secret`, whsec_…", parseText)
	parsedFlag(cmd, &signature, "signature", "the `value` of the header X-Svc-Signature", parseText)
	cmd.MarkFlagRequired("signature")
	cmd.Flags().BoolVar(&anyAge, "any-age", false, "accept an old signature too, which a receiver should refuse")
	return cmd
}

// readBody reads the file of the argument, or the rest of standard input.
func readBody(in io.Reader, args []string) ([]byte, error) {
	if len(args) == 0 || args[0] == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(args[0])
}

// explainSignatureError adds to an error the likely cause.
func explainSignatureError(err error) error {
	switch {
	case errors.Is(err, webhook.ErrMismatch):
		return fmt.Errorf("%w: it was made with another secret, or the body is not byte for byte what was sent", err)
	case errors.Is(err, webhook.ErrStale):
		return fmt.Errorf("%w, though it is genuine: a receiver should refuse it (--any-age accepts it here)", err)
	}
	return err
}
