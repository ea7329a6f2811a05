package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
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

func (e *env) deliveries() *cobra.Command {
	return e.group("deliveries", "List, inspect and replay webhook deliveries",
		e.deliveriesList(), e.deliveriesShow(), e.deliveriesReplay())
}

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
				strconv.Itoa(d.AttemptCount), optionalNumber(d.ResponseStatus), storage.OrEmpty(d.ErrorCode),
			}
		},
		view: viewDelivery,
	}
	read := readEachOrganization(cmd, func(rx *storage.Rx, organization int64) ([]storage.Delivery, error) {
		return newestDeliveries(rx, organization, filter, limit)
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
func viewDelivery(d storage.Delivery) any { return api.ViewDelivery(d, nil) }

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

// newestDeliveries reads the newest deliveries of an organization. A page may end
// early because its time is up; it reads on until the limit or the last row.
func newestDeliveries(
	rx *storage.Rx, organization int64, filter storage.DeliveryFilter, limit int,
) (all []storage.Delivery, err error) {
	for after := storage.First; after != storage.Last && len(all) < limit; {
		var some []storage.Delivery
		if some, after, err = rx.Deliveries(organization, filter, after, limit-len(all)); err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (e *env) deliveriesShow() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "show WBD",
		Short:   "Show a delivery, its attempts and its payload",
		Example: "  confab deliveries show wbd_01J…\n  confab deliveries show wbd_01J… --json",
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			var (
				d        storage.Delivery
				payload  []byte
				attempts []storage.Attempt
			)

			err := s.View(cmd.Context(), func(rx *storage.Rx) (err error) {
				if d, err = rx.DeliveryByID(args[0]); err != nil {
					return notFound(err, "webhook delivery", args[0])
				}
				if payload, err = rx.Payload(d); err != nil {
					return err
				}
				attempts, err = rx.Attempts(d)
				return err
			})
			if err != nil {
				return err
			}

			if wantsJSON(cmd) {
				return printJSON(cmd.OutOrStdout(), api.ViewDelivery(d, payload))
			}
			return printDelivery(cmd, d, attempts, payload)
		}),
	})
}

// printDelivery prints a delivery as text: its fields, its attempts, and the payload.
func printDelivery(cmd *cobra.Command, d storage.Delivery, attempts []storage.Attempt, payload []byte) error {
	out := cmd.OutOrStdout()
	err := printColumns(out, [][]string{
		{"id", d.ID}, {"subscription", d.SubscriptionID}, {"event", d.EventType}, {"event id", d.EventID}, {"status", d.Status},
		{"replay of", storage.OrEmpty(d.ReplayedFrom)}, {"created", d.CreatedAt.String()}, {"next attempt", d.NextAttemptAt.String()},
		{"error", storage.OrEmpty(d.ErrorCode)}, {"answer", storage.OrEmpty(d.ResponseBodySnippet)},
	})
	if err != nil {
		return err
	}

	rows := [][]string{{"ATTEMPT", "AT", "ANSWER", "TOOK", "ERROR"}}
	for _, a := range attempts {
		took := ""
		if a.DurationMS != nil {
			took = fmt.Sprintf("%dms", *a.DurationMS)
		}
		rows = append(rows, []string{
			strconv.Itoa(a.Attempt), a.AttemptedAt.String(), optionalNumber(a.ResponseStatus), took, storage.OrEmpty(a.ErrorMessage),
		})
	}

	fmt.Fprintln(out)
	if err := printColumns(out, rows); err != nil {
		return err
	}

	var pretty bytes.Buffer // or the payload as it is, if it is no JSON
	if json.Indent(&pretty, payload, "", "  ") != nil {
		pretty.Write(payload)
	}
	_, err = fmt.Fprintf(out, "\n%s\n", pretty.Bytes())
	return err
}
