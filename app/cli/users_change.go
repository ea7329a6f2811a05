package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"confab/storage"
)

// user finds a person by the id or the address that an argument gives.
func user(rx *storage.Rx, idOrEmail string) (storage.User, error) {
	if storage.ValidID("", idOrEmail) {
		u, err := rx.UserByID(idOrEmail)
		return u, notFound(err, "user", idOrEmail)
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
	return storage.User{}, fmt.Errorf("several users have the address %s: choose one by id: %s", idOrEmail, strings.Join(ids, ", "))
}

// runUserChange makes the RunE of a command that changes the person of its argument.
func (e *env) runUserChange(action string, edit func(*storage.Tx, *storage.User) error) func(*cobra.Command, []string) error {
	return e.runWrite(func(tx *storage.Tx, args []string) (written, error) {
		u, err := user(&tx.Rx, args[0])
		if err != nil {
			return written{}, err
		}

		role, done := u.Role, auditEntry{u.OrganizationID, action, "user", u.ID}
		err = edit(tx, &u)
		if u.Role != role {
			done.action = "user.role_changed"
		}
		return written{entry: done}, err
	})
}

func (e *env) usersSet() *cobra.Command {
	var name, email, role, team string
	cmd := &cobra.Command{
		Use:   "set USER",
		Short: "Change a person's name, address, role or team, effective immediately",
		Long: "Change a person's name, address, role or team, effective immediately. A new address invalidates the password\n" +
			"links created for the old one: create a new one with 'confab users reset'.",
		Example: "  confab users set ana@example.com --role admin\n  confab users set 01J… --email ana@example.com --name \"Ana Ruiz\"",
		PreRunE: requireAnyFlag("name", "email", "role", "team"),
		RunE: e.runUserChange("user.updated", func(tx *storage.Tx, u *storage.User) error {
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
			return explainInvitation(tx.UpdateUser(u), u.Name, u.Email)
		}),
	}

	parsedFlag(cmd, &name, "name", "the person's `name`", parseName)
	parsedFlag(cmd, &email, "email", "the person's email `address`", parseEmail)
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

// userChange is a command that changes a person by edit, without flags.
func (e *env) userChange(verb, short, action string, edit func(*storage.Tx, *storage.User) error) *cobra.Command {
	return &cobra.Command{
		Use:     verb + " USER",
		Short:   short,
		Example: "  confab users " + verb + " ana@example.com",
		RunE:    e.runUserChange(action, edit),
	}
}
