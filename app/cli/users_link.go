package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"confab/storage"
)

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
