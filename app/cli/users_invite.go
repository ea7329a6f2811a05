package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"confab/storage"
)

// invitationView is a link by which a person chooses a password. It is shown once.
type invitationView struct {
	ID        string       `json:"id"` // of the user
	Object    string       `json:"object"`
	Link      string       `json:"link"`
	ExpiresAt storage.Time `json:"expires_at"`
}

// writeInvitation invites a person, or resets one, and prints the link with the token.
func (s *store) writeInvitation(
	cmd *cobra.Command, action string, invite func(*storage.Tx) (u storage.User, token string, err error),
) error {
	publicURL := s.dir.PublicURL(cmd.Context(), s.config) // asked of the server, so not in the transaction
	return s.write(cmd, func(tx *storage.Tx) (written, error) {
		u, token, err := invite(tx)
		v := invitationView{ID: u.ID, Object: "user", Link: publicURL + "/console/welcome/" + token, ExpiresAt: u.InvitedUntil}
		return written{auditEntry{u.OrganizationID, action, "user", u.ID}, v.Link, v}, err
	})
}

func (e *env) usersInvite() *cobra.Command {
	var org, name, email, role, team string
	cmd := &cobra.Command{
		Use:   "invite --org ORG --name NAME --email ADDRESS",
		Short: "Invite a person to the console and print the link to send",
		Long: "Invite a person to the console and print a link. Whoever opens it within 72 hours chooses a password and\n" +
			"is signed in. Inviting a person again creates a new link, and the old one stops working. If somebody in the\n" +
			"organization already has this address, that person is invited.\n\n" +
			"An agent works with messages and contacts; an admin can do everything an API key can, and manage people\n" +
			"and keys.",
		Example: "  confab users invite --org org_01J… --name \"Ana\" --email ana@example.com --role admin\n" +
			"  confab users invite --org org_01J… --name \"Bo\" --email bo@example.com --team team_01J… --json",
		RunE: e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
			return s.writeInvitation(cmd, "user.invited", func(tx *storage.Tx) (u storage.User, token string, err error) {
				in := storage.Invitee{Name: name, Email: email, Role: role}
				if err := resolveInvitee(&tx.Rx, &in, org, team); err != nil {
					return u, "", err
				}
				u, token, err = tx.InviteUser(in)
				return u, token, explainInvitation(err, email, &email)
			})
		}),
	}

	requiredOrg(cmd, &org, "that the person belongs to")
	requiredFlag(cmd, &name, "name", "the person's `name`", parseName)
	requiredFlag(cmd, &email, "email", "the email `address` that the person signs in with", parseEmail)
	roleFlag(cmd, &role, " (default agent)")
	parsedFlag(cmd, &team, "team", "the person's `team` (default: the organization's first)", parseText)
	return withJSON(cmd)
}

func roleFlag(cmd *cobra.Command, role *string, also string) {
	parsedFlag(cmd, role, "role", "the person's role: `admin|agent`"+also, parseChoice(storage.RoleAdmin, storage.RoleAgent))
}

// resolveInvitee finds the organization and the team of the flags.
func resolveInvitee(rx *storage.Rx, in *storage.Invitee, org, team string) error {
	o, err := organization(rx, org)
	if err != nil {
		return err
	}

	t, err := chooseTeam(rx, o, team)
	in.OrganizationID, in.DefaultTeamID = o.ID, t.ID
	if team != "" {
		in.TeamID = t.ID
	}
	return err
}

// explainInvitation says what to do about a person who cannot be invited or have an address.
func explainInvitation(err error, who string, address *string) error {
	switch {
	case errors.Is(err, storage.ErrCanSignIn):
		return fmt.Errorf("%s can already sign in: for a new password, run 'confab users reset %s'", who, who)
	case errors.Is(err, storage.ErrUserDisabled):
		return fmt.Errorf("%s is disabled: enable them first with 'confab users enable %s'", who, who)
	case errors.Is(err, storage.ErrInvitedElsewhere):
		return fmt.Errorf("%s is invited to another organization: an address can be used only once on this server", who)
	case errors.Is(err, storage.ErrNoAddress):
		return fmt.Errorf("%s has no email address to sign in with: add one with 'confab users set %s --email …'", who, who)
	case errors.Is(err, storage.ErrConflict) && address != nil:
		return fmt.Errorf("%s already belongs to another person or invitation", *address)
	}
	return err
}

func (e *env) usersReset() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "reset USER",
		Short: "Print a link for a person to choose a new password",
		Long: "Print a link for a person to choose a new password. The link works for 72 hours, and the old password until\n" +
			"the link is used. USER is an id or an email address.",
		Example: "  confab users reset ana@example.com\n  confab users reset ana@example.com --json",
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			return s.writeInvitation(cmd, "user.password_reset", func(tx *storage.Tx) (u storage.User, token string, err error) {
				if u, err = user(&tx.Rx, args[0]); err != nil {
					return u, "", err
				}
				token, err = tx.ResetUser(&u)
				return u, token, explainInvitation(err, args[0], u.Email)
			})
		}),
	})
}

func (e *env) usersLink() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "link USER",
		Short: "Print a link that signs a person in once, within 10 minutes",
		Long: "Print a link that signs a person in once, within 10 minutes, whatever the settings: without a password, a\n" +
			"second factor or the identity provider. For those who are locked out. A new link replaces the earlier one.\n" +
			"USER is an id or an email address.",
		Example: "  confab users link ana@example.com\n  confab users link ana@example.com --json",
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			publicURL := s.dir.PublicURL(cmd.Context(), s.config) // asked of the server, so not in the transaction
			return s.write(cmd, func(tx *storage.Tx) (written, error) {
				u, err := user(&tx.Rx, args[0])
				if err != nil {
					return written{}, err
				}

				token, until, err := tx.InsertSignInLink(u)
				v := invitationView{ID: u.ID, Object: "user", Link: publicURL + "/console/link/" + token, ExpiresAt: until}
				done := written{auditEntry{u.OrganizationID, "user.link_created", "user", u.ID}, v.Link, v}
				return done, explainInvitation(err, args[0], nil)
			})
		}),
	})
}

// unbindIdentity lets no account at the identity provider be the person's any more.
func unbindIdentity(tx *storage.Tx, u *storage.User) error {
	n, err := tx.UnbindIdentities(u.ID)
	if err == nil && n == 0 {
		return fmt.Errorf("%s is not bound to an account at an identity provider", u.Name)
	}
	return err
}
