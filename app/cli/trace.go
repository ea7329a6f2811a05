package cli

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	consoleapi "confab/app/console/api"
	"confab/jobs"
	"confab/storage"
)

func (e *env) trace() *cobra.Command {
	var bodies bool
	cmd := &cobra.Command{
		Use:   "trace MSG",
		Short: "Trace a message: call, attempts, callbacks, events, deliveries",
		Long: "Show everything that happened to a message on one timeline, with the time in between: the call or person\n" +
			"that created it, each attempt at the provider and its answer, callbacks, events, and every attempt to deliver\n" +
			"them. MSG is the id of the message, or of an event about it.",
		Example: "  confab trace msg_01J…\n  confab trace evt_01J… --bodies\n  confab trace msg_01J… --json",
	}

	cmd.Flags().BoolVar(&bodies, "bodies", false, "also print what was sent and received")
	read := func(rx *storage.Rx, args []string) (t consoleapi.TraceView, err error) {
		if !consoleapi.IsTraceable(args[0]) {
			return t, usage("MSG must be the id of a message or of an event, msg_… or evt_…")
		}
		t, err = consoleapi.ReadTrace(rx, 0, args[0])
		return t, ifMissing(err, "there is no message %s, or the event is not about a message", args[0])
	}
	return showCommand(e, cmd, true, read, func(cmd *cobra.Command, t consoleapi.TraceView) error {
		if wantsJSON(cmd) {
			return printJSON(cmd.OutOrStdout(), t)
		}
		return printTrace(cmd.OutOrStdout(), t, bodies)
	})
}

// printTrace prints a trace as text: what the message is, and a line for each entry.
func printTrace(out io.Writer, t consoleapi.TraceView, bodies bool) error {
	who := cmp.Or(storage.OrEmpty(t.Contact.Name), storage.OrEmpty(t.Contact.PhoneNumber), storage.OrEmpty(t.Contact.BSUID))
	err := printColumns(out, [][]string{
		{"message", t.ID}, {"what", t.Direction + " " + t.Type + ", " + t.Status}, {"text", storage.OrEmpty(t.Preview)},
		{"contact", who}, {"number", storage.OrEmpty(t.PhoneNumberID)}, {"provider id", storage.OrEmpty(t.MessageID)},
	})
	if err != nil {
		return err
	}

	fmt.Fprintln(out)
	for _, e := range t.Entries {
		gap := ""
		if e.GapMS != nil {
			gap = "+" + formatGap(*e.GapMS)
		}
		if _, err := fmt.Fprintf(out, "%s  %10s  %s\n", e.At, gap, printable(describe(t, e))); err != nil {
			return err
		}
		if bodies && e.Body != nil {
			fmt.Fprintf(out, "%38s  %s\n", "", printable(*e.Body))
		}
	}

	if t.LeftOut > 0 {
		fmt.Fprintf(out, "\nand %d more not shown\n", t.LeftOut)
	}
	if !t.Complete {
		fmt.Fprintln(out, "\nToo many events to search them all: some may be missing.")
	}
	return nil
}

// formatGap writes a gap as people say it: 210 ms, 1.2 s, 2m0s.
func formatGap(ms int64) string {
	switch d := time.Duration(ms) * time.Millisecond; {
	case d < time.Second:
		return fmt.Sprintf("%d ms", ms)
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

// describe is an entry of a trace as a sentence.
func describe(t consoleapi.TraceView, e consoleapi.TraceEntry) string {
	switch e.Kind {
	case consoleapi.TracePerson:
		if t.Direction == storage.Outbound {
			return "sent from the number's phone"
		}
		return "sent by the person, according to the provider"
	case consoleapi.TraceCall:
		return describeCall(t, e)
	case consoleapi.TraceStored:
		if t.Direction == storage.Inbound {
			return "callback received, stored"
		}
		if t.Broadcast != nil {
			return fmt.Sprintf("stored, queued by the broadcast %s (%s)", t.Broadcast.Name, t.Broadcast.ID)
		}
		return "stored, queued"

	case consoleapi.TraceTry, consoleapi.TraceAccepted:
		return describeTry(e)
	case consoleapi.TraceCallback, consoleapi.TraceFailed:
		return describeStatus(e)
	case consoleapi.TraceRule:
		return describeRule(*e.Rule)
	case consoleapi.TraceEvent:
		return fmt.Sprintf("event %s, deliveries: %d (%s)", e.Event.Type, e.Event.Deliveries, e.Event.ID)
	default:
		return describeDelivery(e)
	}
}

func describeCall(t consoleapi.TraceView, e consoleapi.TraceEntry) string {
	if e.Call == nil {
		return "call " + storage.OrEmpty(t.RequestID) + ", not in the log"
	}

	who := ""
	switch {
	case e.Call.APIKey != nil:
		who = "key " + cmp.Or(storage.OrEmpty(e.Call.APIKey.Name), e.Call.APIKey.ID)
	case e.Call.User != nil:
		who = cmp.Or(storage.OrEmpty(e.Call.User.Name), e.Call.User.ID) + " in the console"
	}
	return fmt.Sprintf("%s %s → %d in %.1f ms, %s (%s)",
		e.Call.Method, e.Call.Path, e.Call.Status, e.Call.Latency.Milliseconds(), who, e.Call.RequestID)
}

func describeTry(e consoleapi.TraceEntry) string {
	if e.Kind == consoleapi.TraceAccepted {
		return fmt.Sprintf("sent to the provider, attempt %d: accepted as %s", e.Try.Try, cmp.Or(storage.OrEmpty(e.Try.MessageID), "?"))
	}

	answer := cmp.Or(optional("HTTP %d", e.Try.HTTPStatus), "no response")
	if e.Try.DurationMS != nil {
		answer += " in " + formatGap(*e.Try.DurationMS)
	}
	answer += optional(", code %d", e.Try.Code)
	return fmt.Sprintf("sent to the provider, attempt %d: %s: %s", e.Try.Try, answer, storage.OrEmpty(e.Try.Reason))
}

// describeRule says what a rule did, or why it did nothing.
func describeRule(r jobs.RuleTrace) string {
	said := "rule " + cmp.Or(storage.OrEmpty(r.Name), r.ID)
	if !r.Fired {
		return said + " did not fire: " + *r.Unmet
	}

	var done []string
	for _, a := range r.Actions {
		done = append(done, a.Action+" "+a.Outcome+optional(" (%s)", a.Reason))
	}
	return said + " fired: " + strings.Join(done, ", ")
}

func describeStatus(e consoleapi.TraceEntry) string {
	said := "callback: " + cmp.Or(e.Status.Reported, "unreadable status")
	if e.Kind == consoleapi.TraceFailed {
		said = "failed"
	}
	if e.Status.Error != nil {
		said += fmt.Sprintf(", code %s: %s", e.Status.Error.Code, e.Status.Error.Message)
	}
	if e.Status.From == e.Status.To {
		said += " (no change)"
	}
	return said
}

func describeDelivery(e consoleapi.TraceEntry) string {
	d := e.Delivery
	host := d.URL
	if u, err := url.Parse(d.URL); err == nil {
		host = u.Host
	}
	if d.ReplayedFrom != nil {
		host += ", replayed"
	}

	var parts []string
	if d.Attempt > 0 {
		parts = append(parts, fmt.Sprintf("attempt %d", d.Attempt))
	}
	parts = append(parts, optional("HTTP %d", d.ResponseStatus))
	if d.DurationMS != nil {
		parts = append(parts, formatGap(*d.DurationMS))
	}
	parts = append(parts, storage.OrEmpty(d.ErrorCode))

	switch {
	case (d.IsLast || d.Attempt == 0) && d.Status == storage.DeliveryDead:
		parts = append(parts, "dead")
	case d.NextAttemptAt != 0 && d.Status != storage.DeliverySucceeded:
		parts = append(parts, "next attempt at "+d.NextAttemptAt.String())
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return fmt.Sprintf("%s to %s: %s (%s)", d.EventType, host, strings.Join(parts, ", "), d.ID)
}
