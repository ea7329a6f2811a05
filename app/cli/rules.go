package cli

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/storage"
)

func (e *env) rulesList() *cobra.Command {
	columns := table[api.RuleView]{
		heading: []string{"ID", "POSITION", "NAME", "ON", "STATE"},
		row: func(v api.RuleView) []string {
			state := "enabled"
			if !v.Enabled {
				state = "disabled"
			}
			return []string{v.ID, strconv.Itoa(v.Position), v.Name, v.On, state + optional(" (%s)", v.DisabledReason)}
		},
	}
	view := func(r storage.Rule, _ storage.Organization, _ storage.Time) api.RuleView { return api.ViewRule(r) }
	return organizationList(e, "rules", "List rules in their order", columns, (*storage.Rx).RulesOf, view)
}

// ruleByID finds a rule of any organization.
func ruleByID(rx *storage.Rx, id string) (storage.Rule, error) {
	r, err := rx.Rule(0, id)
	return r, notFound(err, "rule", id)
}

func (e *env) rulesShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show RULE",
		Short:   "Show a rule as JSON",
		Example: "  confab rules show rul_01J…",
	}
	read := func(rx *storage.Rx, args []string) (any, error) {
		r, err := ruleByID(rx, args[0])
		return api.ViewRule(r), err
	}
	return showCommand(e, cmd, false, read, printAny)
}

func (e *env) rulesSwitch(verb, short string, enabled bool) *cobra.Command {
	return &cobra.Command{
		Use:     verb + " RULE",
		Short:   short,
		Example: "  confab rules " + verb + " rul_01J…",
		RunE: e.runWrite(func(tx *storage.Tx, args []string) (done written, err error) {
			r, err := ruleByID(&tx.Rx, args[0])
			if err != nil {
				return done, err
			}
			done.entry = auditEntry{r.OrganizationID, "rule.updated", "rule", r.ID}
			return done, plainError(api.SwitchRule(tx, r, enabled), nil)
		}),
	}
}

func (e *env) rulesDryRun() *cobra.Command {
	since := 7 * 24 * time.Hour
	cmd := &cobra.Command{
		Use:     "dry-run RULE",
		Short:   "Try a rule on stored messages, changing nothing",
		Example: "  confab rules dry-run rul_01J…\n  confab rules dry-run rul_01J… --since 30d --json",
	}

	parsedFlag(cmd, &since, "since", "how far back to try it, at most 30d (default 7d)", parseAge)
	cmd.RunE = e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
		if since > api.MaxDryRun {
			return usage("--since is at most 30d")
		}
		r, err := storage.Query(cmd.Context(), s.DB, func(rx *storage.Rx) (storage.Rule, error) { return ruleByID(rx, args[0]) })
		if err != nil {
			return err
		}
		view, err := api.DryRun(cmd.Context(), s.DB, r, s.DB.Now().Add(-since))
		if err != nil {
			return err
		}
		return printJSON(cmd.OutOrStdout(), view)
	})
	return withJSON(cmd)
}

func (e *env) hoursShow() *cobra.Command {
	var number numberFlags
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Show the hours of a number as JSON",
		Example: "  confab hours show\n  confab hours show --phone-number-id 106540352242922",
	}

	number.add(cmd)
	read := func(rx *storage.Rx, _ []string) (any, error) {
		a, err := number.account(rx)
		if err != nil {
			return nil, err
		}
		n, err := rx.NumberRules(a.ID)
		return api.ViewHours(n.Hours, rx.ClockTime()), err
	}
	return showCommand(e, cmd, false, read, printAny)
}

func (e *env) hoursSet() *cobra.Command {
	var number numberFlags
	cmd := &cobra.Command{
		Use:   "set FILE",
		Short: "Set the hours of a number from a JSON file; - is standard input",
		Long: "Set the hours of a number from a JSON file; - is standard input. It has what 'confab hours show' prints:\n" +
			"timezone, weekly and holidays.",
		Example: "  confab hours set hours.json\n" +
			`  echo '{"timezone":"Europe/Madrid","weekly":{"mon":[["09:00","18:00"]]}}' | confab hours set -`,
	}

	number.add(cmd)
	cmd.RunE = e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
		file, err := readFileOrStdin(cmd.InOrStdin(), args[0])
		if err != nil {
			return err
		}
		var in api.HoursBody
		if err := rest.Decode(file, s.Now(), &in); err != nil {
			return plainError(err, nil)
		}
		return s.write(cmd, func(tx *storage.Tx) (written, error) {
			a, err := number.account(&tx.Rx)
			if err != nil {
				return written{}, err
			}
			return written{entry: auditEntry{a.OrganizationID, "hours.updated", "number", a.PhoneNumberID}}, tx.SetHours(a.ID, in.Hours)
		})
	})
	return cmd
}
