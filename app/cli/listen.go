package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"confab/app/config"
	"confab/app/datadir"
	"confab/app/stream"
	"confab/jobs/guard"
	"confab/jobs/webhook"
	"confab/storage"
)

// apiKeyVariable is set by 'sandbox exec', among others.
const apiKeyVariable = "CONFAB_API_KEY"

type listenOptions struct {
	org       string
	events    []string
	after     string
	forwardTo *url.URL
	secret    string
	asJSON    bool
	url       *url.URL
	apiKey    string
}

func (e *env) listen() *cobra.Command {
	var o listenOptions
	cmd := &cobra.Command{
		Use:   "listen",
		Short: "Print events as they happen, or forward them to a URL",
		Long: "Print a line for each event as it happens, including replays, until interrupted. With --forward-to, each\n" +
			"event is also posted to a URL with the headers and signature of a webhook. The secret is --secret,\n" +
			"$" + webhookSecretVariable + ", or generated and printed. No subscription is needed or created.\n\n" +
			"By default it follows the server of the data directory, with the events of all organizations. If --data-dir\n" +
			"is not set and no server runs on ./confab-data, that is " + defaultSandboxDir + ". With --url it follows any server, using\n" +
			"an API key: --api-key or $" + apiKeyVariable + ". Then it prints the events of that key's organization, without replays.\n\n" +
			"If the connection is lost, it reconnects and continues where it stopped: no event that is still stored is\n" +
			"missed.",
		Example: "  confab listen\n" +
			"  confab listen --forward-to http://localhost:3000/hooks --events message.received,message.status\n" +
			"  confab listen --after oldest --json | jq .payload\n" +
			"  confab listen --url https://chat.example.com/v1 --api-key -",
		RunE: untilInterrupted(e.run(func(cmd *cobra.Command, _ []string) error { return e.streamEvents(cmd, o) })),
	}

	optionalOrg(cmd, &o.org)
	parsedFlag(cmd, &o.events, "events", "only these `types`, separated by commas", parseEventTypes)
	parsedFlag(cmd, &o.events, "types", "same as --events: `types` separated by commas", parseEventTypes)
	parsedFlag(cmd, &o.after, "after",
		"start after this `position` or event id; oldest starts at the oldest one stored (default: now)", parseText)
	parsedFlag(cmd, &o.forwardTo, "forward-to", "post each event to this `URL`", parseEndpoint)
	parsedFlag(cmd, &o.secret, "secret", "signing `secret` for --forward-to", parseText)
	parsedFlag(cmd, &o.url, "url", "follow the server at this base `URL`, including /v1", parseBaseURL)
	parsedFlag(cmd, &o.apiKey, "api-key", "API `key` for --url; - reads it from standard input", parseText)
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON, one object per line")
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

// servedDir finds the data directory on which a server runs: without one there are no events to
// wait for. Where the directory is the default and has no server, it is the sandbox's if that runs.
func (e *env) servedDir(cmd *cobra.Command) (datadir.Dir, error) {
	c, err := e.settings(cmd)
	if err != nil {
		return "", err
	}

	dir := datadir.Dir(c.DataDir)
	served, err := dir.IsServed()
	if err != nil || served {
		return dir, err
	}

	if c.DataDir == config.Default().DataDir {
		if sandbox, err := datadir.Dir(defaultSandboxDir).IsServed(); err == nil && sandbox {
			return defaultSandboxDir, nil
		}
	}

	return "", fmt.Errorf("no server is running on %s: start one with 'confab serve' or 'confab sandbox', "+
		"or choose another directory with --data-dir", c.DataDir)
}

// streamEvents prints and forwards events until the command is interrupted.
func (e *env) streamEvents(cmd *cobra.Command, o listenOptions) error {
	secrets := newSecretReader(cmd.InOrStdin())
	client, err := e.eventClient(cmd, o, secrets)
	if err != nil {
		return err
	}
	settings, err := e.settings(cmd)
	if err != nil {
		return err
	}
	forward, err := o.forwarder(cmd, secrets, settings.Webhooks.Timeout)
	if err != nil {
		return err
	}

	out := cmd.OutOrStdout()
	client.notify = func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), text) }
	return client.follow(cmd.Context(), func(sent sentEvent) error {
		if sent.event == "gap" {
			return o.printGap(out, sent, client.notify)
		}
		var item sentItem
		if err := json.Unmarshal(sent.data, &item); err != nil {
			return fmt.Errorf("the server sent an invalid event: %w", err)
		}
		return o.print(out, item, sent.id, forward(cmd.Context(), item))
	})
}

// eventClient makes the client of a server that --url names, or of the one on the data directory.
func (e *env) eventClient(cmd *cobra.Command, o listenOptions, secrets *secretReader) (*eventClient, error) {
	query := make(url.Values)
	if o.after != "" {
		query.Set(datadir.EventsAfter, o.after)
	}
	for _, name := range o.events {
		query.Add(datadir.EventsType, name)
	}

	if o.url == nil {
		if o.apiKey != "" {
			return nil, usage("--api-key needs --url")
		}
		if o.org != "" {
			query.Set(datadir.EventsOrganization, o.org)
		}
		dir, err := e.servedDir(cmd)
		return &eventClient{http: dir.Client(), url: "http://confab" + datadir.CommandEvents + "?" + query.Encode()}, err
	}

	if o.org != "" {
		return nil, usage("--org cannot be used with --url: the API key sets the organization")
	}
	key, err := secrets.read("api-key", o.apiKey, apiKeyVariable)
	if err == nil && key == "" {
		err = usage("--url needs an API key: --api-key or $%s", apiKeyVariable)
	}
	at := o.url.JoinPath("events", "stream")
	at.RawQuery = query.Encode()
	return &eventClient{http: http.DefaultClient, url: at.String(), key: key}, err
}

// sentItem is an event as the server sends it.
type sentItem struct {
	ID             string          `json:"id"`
	Type           string          `json:"type"`
	Source         string          `json:"source"`
	EventID        string          `json:"event_id"`
	OrganizationID *string         `json:"organization_id"`
	DeliveryID     *string         `json:"delivery_id"`
	ReplayedFrom   *string         `json:"replayed_from"`
	PhoneNumberID  *string         `json:"phone_number_id"`
	CreatedAt      storage.Time    `json:"created_at"`
	Payload        json.RawMessage `json:"payload"`
}

// printGap says that events are missing.
func (o listenOptions) printGap(out io.Writer, sent sentEvent, notify func(string)) error {
	var gap stream.Gap
	if err := json.Unmarshal(sent.data, &gap); err != nil {
		return fmt.Errorf("the server sent an invalid gap: %w", err)
	}
	if o.asJSON {
		return printLine(out, gapView{Object: "gap", Gap: gap, Position: sent.id})
	}

	notify("Some events are missing: " + gap.Explain())
	return nil
}

type gapView struct {
	Object string `json:"object"`
	stream.Gap
	Position string `json:"position"`
}

type eventView struct {
	Object string `json:"object"`
	sentItem
	Position  string       `json:"position"` // for --after
	Forwarded *forwardView `json:"forwarded,omitempty"`
}

func (o listenOptions) print(out io.Writer, item sentItem, position string, forwarded *forwardView) error {
	if o.asJSON {
		return printLine(out, eventView{"event", item, position, forwarded})
	}

	line := fmt.Sprintf("%s  %-28s  %s", item.CreatedAt.Std().Local().Format("15:04:05"), printable(item.Type), printable(item.EventID))
	if item.ReplayedFrom != nil {
		line += "  replay of " + printable(*item.ReplayedFrom)
	}
	if forwarded != nil {
		line += "  → " + forwarded.String()
	}
	_, err := fmt.Fprintln(out, line)
	return err
}

// printLine prints JSON on one line.
func printLine(out io.Writer, v any) error {
	line := json.NewEncoder(out)
	line.SetEscapeHTML(false)
	return line.Encode(v)
}

// forwarder makes the function that posts an event once to the URL of --forward-to, signed as
// webhooks are, with the id of its delivery if it has one. A secret that it had to generate is printed.
func (o listenOptions) forwarder(
	cmd *cobra.Command, secrets *secretReader, timeout time.Duration,
) (func(context.Context, sentItem) *forwardView, error) {
	if o.forwardTo == nil {
		return func(context.Context, sentItem) *forwardView { return nil }, nil
	}

	secret, err := secrets.read("secret", o.secret, webhookSecretVariable)
	if err != nil {
		return nil, err
	}
	if secret == "" {
		random := make([]byte, 32)
		rand.Read(random)
		secret = storage.SecretPrefix + base64.StdEncoding.EncodeToString(random)
		fmt.Fprintln(cmd.ErrOrStderr(), "Signing secret:", secret)
	}

	// Unlike the URL of a subscription, this one is typed by an operator, who may
	// call every address that this machine can reach.
	everywhere := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	network := guard.New(guard.Options{AllowInsecure: true, Allow: everywhere})
	client := webhook.Client{Transport: network.Transport(), Timeout: timeout}

	return func(ctx context.Context, item sentItem) *forwardView {
		return viewForward(client.Deliver(ctx, webhook.Delivery{
			ID:      cmp.Or(storage.OrEmpty(item.DeliveryID), storage.PrefixDelivery+ulid.Make().String()),
			Attempt: 1,
			Event:   item.ID,
			EventID: item.EventID,
			Type:    item.Type,
			Source:  item.Source,
			Body:    item.Payload,
			URL:     o.forwardTo,
			Secrets: []string{secret},
		}))
	}, nil
}

type forwardView struct {
	Status     *int    `json:"response_status"`
	ErrorCode  *string `json:"error_code"`
	Message    *string `json:"error_message"`
	DurationMS int64   `json:"duration_ms"`
}

func viewForward(out webhook.Outcome) *forwardView {
	v := &forwardView{Status: storage.OrNil(out.Status), DurationMS: out.Took.Milliseconds()}
	if !out.Succeeded() {
		v.ErrorCode, v.Message = &out.Code, &out.Message
	}
	return v
}

func (v forwardView) String() string {
	if v.Status == nil {
		return storage.OrEmpty(v.Message)
	}
	return fmt.Sprintf("%d %s (%dms)", *v.Status, http.StatusText(*v.Status), v.DurationMS)
}
