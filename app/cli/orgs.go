package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"confab/app/api"
	"confab/app/config"
	"confab/storage"
)

// organizationView is an organization as GET /v1/me shows it, with what only an operator may see.
type organizationView struct {
	api.OrganizationView
	Subscription string       `json:"subscription"`
	RequireOptIn bool         `json:"require_opt_in"`
	ReturnAfter  int          `json:"handover_return_minutes"`
	CreatedAt    storage.Time `json:"created_at"`
	Teams        []teamView   `json:"teams,omitempty"` // not in a listing
}

func viewOrganization(o storage.Organization, teams ...storage.Team) organizationView {
	v := organizationView{
		OrganizationView: api.ViewOrganization(o),
		Subscription:     o.Subscription,
		RequireOptIn:     o.RequireOptIn,
		ReturnAfter:      o.HandoverReturnMinutes,
		CreatedAt:        o.CreatedAt,
	}

	for _, t := range teams {
		v.Teams = append(v.Teams, viewTeam(t, o, 0))
	}
	return v
}

func (e *env) orgsCreate() *cobra.Command {
	var plan string
	cmd := &cobra.Command{
		Use:     "create NAME",
		Short:   "Create an organization and print its id; the first one also creates the data directory",
		Example: "  confab orgs create \"Acme\"\n  confab orgs create \"Acme\" --plan starter --json",
		Args:    nameArgument,
		// Before RunE creates the data directory.
		PreRunE: e.withSettings(func(_ *cobra.Command, _ []string, c config.Config) error { return checkPlan(c, plan) }),
		RunE: e.withStore(true, func(cmd *cobra.Command, args []string, s *store) error {
			return s.write(cmd, func(tx *storage.Tx) (written, error) {
				o := storage.Organization{Name: args[0], Plan: plan}
				team, err := tx.InsertOrganization(&o)
				entry := auditEntry{o.ID, "organization.created", "organization", o.PublicID}
				return written{entry, o.PublicID, viewOrganization(o, team)}, err
			})
		}),
	}

	cmd.Flags().StringVar(&plan, "plan", config.SelfHosted, "its `plan`, as defined in the settings")
	return withJSON(cmd)
}

// checkPlan refuses a plan that the settings do not have: the server would use
// the default one instead, which allows everything.
func checkPlan(c config.Config, name string) error {
	if _, known := c.Plans[name]; known {
		return nil
	}
	names := slices.Sorted(maps.Keys(c.Plans))
	return fmt.Errorf("unknown plan %q: the settings have %s", name, strings.Join(names, ", "))
}

func (e *env) orgsList() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List organizations",
		Example: "  confab orgs list\n  confab orgs list --json",
	}
	columns := table[storage.Organization]{
		heading: []string{"ID", "NAME", "PLAN", "STATUS", "SUBSCRIPTION", "CREATED"},
		row: func(o storage.Organization) []string {
			return []string{o.PublicID, o.Name, o.Plan, o.Status(), o.Subscription, o.CreatedAt.String()}
		},
		view: func(o storage.Organization) any { return viewOrganization(o) },
	}
	return listCommand(e, cmd, columns, func(rx *storage.Rx, _ []string) ([]storage.Organization, error) { return rx.Organizations() })
}

func (e *env) orgsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show ORG",
		Short:   "Show one organization and its teams",
		Example: "  confab orgs show org_01J…\n  confab orgs show org_01J… --json",
	}

	read := func(rx *storage.Rx, args []string) (v organizationView, err error) {
		o, err := organization(rx, args[0])
		if err != nil {
			return v, err
		}
		teams, err := rx.Teams(o.ID)
		return viewOrganization(o, teams...), err
	}
	return showCommand(e, cmd, false, read, func(cmd *cobra.Command, v organizationView) error {
		fields := [][]string{
			{"id", v.ID}, {"name", v.Name}, {"plan", v.Plan}, {"status", v.Status}, {"subscription", v.Subscription},
			{"require opt-in", strconv.FormatBool(v.RequireOptIn)},
			{"handover return minutes", strconv.Itoa(v.ReturnAfter)}, {"created", v.CreatedAt.String()},
		}
		for _, t := range v.Teams {
			fields = append(fields, []string{"team", t.ID + "  " + t.Name})
		}
		return printOne(cmd, v, fields)
	})
}

// maxReturnMinutes is 30 days.
const maxReturnMinutes = 43_200

func (e *env) orgsSet() *cobra.Command {
	var (
		name, plan, subscription string
		requireOptIn             bool
		returnMinutes            int
	)
	cmd := &cobra.Command{
		Use:   "set ORG",
		Short: "Change an organization, effective immediately",
		Example: "  confab orgs set org_01J… --plan starter\n" +
			"  confab orgs set org_01J… --subscription inactive\n" +
			"  confab orgs set org_01J… --require-opt-in=false\n" +
			"  confab orgs set org_01J… --handover-return-minutes 60",
		PreRunE: requireAnyFlag("name", "plan", "subscription", "require-opt-in", "handover-return-minutes"),
	}

	parsedFlag(cmd, &name, "name", "new `name`", parseName)
	cmd.Flags().StringVar(&plan, "plan", "", "its `plan`, as defined in the settings")
	parsedFlag(cmd, &subscription, "subscription", "subscription status: `active|inactive`",
		parseChoice(storage.SubscriptionActive, storage.SubscriptionInactive))
	cmd.Flags().BoolVar(&requireOptIn, "require-opt-in", false, "send templates only to people who opted in")

	cmd.Flags().IntVar(&returnMinutes, "handover-return-minutes", 0,
		"release a conversation after its holder has been silent for this many `minutes`; 0 for never")

	cmd.RunE = e.runOrganizationChange("organization.updated", func(_ *storage.Tx, o *storage.Organization, s *store) error {
		if returnMinutes < 0 || returnMinutes > maxReturnMinutes {
			return usage("--handover-return-minutes is from 0 to %d", maxReturnMinutes)
		}

		setGiven(cmd, "name", &o.Name, name)
		setGiven(cmd, "subscription", &o.Subscription, subscription)
		setGiven(cmd, "require-opt-in", &o.RequireOptIn, requireOptIn)
		setGiven(cmd, "handover-return-minutes", &o.HandoverReturnMinutes, returnMinutes)
		if !cmd.Flags().Changed("plan") {
			return nil
		}
		o.Plan = plan
		return checkPlan(s.config, plan)
	})
	return cmd
}

// orgsSuspension is a command that suspends an organization or ends that.
func (e *env) orgsSuspension(verb, short, action string) *cobra.Command {
	return &cobra.Command{
		Use:     verb + " ORG",
		Short:   short,
		Example: "  confab orgs " + verb + " org_01J…",
		RunE: e.runOrganizationChange(action, func(tx *storage.Tx, o *storage.Organization, _ *store) error {
			if o.SuspendedAt = cmp.Or(o.SuspendedAt, tx.Now); verb == "resume" {
				o.SuspendedAt = 0
			}
			return nil
		}),
	}
}

// runOrganizationChange makes the RunE of a command that edits the organization of its argument.
func (e *env) runOrganizationChange(
	action string, edit func(*storage.Tx, *storage.Organization, *store) error,
) func(*cobra.Command, []string) error {
	return e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
		return s.write(cmd, func(tx *storage.Tx) (written, error) {
			o, err := organization(&tx.Rx, args[0])
			if err != nil {
				return written{}, err
			}
			if err := edit(tx, &o, s); err != nil {
				return written{}, err
			}
			return written{entry: auditEntry{o.ID, action, "organization", o.PublicID}}, tx.UpdateOrganization(&o)
		})
	})
}
