package cli

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/storage"
)

func (e *env) quickRepliesCreate() *cobra.Command {
	var org, team string
	cmd := &cobra.Command{
		Use:   "create SHORTCUT TEXT",
		Short: "Create a quick reply and print its id",
		Long: "Create a quick reply and print its id. TEXT may be - for standard input. When the console inserts it,\n" +
			"{{name}} becomes the contact's name.",
		Example: "  confab quick-replies create hello 'Hello {{name}}, how can we help?'\n" +
			"  confab quick-replies create terms - --team team_01J… < terms.txt",
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			text := args[1]
			if text == "-" {
				read, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 1<<20))
				if err != nil {
					return err
				}
				text = strings.TrimRight(string(read), "\r\n")
			}

			in := api.NewQuickReply{Shortcut: &args[0], Text: &text, TeamID: storage.OrNil(team)}
			return s.write(cmd, func(tx *storage.Tx) (written, error) {
				o, err := onlyOrganization(&tx.Rx, org)
				if err != nil {
					return written{}, err
				}
				made, err := in.Insert(tx, o.ID)
				names := map[string]string{"team_id": "--team", "shortcut": "SHORTCUT", "text": "TEXT"}
				return written{text: made.ID, view: api.ViewQuickReply(made)}, plainError(err, names)
			})
		}),
	}

	orgOfOne(cmd, &org)
	parsedFlag(cmd, &team, "team", "the `team` that uses it (optional if there is only one)", parseText)
	return withJSON(cmd)
}

func (e *env) quickRepliesList() *cobra.Command {
	columns := table[api.QuickReplyView]{
		heading: []string{"ID", "SHORTCUT", "TEXT", "TEAM"},
		row:     func(v api.QuickReplyView) []string { return []string{v.ID, v.Shortcut, v.Text, v.TeamPublicID} },
	}
	read := func(rx *storage.Rx, organization int64) ([]storage.QuickReply, error) {
		return rx.QuickReplies(organization, nil, storage.First, math.MaxInt32)
	}
	view := func(q storage.QuickReply, _ storage.Organization, _ storage.Time) api.QuickReplyView {
		return api.ViewQuickReply(q)
	}
	return organizationList(e, "quick-replies", "List quick replies, newest first", columns, read, view)
}

func (e *env) quickRepliesDelete() *cobra.Command {
	var org string
	cmd := &cobra.Command{
		Use:     "delete QUICK_REPLY",
		Short:   "Delete a quick reply by id or shortcut",
		Example: "  confab quick-replies delete qrp_01J…\n  confab quick-replies delete hello --org org_01J…",
		RunE: e.runWrite(func(tx *storage.Tx, args []string) (done written, err error) {
			found, err := tx.FindQuickReplies(args[0])
			if err != nil {
				return done, err
			}
			o, err := optionalOrganization(&tx.Rx, org)
			if err != nil {
				return done, err
			}
			if o.ID != 0 {
				found = slices.DeleteFunc(found, func(q storage.QuickReply) bool { return q.OrganizationID != o.ID })
			}

			q, err := theOnly(found, func(q storage.QuickReply) string { return q.ID },
				"there is no quick reply "+args[0], "several quick replies have the shortcut "+args[0]+": ")
			if err != nil {
				return done, err
			}
			done.entry = auditEntry{q.OrganizationID, "quick_reply.deleted", "quick_reply", q.ID}
			return done, tx.DeleteQuickReply(q.OrganizationID, q.ID)
		}),
	}

	optionalOrg(cmd, &org)
	return cmd
}

// plainError is an error of the API as a sentence, without its code. The field that it
// begins with is named as the command has it.
func plainError(err error, names map[string]string) error {
	e, ok := errors.AsType[*rest.Error](err)
	if !ok {
		return err
	}

	text := strings.TrimSuffix(e.Message, ".")
	if rest, found := strings.CutPrefix(text, e.Param); found && names[e.Param] != "" {
		text = names[e.Param] + rest
	}
	return errors.New(text)
}
