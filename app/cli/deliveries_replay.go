package cli

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"confab/storage"
)

type replayOptions struct {
	filter storage.ReplayFilter
	since  time.Duration
	dryRun bool
}

// bulk reports whether a filter chooses the deliveries, and not their ids.
func (o replayOptions) bulk() bool { return o.filter.SubscriptionID != "" }

func (e *env) deliveriesReplay() *cobra.Command {
	o := replayOptions{filter: storage.ReplayFilter{Status: storage.DeliveryDead}}
	cmd := &cobra.Command{
		Use:   "replay WBD… | --subscription WBS",
		Short: "Replay deliveries, or all dead ones of a subscription",
		Long: "Send earlier deliveries again, byte for byte and with the same event id. Name the deliveries, or use\n" +
			"--subscription to replay all its dead (or failed) deliveries that were not replayed yet, oldest first.\n" +
			"Prints the ids of the new deliveries, or how many there are.",
		Example: "  confab deliveries replay wbd_01J… wbd_01J…\n" +
			"  confab deliveries replay --subscription wbs_01J… --since 2d --dry-run\n" +
			"  confab deliveries replay --subscription wbs_01J… --event-type message.received",
		Args: func(cmd *cobra.Command, args []string) error {
			bulkOnly := []string{"status", "event-type", "since", "dry-run"}
			given := slices.IndexFunc(bulkOnly, cmd.Flags().Changed)

			switch {
			case len(args) == 0 && !o.bulk():
				return errors.New("WBD or --subscription is missing")
			case len(args) > 0 && o.bulk():
				return errors.New("use either WBD or --subscription, not both")
			case len(args) > 0 && given >= 0:
				return fmt.Errorf("--%s needs --subscription", bulkOnly[given])
			}
			return nil
		},
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			if o.bulk() {
				return s.replayBulk(cmd, o)
			}
			return s.replayNamed(cmd, args)
		}),
	}

	parsedFlag(cmd, &o.filter.SubscriptionID, "subscription", "all deliveries of this `subscription`", parseText)
	parsedFlag(cmd, &o.filter.Status, "status", "with this status: `dead|failed` (default dead)",
		parseChoice(storage.DeliveryDead, storage.DeliveryFailed))
	parsedFlag(cmd, &o.filter.EventType, "event-type", "only events of this `type`, or field of the provider", parseDelivered)
	parsedFlag(cmd, &o.since, "since", "only those newer than this `age`, such as 1h or 7d", parseAge)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only count what would be replayed")
	return withJSON(cmd)
}

// replayNamed replays the deliveries with these ids: all, or none.
func (s *store) replayNamed(cmd *cobra.Command, ids []string) error {
	var made []storage.Delivery
	err := s.change(cmd.Context(), func(tx *storage.Tx) error {
		made = made[:0] // this function may run twice, see storage.DB.Update
		for _, id := range ids {
			d, err := tx.DeliveryByID(id)
			if err != nil {
				return notFound(err, "webhook delivery", id)
			}

			if err := requireEnabled(&tx.Rx, d.SubscriptionID); err != nil {
				return err
			}

			again, err := tx.ReplayDelivery(d)
			if err != nil {
				return err
			}
			if err := s.audit(tx, d.OrganizationID, "delivery.replayed", "webhook_delivery", d.ID); err != nil {
				return err
			}
			made = append(made, again)
		}
		return nil
	})
	if err != nil {
		return err
	}

	if wantsJSON(cmd) {
		return printList(cmd, made, table[storage.Delivery]{view: viewDelivery})
	}
	for _, d := range made {
		fmt.Fprintln(cmd.OutOrStdout(), d.ID)
	}
	return nil
}

// requireEnabled refuses a disabled subscription. To a paused one deliveries may
// be added: they go out when it is resumed.
func requireEnabled(rx *storage.Rx, id string) error {
	sub, err := rx.Endpoint(id)
	if err != nil {
		return notFound(err, "webhook subscription", id)
	}
	if sub.Status == storage.WebhookDisabled {
		return fmt.Errorf("webhook subscription %s is disabled: enable it with 'confab webhooks enable %s' first", id, id)
	}
	return nil
}

type replayView struct {
	Object   string `json:"object"`
	DryRun   bool   `json:"dry_run"`
	Enqueued int    `json:"enqueued"`
}

// replayBulk replays what the filter chooses, in batches.
func (s *store) replayBulk(cmd *cobra.Command, o replayOptions) error {
	o.filter.CreatedAfter = youngerThan(o.since, s.Now())
	total, err := storage.Query(cmd.Context(), s.DB, func(rx *storage.Rx) (int, error) {
		if err := requireEnabled(rx, o.filter.SubscriptionID); err != nil {
			return 0, err
		}
		return rx.CountReplayable(o.filter, -1)
	})
	if err != nil {
		return err
	}

	view := replayView{Object: "webhook_bulk_replay", DryRun: o.dryRun, Enqueued: total}
	if !o.dryRun {
		view.Enqueued, err = s.replayInBatches(cmd, o.filter, total)
		if err != nil {
			return fmt.Errorf("%w (%s were replayed: run it again for the rest)", err, formatCount(int64(view.Enqueued)))
		}
	}

	verb := "Replayed"
	if o.dryRun {
		verb = "Would replay"
	}
	return printNew(cmd, verb+" "+plural(int64(view.Enqueued), "delivery", "deliveries")+".", view)
}

// replayInBatches replays a batch in each transaction until nothing is left, and shows its
// progress. It returns how many were replayed, also with an error. Deliveries created from now on
// are left out, so that a replay which fails is not replayed once more.
func (s *store) replayInBatches(cmd *cobra.Command, f storage.ReplayFilter, total int) (done int, err error) {
	line := newProgress(cmd.ErrOrStderr(), "replaying", formatCount)
	defer line.end()

	if f.BeforeJob, err = storage.Query(cmd.Context(), s.DB, (*storage.Rx).NextJob); err != nil {
		return 0, err
	}

	for more := true; more; {
		if err := cmd.Context().Err(); err != nil {
			return done, err
		}

		// The subscription may have been disabled since the last batch.
		var n int
		err := s.write(cmd, func(tx *storage.Tx) (done written, err error) {
			if err := requireEnabled(&tx.Rx, f.SubscriptionID); err != nil {
				return done, err
			}
			if n, more, err = tx.ReplayDeliveries(f, storage.MaxReplay); err != nil || n == 0 {
				return done, err
			}
			done.entry, err = webhookEntry(&tx.Rx, "deliveries.replayed", f.SubscriptionID)
			return done, err
		})
		if err != nil {
			return done, err
		}

		done += n
		line.step(int64(done), int64(total))
	}
	return done, nil
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return formatCount(n) + " " + many
}
