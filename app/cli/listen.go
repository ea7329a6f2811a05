package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"confab/app/config"
	"confab/app/datadir"
	"confab/storage"
)

const (
	listenInterval = 100 * time.Millisecond // between two reads of new events
	listenBatch    = 100
)

// listenOptions are the flags of listen.
type listenOptions struct {
	org       string
	events    []string
	forwardTo *url.URL
	secret    string
	asJSON    bool
}

func (e *env) listen() *cobra.Command {
	var o listenOptions
	cmd := &cobra.Command{
		Use:   "listen",
		Short: "Print events as they happen, and post them on to a URL",
		Long: "Print a line for each event as it happens, replays too, until interrupted. With --forward-to each is\n" +
			"also posted to a URL, with the headers and the signature of a webhook: the secret is --secret,\n" +
			"$" + webhookSecretVariable + ", or generated and printed. It needs no subscription and creates none.\n\n" +
			"A server must run on the data directory. Without --data-dir and without a server on ./confab-data it is\n" +
			defaultSandboxDir + ".",
		Example: "  confab listen\n" +
			"  confab listen --forward-to http://localhost:3000/hooks --events message.received,message.status\n" +
			"  confab listen --json | jq .payload",
		Args: arguments(),
		RunE: e.run(func(cmd *cobra.Command, _ []string) error {
			if err := e.requireServer(cmd); err != nil {
				return err
			}
			return e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
				err := s.streamEvents(cmd, o)
				if cmd.Context().Err() != nil {
					return nil // an interrupt is the way to end it
				}
				return err
			})(cmd, nil)
		}),
	}

	optionalOrg(cmd, &o.org)
	parsedFlag(cmd, &o.events, "events", "only these `types`, separated by commas", parseEventTypes)
	parsedFlag(cmd, &o.forwardTo, "forward-to", "post each event to this `URL`", parseEndpoint)
	parsedFlag(cmd, &o.secret, "secret", "signing `secret` for --forward-to", parseText)
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON, one object a line")
	return cmd
}

// parseEventTypes accepts names of event types; * is all, which is nil.
func parseEventTypes(s string) ([]string, error) {
	names := strings.Split(s, ",")
	if slices.Contains(names, "*") {
		return nil, nil
	}

	for _, name := range names {
		if _, err := parseEventType(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// requireServer makes sure that a server runs on the data directory: without one
// there are no events to wait for. Where the directory is the default and has no
// server, --data-dir is set to the sandbox's if that runs.
func (e *env) requireServer(cmd *cobra.Command) error {
	c, err := e.settings(cmd, nil)
	if err != nil {
		return err
	}

	served, err := datadir.Dir(c.DataDir).IsServed()
	if err != nil || served {
		return err
	}

	if c.DataDir == config.Default().DataDir {
		if sandbox, err := datadir.Dir(defaultSandboxDir).IsServed(); err == nil && sandbox {
			return cmd.Flags().Set("data-dir", defaultSandboxDir)
		}
	}

	return fmt.Errorf("no server runs on %s, so nothing happens there: start one with 'confab serve' or 'confab sandbox', "+
		"or choose its directory with --data-dir", c.DataDir)
}

// streamEvents prints and forwards every event that is stored from now on, until
// the command is interrupted. It reads the database at short intervals: the
// server runs in another process.
func (s *store) streamEvents(cmd *cobra.Command, o listenOptions) error {
	ctx := cmd.Context()
	forward, err := o.forwarder(cmd, s)
	if err != nil {
		return err
	}

	var (
		mark  storage.FeedPosition
		owner int64 // organization; 0 is all
	)
	err = s.View(ctx, func(rx *storage.Rx) (err error) {
		if o.org != "" {
			found, err := organization(rx, o.org)
			if err != nil {
				return err
			}
			owner = found.ID
		}
		mark, err = rx.LastFeedPosition()
		return err
	})
	if err != nil {
		return err
	}

	fmt.Fprintln(cmd.ErrOrStderr(), "Listening. Ctrl-C ends it.")
	tick := time.NewTicker(listenInterval)
	defer tick.Stop()

	for {
		if mark, err = s.printNewEvents(ctx, mark, owner, o, forward, cmd.OutOrStdout()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// printNewEvents prints and forwards the events after the mark, and returns the
// mark of the last.
func (s *store) printNewEvents(
	ctx context.Context, mark storage.FeedPosition, owner int64, o listenOptions, forward *forwarder, out io.Writer,
) (storage.FeedPosition, error) {
	for {
		var some []storage.FeedEvent
		err := s.View(ctx, func(rx *storage.Rx) (err error) {
			some, mark, err = rx.FeedEvents(mark, owner, listenBatch)
			return err
		})
		if err != nil {
			return mark, err
		}

		for _, h := range some {
			if len(o.events) > 0 && !slices.Contains(o.events, h.Type) {
				continue
			}
			if err := o.print(out, h, forward.post(ctx, s, h)); err != nil {
				return mark, err
			}
		}

		if len(some) < listenBatch {
			return mark, nil
		}
	}
}

// eventView is an event as --json prints it.
type eventView struct {
	Object         string          `json:"object"`
	ID             string          `json:"id"`
	Type           string          `json:"type"`
	Source         string          `json:"source"`
	EventID        string          `json:"event_id"`
	OrganizationID string          `json:"organization_id"`
	DeliveryID     *string         `json:"delivery_id"`
	ReplayedFrom   *string         `json:"replayed_from"`
	CreatedAt      storage.Time    `json:"created_at"`
	Forwarded      *forwardView    `json:"forwarded,omitempty"`
	Payload        json.RawMessage `json:"payload"`
}

// print writes the line of one event.
func (o listenOptions) print(out io.Writer, h storage.FeedEvent, forwarded *forwardView) error {
	if o.asJSON {
		line := json.NewEncoder(out)
		line.SetEscapeHTML(false)
		return line.Encode(eventView{
			Object:         "event",
			ID:             h.ID,
			Type:           h.Type,
			Source:         h.Source,
			EventID:        h.EventID,
			OrganizationID: h.OrganizationPublicID,
			DeliveryID:     h.DeliveryID,
			ReplayedFrom:   h.ReplayedFrom,
			CreatedAt:      h.CreatedAt,
			Forwarded:      forwarded,
			Payload:        h.Payload,
		})
	}

	line := fmt.Sprintf("%s  %-28s  %s", h.CreatedAt.Std().Local().Format("15:04:05"), h.Type, printable(h.EventID))
	if h.ReplayedFrom != nil {
		line += "  replay of " + *h.ReplayedFrom
	}
	if forwarded != nil {
		line += "  → " + forwarded.String()
	}
	_, err := fmt.Fprintln(out, line)
	return err
}
