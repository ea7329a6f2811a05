package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"confab/app/config"
	"confab/storage"
)

func (e *env) orgs() *cobra.Command {
	return e.group("orgs", "Make and manage organizations, the tenants",
		e.orgsCreate(), e.orgsList(), e.orgsShow(), e.orgsSet(), e.orgsSuspend(), e.orgsResume())
}

// organizationView is an organization as GET /v1/me shows it, with what only an
// operator may see.
type organizationView struct {
	ID           string       `json:"id"`
	Object       string       `json:"object"`
	Name         string       `json:"name"`
	Plan         string       `json:"plan"`
	Status       string       `json:"status"`
	Subscription string       `json:"subscription"`
	RequireOptIn bool         `json:"require_opt_in"`
	CreatedAt    storage.Time `json:"created_at"`
	Teams        []teamView   `json:"teams,omitempty"` // not in a listing
}

func viewOrganization(o storage.Organization, teams ...storage.Team) organizationView {
	v := organizationView{
		ID:           o.PublicID,
		Object:       "organization",
		Name:         o.Name,
		Plan:         o.Plan,
		Status:       o.Status(),
		Subscription: o.Subscription,
		RequireOptIn: o.RequireOptIn,
		CreatedAt:    o.CreatedAt,
	}

	for _, t := range teams {
		v.Teams = append(v.Teams, viewTeam(t, o))
	}
	return v
}

func (e *env) orgsCreate() *cobra.Command {
	var (
		plan   string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "create NAME",
		Short:   "Make an organization and print its id; the first one makes the data directory",
		Example: "  confab orgs create \"Acme\"\n  confab orgs create \"Acme\" --plan starter --json",
		Args:    nameArgument,
		PreRunE: e.run(func(cmd *cobra.Command, _ []string) error { // before RunE creates the data directory
			c, err := e.settings(cmd, nil)
			if err != nil {
				return err
			}
			return checkPlan(c, plan)
		}),
		RunE: e.withStore(true, func(cmd *cobra.Command, args []string, s *store) error {
			o := storage.Organization{Name: args[0], Plan: plan}

			var team storage.Team
			err := s.change(cmd.Context(), func(tx *storage.Tx) (err error) {
				if team, err = tx.InsertOrganization(&o); err != nil {
					return err
				}
				return s.audit(tx, o.ID, "organization.created", "organization", o.PublicID)
			})
			if err != nil {
				return err
			}
			return printNew(cmd, asJSON, o.PublicID, viewOrganization(o, team))
		}),
	}

	cmd.Flags().StringVar(&plan, "plan", config.SelfHosted, "what it may do: a `plan` of the settings")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// checkPlan refuses a plan that the settings do not have: the server would use
// the default one instead, which allows everything.
func checkPlan(c config.Config, name string) error {
	if _, known := c.Plans[name]; known {
		return nil
	}
	names := slices.Sorted(maps.Keys(c.Plans))
	return fmt.Errorf("there is no plan %q in the settings, only %s", name, strings.Join(names, ", "))
}

func (e *env) orgsList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List organizations",
		Example: "  confab orgs list\n  confab orgs list --json",
		Args:    arguments(),
		RunE: e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
			var views []organizationView
			err := s.eachOrganization(cmd.Context(), "", func(_ *storage.Rx, o storage.Organization) error {
				views = append(views, viewOrganization(o))
				return nil
			})
			if err != nil {
				return err
			}

			heading := []string{"ID", "NAME", "PLAN", "STATUS", "SUBSCRIPTION", "CREATED"}
			return printList(cmd, asJSON, views, heading, func(v organizationView) []string {
				return []string{v.ID, v.Name, v.Plan, v.Status, v.Subscription, v.CreatedAt.String()}
			})
		}),
	}

	jsonFlag(cmd, &asJSON)
	return cmd
}

func (e *env) orgsShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show ORG",
		Short:   "Show one organization and its teams",
		Example: "  confab orgs show org_01J…\n  confab orgs show org_01J… --json",
		Args:    arguments("ORG"),
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			var v organizationView
			err := s.eachOrganization(cmd.Context(), args[0], func(rx *storage.Rx, o storage.Organization) error {
				teams, err := rx.Teams(o.ID)
				v = viewOrganization(o, teams...)
				return err
			})
			if err != nil {
				return err
			}

			fields := [][]string{
				{"id", v.ID}, {"name", v.Name}, {"plan", v.Plan}, {"status", v.Status}, {"subscription", v.Subscription},
				{"require opt-in", strconv.FormatBool(v.RequireOptIn)}, {"created", v.CreatedAt.String()},
			}

			for _, t := range v.Teams {
				fields = append(fields, []string{"team", t.ID + "  " + t.Name})
			}
			return printOne(cmd, asJSON, v, fields)
		}),
	}

	jsonFlag(cmd, &asJSON)
	return cmd
}

func (e *env) orgsSet() *cobra.Command {
	var (
		name, plan, subscription string
		requireOptIn             bool
	)
	cmd := &cobra.Command{
		Use:   "set ORG",
		Short: "Change an organization; a running server follows at once",
		Example: "  confab orgs set org_01J… --plan starter\n" +
			"  confab orgs set org_01J… --subscription inactive\n" +
			"  confab orgs set org_01J… --require-opt-in=false",
		Args: arguments("ORG"),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.ContainsFunc([]string{"name", "plan", "subscription", "require-opt-in"}, cmd.Flags().Changed) {
				return usage("there is nothing to change: give --name, --plan, --subscription or --require-opt-in")
			}
			return nil
		},
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			given := cmd.Flags().Changed
			if given("plan") {
				if err := checkPlan(s.config, plan); err != nil {
					return err
				}
			}

			return s.changeOrganization(cmd, args[0], "organization.updated", func(tx *storage.Tx, o *storage.Organization) {
				if given("name") {
					o.Name = name
				}
				if given("plan") {
					o.Plan = plan
				}
				if given("subscription") {
					o.Subscription = subscription
				}
				if given("require-opt-in") {
					o.RequireOptIn = requireOptIn
				}
			})
		}),
	}

	parsedFlag(cmd, &name, "name", "what it is called, a short `text`", parseName)
	cmd.Flags().StringVar(&plan, "plan", "", "what it may do: a `plan` of the settings")
	parsedFlag(cmd, &subscription, "subscription", "whether it has paid: `active|inactive`",
		parseChoice(storage.SubscriptionActive, storage.SubscriptionInactive))
	cmd.Flags().BoolVar(&requireOptIn, "require-opt-in", false, "send templates only to people who agreed to it")
	return cmd
}

func (e *env) orgsSuspend() *cobra.Command {
	return &cobra.Command{
		Use:     "suspend ORG",
		Short:   "Lock an organization out; its calls are refused at once",
		Example: "  confab orgs suspend org_01J…",
		Args:    arguments("ORG"),
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			return s.changeOrganization(cmd, args[0], "organization.suspended", func(tx *storage.Tx, o *storage.Organization) {
				if o.SuspendedAt == 0 { // else the time of the first suspension stays
					o.SuspendedAt = tx.Now
				}
			})
		}),
	}
}

func (e *env) orgsResume() *cobra.Command {
	return &cobra.Command{
		Use:     "resume ORG",
		Short:   "Let a suspended organization in again",
		Example: "  confab orgs resume org_01J…",
		Args:    arguments("ORG"),
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			resume := func(_ *storage.Tx, o *storage.Organization) { o.SuspendedAt = 0 }
			return s.changeOrganization(cmd, args[0], "organization.resumed", resume)
		}),
	}
}

// changeOrganization reads an organization, lets edit change it, stores it, and records
// the action.
func (s *store) changeOrganization(
	cmd *cobra.Command, id, action string, edit func(*storage.Tx, *storage.Organization),
) error {
	return s.change(cmd.Context(), func(tx *storage.Tx) error {
		o, err := organization(&tx.Rx, id)
		if err != nil {
			return err
		}

		edit(tx, &o)
		if err := tx.UpdateOrganization(&o); err != nil {
			return err
		}
		return s.audit(tx, o.ID, action, "organization", o.PublicID)
	})
}
