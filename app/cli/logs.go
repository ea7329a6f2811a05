package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	consoleapi "confab/app/console/api"
	"confab/app/datadir"
	"confab/jobs/queue"
	"confab/storage"
)

// followInterval is how often --follow looks for new calls.
const followInterval = time.Second

type logOptions struct {
	org    string
	since  time.Duration
	filter storage.APICallFilter
	follow bool
}

func (e *env) logs() *cobra.Command {
	o := logOptions{filter: storage.APICallFilter{Limit: listLimit}}
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Show the latest API calls, oldest first",
		Long: "Show the latest API calls, oldest first: every call with a valid key, and at most 60 calls a minute\n" +
			"without one (20 from one network). Calls from the console are included if they change something, with\n" +
			"the user.",
		Example: "  confab logs\n" +
			"  confab logs --org org_01J… --since 1h --status 5xx\n" +
			"  confab logs --follow --json",
		RunE: untilInterrupted(e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error { return o.show(cmd, s) })),
	}

	optionalOrg(cmd, &o.org)
	parsedFlag(cmd, &o.since, "since", "only calls newer than this `age`, such as 1h or 7d", parseAge)
	cmd.Flags().Func("status", "only calls with this `status`, such as 404, or class, such as 5xx", func(s string) (err error) {
		var ok bool
		if o.filter.MinStatus, o.filter.MaxStatus, ok = consoleapi.ParseStatuses(s); !ok {
			err = errors.New("must be a status such as 404, or a class such as 5xx")
		}
		return err
	})
	limitFlag(cmd, &o.filter.Limit)
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "keep showing new calls until interrupted")
	cmd.Flags().Bool("json", false, "print JSON; with --follow, one object per line")
	return cmd
}

// flushCalls makes a running server store the calls that it still has in memory. A server that
// cannot is only warned about: its stored calls are needed all the more then.
func (s *store) flushCalls(cmd *cobra.Command) {
	if err := s.dir.SendCommand(cmd.Context(), datadir.CommandFlush); err != nil && cmd.Context().Err() == nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "confab: warning: the newest calls may be missing:", err)
	}
}

// show prints the stored calls, and with --follow then the new ones.
func (o logOptions) show(cmd *cobra.Command, s *store) error {
	s.flushCalls(cmd)
	var (
		calls []storage.APICall
		last  int64
	)

	// Both are read in one snapshot, so that --follow neither misses nor repeats a call.
	err := s.View(cmd.Context(), func(rx *storage.Rx) error {
		found, err := optionalOrganization(rx, o.org)
		if err != nil {
			return err
		}
		o.filter.Organization, o.filter.Since = found.ID, youngerThan(o.since, rx.ClockTime())

		if last, err = rx.LastAPICall(); err != nil {
			return err
		}
		calls, err = rx.APICalls(o.filter)
		return err
	})
	if err != nil {
		return err
	}

	if wantsJSON(cmd) && !o.follow {
		return printList(cmd, calls, table[storage.APICall]{view: func(c storage.APICall) any { return consoleapi.ViewCall(c) }})
	}
	if !wantsJSON(cmd) {
		fmt.Fprintf(cmd.OutOrStdout(), lineHeading, "TIME", "STATUS", "METHOD", "PATH", "TOOK", "ORGANIZATION", "IP", "REQUEST")
	}

	if err := printLines(cmd, calls); err != nil || !o.follow {
		return err
	}
	return s.tailCalls(cmd, last, o.filter)
}

// tailCalls prints new calls until interrupted. --limit is for the stored ones.
func (s *store) tailCalls(cmd *cobra.Command, last int64, filter storage.APICallFilter) error {
	filter.Limit = listLimit
	for queue.Pause(cmd.Context(), followInterval) {
		s.flushCalls(cmd)

		// Page by page until one is not full. Then it goes on after the newest call of all, so
		// that calls which the filter left out are not read again.
		for more := true; more; {
			var calls []storage.APICall
			err := s.View(cmd.Context(), func(rx *storage.Rx) (err error) {
				if calls, err = rx.APICallsAfter(last, filter); err != nil {
					return err
				}
				if more = len(calls) == filter.Limit; more {
					last = calls[len(calls)-1].ID
					return nil
				}
				last, err = rx.LastAPICall()
				return err
			})
			if err == nil {
				err = printLines(cmd, calls)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// The widths are fixed, because with --follow the later lines are not known with the first.
const (
	lineHeading = "%-24s  %-6s  %-6s  %-40s  %9s  %-30s  %-15s  %s\n"
	lineLayout  = "%-24s  %-6d  %-6s  %-40s  %7.1fms  %-30s  %-15s  %s\n"
)

func printLines(cmd *cobra.Command, calls []storage.APICall) error {
	out := cmd.OutOrStdout()
	for _, c := range calls {
		v := consoleapi.ViewCall(c)
		var err error
		if wantsJSON(cmd) {
			err = printLine(out, v)
		} else {
			_, err = fmt.Fprintf(out, lineLayout, v.CreatedAt, v.Status, printable(v.Method), printable(v.Path), v.Latency.Milliseconds(),
				printable(storage.OrEmpty(v.OrganizationPublicID)), printable(v.IP), v.RequestID)
		}

		if err != nil {
			return err
		}
	}
	return nil
}
