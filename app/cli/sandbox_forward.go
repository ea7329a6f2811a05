package cli

import (
	"context"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"confab/storage"
)

// forwardFlag adds --forward-to to a sandbox.
func forwardFlag(cmd *cobra.Command, to **url.URL) {
	parsedFlag(cmd, to, "forward-to", "subscribe this `URL` to all events, and print the signing secret", parseEndpoint)
}

// subscribeForwardURL subscribes a URL to all events, unless an earlier start has
// done so, and keeps the secret that signs them.
func (b *sandbox) subscribeForwardURL(ctx context.Context, to *url.URL) error {
	if to == nil {
		return nil
	}
	return b.app.DB.Update(ctx, func(tx *storage.Tx) error {
		o, err := tx.Organization(b.state.OrganizationID)
		if err != nil {
			return err
		}

		all, err := subscriptions(&tx.Rx, o.ID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(s storage.Subscription) bool { // to all events of all numbers
			return s.URL == to.String() && len(s.Events) == 1 && s.Events[0] == "*" && len(s.PhoneNumberIDs) == 0
		})

		if i < 0 { // the secret comes with the new subscription
			description := "confab sandbox --forward-to"
			sub := storage.Subscription{
				OrganizationID: o.ID,
				URL:            to.String(),
				Description:    &description,
				Events:         storage.Strings{"*"},
				Status:         storage.WebhookActive,
			}
			b.webhookSecret, err = tx.InsertSubscription(&sub)
			return err
		}

		if all[i].Status != storage.WebhookActive {
			if err := tx.ResumeSubscription(all[i].ID); err != nil {
				return err
			}
		}
		return b.loadSecret(tx, all[i].ID)
	})
}

// loadSecret reads the secret of an earlier start, or makes a new one if all have
// expired.
func (b *sandbox) loadSecret(tx *storage.Tx, subscription string) error {
	keys, err := tx.SigningKeys(subscription)
	if err != nil {
		return err
	}

	if len(keys) > 0 {
		b.webhookSecret = keys[0]
		return nil
	}

	_, b.webhookSecret, err = tx.InsertSecret(subscription, 0)
	return err
}
