package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"confab/app/api"
	"confab/jobs"
	"confab/jobs/event"
	"confab/jobs/queue"
	"confab/storage"
)

func (e *env) broadcastsCreate() *cobra.Command {
	var (
		number numberFlags
		draft  api.BroadcastDraft
		file   string
	)
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Send a template to everyone in a file or with a label",
		Long: "Send a template to the people in a CSV file, or to all contacts with a label. The file needs a header line\n" +
			"and a column phone_number or to; the other columns are fields. Named template variables are filled from the\n" +
			"field with the same name, numbered ones from the columns in order, unless --parameter sets their text. In\n" +
			"--parameter, {{field}} is a field of the file or the contact (name, phone_number, email, metadata).\n\n" +
			"A running server sends the messages. In a terminal, this command shows progress; Ctrl-C only stops watching.",
		Example: "  confab broadcasts create --name \"Spring sale\" --template spring_offer --language en_US --csv people.csv\n" +
			"  confab broadcasts create --name VIPs --template spring_offer --language en_US --label lbl_01J… --parameter '{{name}}'\n" +
			"  confab broadcasts create --name Later --template hello_world --language en_US --csv people.csv --at 2026-12-01T09:00:00Z",
		RunE: e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
			if (file == "") == (draft.LabelID == "") {
				return usage("use either --csv or --label")
			}
			return s.createBroadcast(cmd, number, draft, file)
		}),
	}

	number.add(cmd)
	requiredFlag(cmd, &draft.Name, "name", "display `name` of the broadcast", parseName)
	requiredFlag(cmd, &draft.Template, "template", "`name` of the template", parseText)
	requiredFlag(cmd, &draft.Language, "language", "language `code` of the template, such as en_US", parseText)
	parsedFlag(cmd, &file, "csv", "CSV `file` of recipients", parseText)
	parsedFlag(cmd, &draft.LabelID, "label", "id of the `label` whose contacts receive it", parseText)
	parsedFlag(cmd, &draft.At, "at", "`time` to start, such as 2026-12-01T09:00:00Z (default: now)", parseText)
	cmd.Flags().StringArrayVar(&draft.Parameters, "parameter", nil, "`text` for the next template variable; may be repeated")
	return withJSON(cmd)
}

// createBroadcast makes a broadcast, prints it, and on a terminal follows it.
func (s *store) createBroadcast(cmd *cobra.Command, number numberFlags, d api.BroadcastDraft, file string) error {
	key, err := storage.Query(cmd.Context(), s.DB, number.account)
	if err != nil {
		return err
	}

	line := newProgress(cmd.ErrOrStderr(), "storing recipients", formatBytes)
	if file != "" {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		d.File = followedFile{f, line}
	}

	var made storage.Broadcast
	var saved error // that the server could not be told
	err = api.MakeBroadcast(cmd.Context(), s.DB, key, d, func(publish func(*storage.Tx) (storage.Broadcast, error)) error {
		err := s.write(cmd, func(tx *storage.Tx) (_ written, err error) {
			made, err = publish(tx)
			return written{entry: auditEntry{key.OrganizationID, "broadcast.created", "broadcast", made.ID}}, err
		})
		if errors.Is(err, errSaved) {
			saved, err = err, nil
		}
		return err
	})
	line.end()
	if err != nil {
		return plainError(err, broadcastFlags)
	}
	if err := errors.Join(saved, printNew(cmd, made.ID, event.ViewBroadcast(made))); err != nil || wantsJSON(cmd) {
		return err
	}

	if served, err := s.dir.IsServed(); err == nil && !served {
		fmt.Fprintln(cmd.ErrOrStderr(), "No server is running: sending begins when you start one.")
	}
	return s.followBroadcast(cmd, made.ID)
}

// broadcastFlags are the flags that give the fields of a broadcast.
var broadcastFlags = map[string]string{
	"name":              "--name",
	"template.name":     "--template",
	"template.language": "--language",
	"audience.label_id": "--label",
	"recipients":        "--csv",
	"scheduled_at":      "--at",
}

// followedFile is a file of which a progress line shows how far it is read.
type followedFile struct {
	*os.File
	line *progress
}

func (f followedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	at, _ := f.Seek(0, io.SeekCurrent)
	if info, err := f.Stat(); err == nil {
		f.line.step(at, info.Size())
	}
	return n, err
}

// broadcastInterval is how often a broadcast that is followed is looked at.
const broadcastInterval = 500 * time.Millisecond

// followBroadcast shows on a terminal how far a broadcast is, while a server sends it, until
// no recipient waits or it does not go on. Ctrl-C ends the following, not the broadcast.
func (s *store) followBroadcast(cmd *cobra.Command, id string) error {
	served, err := s.dir.IsServed()
	if err != nil || !served || !isTerminal(cmd.ErrOrStderr()) {
		return err
	}

	line := newProgress(cmd.ErrOrStderr(), "sending", formatCount)
	defer line.end()
	for {
		b, err := s.findBroadcast(cmd.Context(), id)
		switch {
		case errors.Is(err, context.Canceled):
		case err != nil || b.Status == storage.BroadcastPaused || b.Status == storage.BroadcastScheduled || b.IsOver():
			return err
		default:
			line.step(b.Total-b.Waiting, b.Total)
			if queue.Pause(cmd.Context(), broadcastInterval) {
				continue
			}
		}

		line.end()
		fmt.Fprintf(cmd.ErrOrStderr(), "The broadcast continues. Track it with 'confab broadcasts show %s', "+
			"pause it with 'confab broadcasts pause %s'.\n", id, id)
		return nil
	}
}

func (s *store) findBroadcast(ctx context.Context, id string) (storage.Broadcast, error) {
	b, err := storage.Query(ctx, s.DB, func(rx *storage.Rx) (storage.Broadcast, error) { return rx.BroadcastOfAny(id) })
	return b, notFound(err, "broadcast", id)
}

func (e *env) broadcastsList() *cobra.Command {
	var number numberFlags
	limit := listLimit
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the broadcasts of a number, newest first",
		Example: "  confab broadcasts list\n  confab broadcasts list --phone-number-id 106540352242922 --json",
	}

	number.add(cmd)
	limitFlag(cmd, &limit)

	columns := table[storage.Broadcast]{
		heading: []string{"ID", "NAME", "STATUS", "TOTAL", "WAITING", "FAILED", "SKIPPED", "CREATED"},
		row: func(b storage.Broadcast) []string {
			return []string{
				b.ID, b.Name, b.Status, formatCount(b.Total), formatCount(b.Waiting), formatCount(b.Failed), formatCount(b.Skipped),
				b.CreatedAt.String(),
			}
		},
		view: func(b storage.Broadcast) any { return event.ViewBroadcast(b) },
	}
	return listCommand(e, cmd, columns, func(rx *storage.Rx, _ []string) ([]storage.Broadcast, error) {
		key, err := number.account(rx)
		if err != nil {
			return nil, err
		}
		rows, _, err := rx.Broadcasts(key.ID, "", storage.First, limit)
		return rows, err
	})
}

func (e *env) broadcastsShow() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:     "show BROADCAST",
		Short:   "Show a broadcast's progress",
		Example: "  confab broadcasts show bcs_01J…\n  confab broadcasts show bcs_01J… --follow\n  confab broadcasts show bcs_01J… --json",
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			b, err := s.findBroadcast(cmd.Context(), args[0])
			if err == nil && follow {
				if err = s.followBroadcast(cmd, b.ID); err == nil {
					b, err = s.findBroadcast(context.WithoutCancel(cmd.Context()), b.ID)
				}
			}
			if err != nil {
				return err
			}
			return printBroadcast(cmd, b)
		}),
	}

	cmd.Flags().BoolVar(&follow, "follow", false, "in a terminal, show progress until it ends; Ctrl-C only stops watching")
	return withJSON(cmd)
}

func printBroadcast(cmd *cobra.Command, b storage.Broadcast) error {
	return printOne(cmd, event.ViewBroadcast(b), [][]string{
		{"id", b.ID},
		{"name", b.Name},
		{"template", b.TemplateName + " (" + b.TemplateLanguage + ")"},
		{"status", b.Status},
		{"pause reason", storage.OrEmpty(b.PausedReason)},
		{"recipients", formatCount(b.Total)},
		{"waiting", formatCount(b.Waiting)},
		{"sent", formatCount(b.Sent)},
		{"delivered", formatCount(b.Delivered)},
		{"read", formatCount(b.Read)},
		{"failed", formatCount(b.Failed)},
		{"skipped", formatCount(b.Skipped)},
		{"scheduled", b.ScheduledAt.String()},
		{"started", b.StartedAt.String()},
		{"completed", b.CompletedAt.String()},
	})
}

// broadcastsMove is a command that moves a broadcast to another state.
func (e *env) broadcastsMove(verb, short, action string, move func(*storage.Tx, *storage.Broadcast) error) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     verb + " BROADCAST",
		Short:   short,
		Example: "  confab broadcasts " + verb + " bcs_01J…",
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			var b storage.Broadcast
			err := s.write(cmd, func(tx *storage.Tx) (_ written, err error) {
				if b, err = tx.BroadcastOfAny(args[0]); err != nil {
					return written{}, notFound(err, "broadcast", args[0])
				}
				if b, err = tx.CurrentBroadcast(b.Number); err != nil {
					return written{}, err
				}
				sender, err := tx.Sender(b.AccountID)
				if err != nil {
					return written{}, err
				}
				return written{entry: auditEntry{sender.OrganizationID, action, "broadcast", b.ID}}, move(tx, &b)
			})

			if errors.Is(err, jobs.ErrNotActive) {
				return fmt.Errorf("cannot %s the broadcast: it is %s", verb, b.Status)
			}
			if err != nil {
				return err
			}
			return printBroadcast(cmd, b)
		}),
	})
}
