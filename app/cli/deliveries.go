package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"confab/app/api"
	"confab/jobs/event"
	"confab/storage"
)

func (e *env) deliveriesList() *cobra.Command {
	var (
		since  time.Duration
		filter storage.DeliveryFilter
	)
	limit := listLimit
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List webhook deliveries, newest first",
		Example: "  confab deliveries list --status dead\n  confab deliveries list --subscription wbs_01J… --since 1h --json",
	}

	parsedFlag(cmd, &filter.SubscriptionID, "subscription", "only to this `subscription`", parseText)
	parsedFlag(cmd, &filter.Status, "status", "only with this status: `pending|succeeded|failed|dead`",
		parseChoice(storage.DeliveryPending, storage.DeliverySucceeded, storage.DeliveryFailed, storage.DeliveryDead))
	parsedFlag(cmd, &filter.EventType, "event-type", "only events of this `type`, or field of the provider", parseDelivered)
	parsedFlag(cmd, &filter.EventID, "event-id", "only the event with this `id` (the X-Svc-Event-Id header)", parseText)
	parsedFlag(cmd, &since, "since", "only those newer than this `age`, such as 1h or 7d", parseAge)
	limitFlag(cmd, &limit)

	columns := table[storage.Delivery]{
		heading: []string{"ID", "CREATED", "SUBSCRIPTION", "EVENT", "STATUS", "ATTEMPTS", "ANSWER", "ERROR"},
		row: func(d storage.Delivery) []string {
			return []string{
				d.ID, d.CreatedAt.String(), d.SubscriptionID, d.EventType, d.Status,
				strconv.Itoa(d.AttemptCount), optional("%d", d.ResponseStatus), storage.OrEmpty(d.ErrorCode),
			}
		},
		view: viewDelivery,
	}
	// A page may end early because its time is up; it reads on until the limit or the last row.
	read := readEachOrganization(cmd, func(rx *storage.Rx, organization int64) (all []storage.Delivery, err error) {
		for after := storage.First; after != storage.Last && len(all) < limit && err == nil; {
			var some []storage.Delivery
			some, after, err = rx.Deliveries(organization, filter, after, limit-len(all))
			all = append(all, some...)
		}
		return all, err
	}, func(d storage.Delivery, _ storage.Organization, _ storage.Time) storage.Delivery { return d })
	return listCommand(e, cmd, columns, func(rx *storage.Rx, args []string) ([]storage.Delivery, error) {
		filter.CreatedAfter = youngerThan(since, rx.ClockTime())
		all, err := read(rx, args)

		// Each organization gave up to limit of its newest; the newest of all of them are shown.
		slices.SortStableFunc(all, func(a, b storage.Delivery) int {
			return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.ID, a.ID))
		})
		return all[:min(len(all), limit)], err
	})
}

// viewDelivery is a delivery in the API's shape, without what it carries.
func viewDelivery(d storage.Delivery) any { return api.ViewDelivery(d) }

// parseDelivered accepts the name of an event type, or that of a field of the provider, which has no dot.
func parseDelivered(s string) (string, error) {
	if !strings.Contains(s, ".") {
		return s, nil
	}
	return parseEventType(s)
}

func parseEventType(s string) (string, error) {
	if !slices.Contains(event.Types(), s) {
		return "", fmt.Errorf("unknown event type %q: must be one of %s", s, strings.Join(event.Types(), ", "))
	}
	return s, nil
}

// shownDelivery is a delivery with all that is shown of it.
type shownDelivery struct {
	storage.Delivery
	payload  []byte
	attempts []storage.Attempt
}

func (e *env) deliveriesShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show WBD",
		Short:   "Show a delivery, its attempts and its payload",
		Example: "  confab deliveries show wbd_01J…\n  confab deliveries show wbd_01J… --json",
	}
	read := func(rx *storage.Rx, args []string) (d shownDelivery, err error) {
		if d.Delivery, err = rx.DeliveryByID(args[0]); err != nil {
			return d, notFound(err, "webhook delivery", args[0])
		}
		if d.payload, err = rx.Payload(d.Delivery); err == nil {
			d.attempts, err = rx.Attempts(d.Delivery)
		}
		return d, err
	}
	return showCommand(e, cmd, false, read, printDelivery)
}

// printDelivery prints a delivery: its fields, its attempts, and the payload.
func printDelivery(cmd *cobra.Command, d shownDelivery) error {
	out := cmd.OutOrStdout()
	if wantsJSON(cmd) {
		view := api.ViewDelivery(d.Delivery)
		view.Payload = d.payload
		return printJSON(out, view)
	}

	err := printColumns(out, [][]string{
		{"id", d.ID}, {"subscription", d.SubscriptionID}, {"event", d.EventType}, {"event id", d.EventID}, {"status", d.Status},
		{"replay of", storage.OrEmpty(d.ReplayedFrom)}, {"created", d.CreatedAt.String()}, {"next attempt", d.NextAttemptAt.String()},
		{"error", storage.OrEmpty(d.ErrorCode)}, {"answer", storage.OrEmpty(d.ResponseBodySnippet)},
	})
	if err != nil {
		return err
	}

	rows := [][]string{{"ATTEMPT", "AT", "ANSWER", "TOOK", "ERROR"}}
	for _, a := range d.attempts {
		rows = append(rows, []string{
			strconv.Itoa(a.Attempt), a.AttemptedAt.String(), optional("%d", a.ResponseStatus), optional("%dms", a.DurationMS),
			storage.OrEmpty(a.ErrorMessage),
		})
	}

	fmt.Fprintln(out)
	if err := printColumns(out, rows); err != nil {
		return err
	}

	var pretty bytes.Buffer // or the payload as it is, if it is no JSON
	if json.Indent(&pretty, d.payload, "", "  ") != nil {
		pretty.Write(d.payload)
	}
	_, err = fmt.Fprintf(out, "\n%s\n", pretty.Bytes())
	return err
}

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
			if err == nil {
				err = s.audit(tx, d.OrganizationID, "delivery.replayed", "webhook_delivery", d.ID)
			}
			if err != nil {
				return err
			}
			made = append(made, again)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case wantsJSON(cmd):
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
	if err == nil && sub.Status == storage.WebhookDisabled {
		return fmt.Errorf("webhook subscription %s is disabled: enable it with 'confab webhooks enable %s' first", id, id)
	}
	return notFound(err, "webhook subscription", id)
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

	verb, done := "Would replay", total
	if !o.dryRun {
		verb = "Replayed"
		if done, err = s.replayInBatches(cmd, o.filter, total); err != nil {
			return fmt.Errorf("%w (%s were replayed: run it again for the rest)", err, formatCount(int64(done)))
		}
	}
	view := replayView{Object: "webhook_bulk_replay", DryRun: o.dryRun, Enqueued: done}
	return printNew(cmd, verb+" "+plural(int64(done), "delivery", "deliveries")+".", view)
}

// replayInBatches replays a batch in each transaction until nothing is left, and shows its
// progress. It returns how many were replayed, also with an error. Deliveries created from now on
// are left out, so that a replay which fails is not replayed once more.
func (s *store) replayInBatches(cmd *cobra.Command, f storage.ReplayFilter, total int) (done int, err error) {
	line := newProgress(cmd.ErrOrStderr(), "replaying", formatCount)
	defer line.end()

	f.BeforeJob, err = storage.Query(cmd.Context(), s.DB, (*storage.Rx).NextJob)
	for more := true; more && err == nil; {
		// The subscription may have been disabled since the last batch.
		var n int
		err = s.write(cmd, func(tx *storage.Tx) (done written, err error) {
			if err := requireEnabled(&tx.Rx, f.SubscriptionID); err != nil {
				return done, err
			}
			if n, more, err = tx.ReplayDeliveries(f, storage.MaxReplay); err != nil || n == 0 {
				return done, err
			}
			done.entry, err = webhookEntry(&tx.Rx, "deliveries.replayed", f.SubscriptionID)
			return done, err
		})
		if err == nil {
			done += n
			line.step(int64(done), int64(total))
		}
	}
	return done, err
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return formatCount(n) + " " + many
}
