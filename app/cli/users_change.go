package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"confab/storage"
)

// user finds a person by the id or the address that an argument gives.
func user(rx *storage.Rx, idOrEmail string) (storage.User, error) {
	if storage.ValidID("", idOrEmail) {
		u, err := rx.UserByID(idOrEmail)
		if errors.Is(err, storage.ErrNotFound) {
			err = fmt.Errorf("there is no user %s", idOrEmail)
		}
		return u, err
	}

	found, err := rx.UsersByEmail(idOrEmail)
	switch {
	case err != nil:
		return storage.User{}, err
	case len(found) == 0:
		return storage.User{}, fmt.Errorf("there is no user %s", idOrEmail)
	case len(found) == 1:
		return found[0], nil
	}

	var ids []string
	for _, u := range found {
		ids = append(ids, u.ID)
	}
	return storage.User{}, fmt.Errorf("several users have the address %s: name one by its id: %s", idOrEmail, strings.Join(ids, ", "))
}

// changeUser finds a person and lets edit change it, and records the action.
func (s *store) changeUser(
	cmd *cobra.Command, idOrEmail, action string, edit func(*storage.Tx, *storage.User) error,
) error {
	return s.change(cmd.Context(), func(tx *storage.Tx) error {
		u, err := user(&tx.Rx, idOrEmail)
		if err != nil {
			return err
		}
		role := u.Role
		if err := edit(tx, &u); err != nil {
			return err
		}
		if u.Role != role {
			action = "user.role_changed"
		}
		return s.audit(tx, u.OrganizationID, action, "user", u.ID)
	})
}

func (e *env) usersSet() *cobra.Command {
	var name, email, role, team string
	cmd := &cobra.Command{
		Use:     "set USER",
		Short:   "Change a person's name, address, role or team; a running server follows at once",
		Example: "  confab users set ana@example.com --role admin\n  confab users set 01J… --email ana@example.com --name \"Ana Ruiz\"",
		Args:    arguments("USER"),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.ContainsFunc([]string{"name", "email", "role", "team"}, cmd.Flags().Changed) {
				return usage("there is nothing to change: give --name, --email, --role or --team")
			}
			return nil
		},
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			return s.changeUser(cmd, args[0], "user.updated", func(tx *storage.Tx, u *storage.User) error {
				if name != "" {
					u.Name = name
				}
				if email != "" {
					u.Email = &email
				}
				if role != "" {
					u.Role = role
				}
				if err := moveToTeam(&tx.Rx, u, team); err != nil {
					return err
				}
				return explainInvitation(tx.UpdateUser(u), args[0], u.Email)
			})
		}),
	}

	parsedFlag(cmd, &name, "name", "what the person is called, a short `text`", parseName)
	parsedFlag(cmd, &email, "email", "the person's `address`", parseEmail)
	roleFlag(cmd, &role, "")
	parsedFlag(cmd, &team, "team", "the person's `team`", parseText)
	return cmd
}

// moveToTeam puts a person into a team of its organization; "" is the one it is in.
func moveToTeam(rx *storage.Rx, u *storage.User, team string) error {
	if team == "" {
		return nil
	}

	t, err := rx.Team(u.OrganizationID, team)
	if errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("the organization of %s has no team %s", u.Name, team)
	}
	u.TeamID = t.ID
	return err
}

func (e *env) usersDisable() *cobra.Command {
	return &cobra.Command{
		Use:     "disable USER",
		Short:   "Keep a person from signing in; its sessions and invitations end at once",
		Example: "  confab users disable ana@example.com",
		Args:    arguments("USER"),
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			return s.changeUser(cmd, args[0], "user.disabled", func(tx *storage.Tx, u *storage.User) error { return tx.DisableUser(u.ID) })
		}),
	}
}

func (e *env) usersEnable() *cobra.Command {
	return &cobra.Command{
		Use:     "enable USER",
		Short:   "Let a disabled person sign in again",
		Example: "  confab users enable ana@example.com",
		Args:    arguments("USER"),
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			return s.changeUser(cmd, args[0], "user.enabled", func(tx *storage.Tx, u *storage.User) error { return tx.EnableUser(u.ID) })
		}),
	}
}
