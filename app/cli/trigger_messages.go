package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"slices"

	"github.com/spf13/cobra"
)

// message is a message that the simulator keeps. Request has its content: of a
// send what the business posted, of an inbound message what the callback carried.
type message struct {
	ID            string         `json:"id"`
	PhoneNumberID string         `json:"phone_number_id"`
	To            string         `json:"to"`
	Type          string         `json:"type"`
	Request       map[string]any `json:"request"`
	Status        string         `json:"status"`
	CreatedAt     string         `json:"created_at"`
}

// inbound reports whether a person wrote it: only callbacks have this field.
func (m message) inbound() bool { return m.Request["from_user_id"] != nil }

// summary is the most telling text of a message's content.
func (m message) summary() string {
	content, _ := m.Request[m.Type].(map[string]any)
	for _, key := range []string{"body", "name", "caption", "emoji", "filename", "link"} {
		if text, ok := content[key].(string); ok {
			return text
		}
	}

	// The body of an interactive message is an object.
	if body, ok := content["body"].(map[string]any); ok {
		text, _ := body["text"].(string)
		return text
	}
	return ""
}

// eachMessage calls f for each message that the simulator keeps, oldest first. It
// decodes them one by one, because there may be very many.
func (c *simulatorClient) eachMessage(ctx context.Context, filters url.Values, f func(message)) error {
	return c.request(ctx, "GET", "/_sim/messages?"+filters.Encode(), c.ControlToken, nil, func(body io.Reader) error {
		in := json.NewDecoder(body)
		for range 3 { // the tokens { "data" [
			if _, err := in.Token(); err != nil {
				return err
			}
		}

		for in.More() {
			var m message
			if err := in.Decode(&m); err != nil {
				return err
			}
			f(m)
		}
		return nil
	})
}

// latestSend is the last message that the business sent.
func (c *simulatorClient) latestSend(ctx context.Context) (latest message, found bool, err error) {
	err = c.eachMessage(ctx, nil, func(m message) {
		if !m.inbound() {
			latest, found = m, true
		}
	})
	return latest, found, err
}

// orLatestInbound is the id given, or that of the last message of a person that can be
// edited: a reaction cannot, nor can an edit.
func (c *simulatorClient) orLatestInbound(ctx context.Context, id string) (string, error) {
	if id != "" {
		return id, nil
	}

	err := c.eachMessage(ctx, url.Values{"direction": {"inbound"}}, func(m message) {
		if m.inbound() && !slices.Contains([]string{"reaction", "edit", "revoke"}, m.Type) {
			id = m.ID
		}
	})

	if err == nil && id == "" {
		err = errors.New("no message of a person is known: name one, with the id that 'confab trigger inbound' printed")
	}
	return id, err
}

func (t *trigger) messages() *cobra.Command {
	var (
		to, number, kind, opaque string
		forget, asJSON           bool
	)
	cmd := &cobra.Command{
		Use:   "messages",
		Short: "List what was sent, oldest first",
		Example: "  confab trigger messages\n" +
			"  confab trigger messages --to +15550001111 --type template --json\n" +
			"  confab trigger messages --forget",
		Args: arguments(),
		RunE: t.withSimulator(func(cmd *cobra.Command, _ []string, c *simulatorClient) error {
			if forget {
				return c.do(cmd.Context(), "DELETE", "/_sim/messages", nil, nil)
			}

			filters := url.Values{}
			for key, value := range map[string]string{
				"to": to, "phone_number_id": number, "type": kind, "biz_opaque_callback_data": opaque,
			} {
				if value != "" {
					filters.Set(key, value)
				}
			}

			var all []message
			if err := c.eachMessage(cmd.Context(), filters, func(m message) { all = append(all, m) }); err != nil {
				return err
			}

			heading := []string{"CREATED", "TO", "TYPE", "STATUS", "CONTENT", "ID"}
			return printList(cmd, asJSON, all, heading, func(m message) []string {
				return []string{m.CreatedAt, displayNumber(m.To), m.Type, m.Status, truncate(m.summary()), m.ID}
			})
		}),
	}

	flags := cmd.Flags()
	flags.StringVar(&to, "to", "", "only to this `number` or BSUID")
	flags.StringVar(&kind, "type", "", "only of this `type`")
	flags.StringVar(&number, "phone-number-id", "", "only from the business number with this `id`")
	flags.StringVar(&opaque, "biz-opaque-callback-data", "", "only with this `text` in that field")
	flags.BoolVar(&forget, "forget", false, "forget all messages instead")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// truncate shortens a text to the width of its column.
func truncate(s string) string {
	const most = 40
	if letters := []rune(s); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return s
}

// actionView is the result of a command that changes the status of a message or
// template.
type actionView struct {
	ID     string `json:"id"`
	Status string `json:"status,omitempty"`
}

func (t *trigger) status() *cobra.Command {
	var (
		status string
		code   int
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "status [MESSAGE]",
		Short: "Report a status of a sent message",
		Long: "Report a status of a sent message by callback, in any order and as often as wanted, and print the message's\n" +
			"id. MESSAGE is the provider's id (wamid.…); without it the latest send is meant.",
		Example: "  confab trigger status --status read\n  confab trigger status wamid.HBgL… --status failed --code 131026",
		Args:    arguments("[MESSAGE]"),
		RunE: t.withSimulator(func(cmd *cobra.Command, args []string, c *simulatorClient) error {
			done := actionView{Status: cmp.Or(status, "read")}
			if len(args) > 0 {
				done.ID = args[0]
			} else if latest, found, err := c.latestSend(cmd.Context()); err != nil {
				return err
			} else if done.ID = latest.ID; !found {
				return errors.New("nothing was sent yet")
			}

			body := map[string]any{"status": done.Status}
			if code != 0 {
				body["error_code"] = code
				body["status"], done.Status = cmp.Or(status, "failed"), cmp.Or(status, "failed")
			}

			if err := c.do(cmd.Context(), "POST", "/_sim/messages/"+url.PathEscape(done.ID)+"/status", body, nil); err != nil {
				return err
			}
			return printNew(cmd, asJSON, done.ID, done)
		}),
	}

	parsedFlag(cmd, &status, "status", "`status` to report: sent, delivered, read, played or failed (default read, or failed with --code)",
		parseChoice("sent", "delivered", "read", "played", "failed"))
	cmd.Flags().IntVar(&code, "code", 0, "provider's error `code` of a failure, such as 131026")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (t *trigger) edit() *cobra.Command {
	var text string
	cmd := t.messageCommand("edit", "Let a person change what they wrote", func() any { return map[string]any{"text": text} })
	cmd.Example += "\n  confab trigger edit wamid.HBgL… --text 'Tomorrow at ten'"
	parsedFlagWithDefault(cmd, &text, "text", "I meant something else", "the new `text`", parseText)
	return cmd
}

func (t *trigger) revoke() *cobra.Command {
	return t.messageCommand("revoke", "Let a person delete what they wrote", func() any { return nil })
}

// messageCommand is a command by which a person edits or revokes an earlier
// message. Its verb is also the last part of the path in the control API.
func (t *trigger) messageCommand(verb, short string, body func() any) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   verb + " [MESSAGE]",
		Short: short,
		Long: short + ", and print the id of the message that says so. MESSAGE is an id as\n" +
			"'confab trigger inbound' prints it; without it the latest message of a person is meant. With the id of a send or\n" +
			"an echo, the business does so on its phone.",
		Example: "  confab trigger " + verb,
		Args:    arguments("[MESSAGE]"),
		RunE: t.withSimulator(func(cmd *cobra.Command, args []string, c *simulatorClient) error {
			id, err := c.orLatestInbound(cmd.Context(), append(args, "")[0])
			if err != nil {
				return err
			}

			var answer createdAnswer
			if err := c.do(cmd.Context(), "POST", "/_sim/messages/"+url.PathEscape(id)+"/"+verb, body(), &answer); err != nil {
				return err
			}
			return printNew(cmd, asJSON, answer.ID, answer)
		}),
	}

	jsonFlag(cmd, &asJSON)
	return cmd
}
