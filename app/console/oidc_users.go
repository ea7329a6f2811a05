package console

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"confab/app/api/rest"
	"confab/app/console/api"
	"confab/app/oidc"
	"confab/storage"
)

// Who it is that the identity provider speaks of. All of it happens in the transaction of the
// new session: a refusal undoes what was done before.

// findIdentified finds the user of an identity: who is bound to it, whose link is taken up,
// or once, whose verified address it has; that one is bound to it then. Somebody else may be
// created. The errors for the person are refusals.
func (v *visit) findIdentified(tx *storage.Tx, id oidc.Identity, invitation string) (storage.User, error) {
	u, err := tx.UserByIdentity(id.Issuer, id.Subject)
	switch {
	case storage.IgnoreNotFound(err) != nil:
		return u, err
	case invitation != "":
		u, err = v.acceptByIdentity(tx, id, u, invitation)
	case err != nil:
		u, err = v.bindByEmail(tx, id)
	}
	if err != nil {
		return u, err
	}

	organization, err := tx.OrganizationByID(u.OrganizationID)
	switch {
	case err != nil:
		return u, err
	case u.DisabledAt != 0:
		return u, refusal(v.say("Your account here is disabled. Ask an admin."))
	case organization.SuspendedAt != 0:
		return u, refusal(v.say("Your organization is suspended. Ask whoever runs this server."))
	}
	return u, v.applyRole(tx, &u, id)
}

// acceptByIdentity takes up a link for whoever signs in at the provider. bound is who is
// bound to the identity already, if somebody is. The link of somebody who has a second factor
// does not stand for it: anybody who has seen it could have some account at the provider.
func (v *visit) acceptByIdentity(tx *storage.Tx, id oidc.Identity, bound storage.User, token string) (storage.User, error) {
	i, err := tx.UserInvitation(token)
	switch {
	case errors.Is(err, storage.ErrNotFound) || err == nil && !i.Usable(tx.Now):
		return bound, refusal(v.say("Your invitation is no longer valid. Ask an admin for a new one."))
	case err != nil:
		return bound, err
	case bound.ID != "" && bound.ID != i.UserID:
		return bound, refusal(v.say("Your account at %s belongs to somebody else here. Sign in with another one.", v.Provider.Name))
	}

	u, err := tx.UserByID(i.UserID)
	switch {
	case err != nil:
		return u, err
	case bound.ID != "":
		return u, tx.EndUserInvitations(u.ID)
	case u.HasFactor():
		return u, refusal(v.say("You have a second factor here, which this link does not replace. Open it again to choose a password, "+
			"or sign in with the account at %s that has your email address.", v.Provider.Name))
	}
	return u, v.bind(tx, u, id)
}

// bind binds a user to an identity, and ends its links.
func (v *visit) bind(tx *storage.Tx, u storage.User, id oidc.Identity) error {
	err := tx.BindIdentity(u.ID, id.Issuer, id.Subject)
	if errors.Is(err, storage.ErrConflict) {
		return refusal(v.say("You sign in here with another account at %s. Use that one, or ask an admin.", v.Provider.Name))
	}
	if err != nil {
		return err
	}

	if !u.CanSignIn() {
		if err := tx.Audit(u.OrganizationID, v.actor(u), "user.joined", "user", u.ID); err != nil {
			return err
		}
	}
	if err := tx.EndUserInvitations(u.ID); err != nil {
		return err
	}
	return tx.Audit(u.OrganizationID, v.actor(u), "user.identity_bound", "user", u.ID)
}

// bindByEmail finds the user who has the verified address of an identity, or creates one, and
// binds it.
func (v *visit) bindByEmail(tx *storage.Tx, id oidc.Identity) (storage.User, error) {
	if !id.Verified {
		return storage.User{}, refusal(v.say("%s hasn’t verified your email address. Verify it there, or ask an admin for an invitation.",
			v.Provider.Name))
	}

	// Somebody who was unlinked may have nothing else to sign in with, but has signed in before.
	u, err := tx.UserBySignIn(id.Email)
	isKnown := err == nil && (u.CanSignIn() || u.InvitedUntil > tx.Now || u.LastSignInAt != 0)
	switch {
	case storage.IgnoreNotFound(err) != nil:
		return u, err
	case err == nil && u.DisabledAt != 0:
		return u, nil // which the caller refuses
	case !isKnown:
		if u, err = v.createUser(tx, id); err != nil {
			return u, err
		}
	}
	if !isSameAddress(id.Email, storage.OrEmpty(u.Email)) {
		return u, v.refuseUnknown(id)
	}
	return u, v.bind(tx, u, id)
}

// isSameAddress reports whether an address that a provider verified is the one of a user. Users
// are found without regard to case, by which letters beyond ASCII equal others that are
// somebody else's: K, the sign of Kelvin, and k.
func isSameAddress(verified, ours string) bool {
	return verified == ours || !strings.ContainsFunc(verified, func(c rune) bool { return c > unicode.MaxASCII })
}

func (v *visit) refuseUnknown(id oidc.Identity) error {
	return refusal(v.say("Nobody here has the address %s. Ask an admin for an invitation.", id.Email))
}

// createUser makes a user for somebody who is not known, if the settings allow it.
func (v *visit) createUser(tx *storage.Tx, id oidc.Identity) (storage.User, error) {
	_, domain, _ := strings.Cut(id.Email, "@")
	p := v.Provider
	if p.Create == "off" || !slices.Contains(p.Domains, strings.ToLower(domain)) || !storage.ValidEmail(id.Email) {
		return storage.User{}, v.refuseUnknown(id)
	}

	organization, err := tx.NamedOrganization(p.Organization)
	switch {
	case errors.Is(err, storage.ErrNotFound), errors.Is(err, storage.ErrNoneNamed):
		return storage.User{}, refusal(v.say(
			"New people can’t join yet: oidc.organization must name an organization. Ask whoever runs this server."))
	case err != nil:
		return storage.User{}, err
	}
	err = api.CheckPeopleCount(&tx.Rx, organization.ID)
	if _, isFull := errors.AsType[*rest.Error](err); isFull {
		return storage.User{}, refusal(v.say("Your organization can’t add more people. Ask an admin."))
	}
	if err != nil {
		return storage.User{}, err
	}
	teams, err := tx.Teams(organization.ID)
	if err != nil {
		return storage.User{}, err
	}

	in := storage.Invitee{OrganizationID: organization.ID, DefaultTeamID: teams[0].ID, Name: nameOf(id), Email: id.Email}
	u, err := tx.EnsureUser(in)
	_, isAmbiguous := errors.AsType[*storage.AmbiguousUserError](err)
	switch {
	case isAmbiguous, errors.Is(err, storage.ErrInvitedElsewhere), errors.Is(err, storage.ErrCanSignIn),
		errors.Is(err, storage.ErrConflict):
		return u, refusal(v.say("The address %s is used by somebody else here. Ask an admin.", id.Email))
	case errors.Is(err, storage.ErrUserDisabled):
		return u, nil // which the caller refuses
	case err != nil:
		return u, err
	}
	return u, tx.Audit(u.OrganizationID, v.actor(u), "user.created", "user", u.ID)
}

// nameOf is what a new person is called: as the provider says, or else by its address.
func nameOf(id oidc.Identity) string {
	name := strings.TrimSpace(id.Name)
	if !api.ValidPersonName(name) {
		name, _, _ = strings.Cut(id.Email, "@")
	}
	return name
}

// applyRole gives a user the role that the claim says, where one is configured. The last admin
// who can sign in stays one.
func (v *visit) applyRole(tx *storage.Tx, u *storage.User, id oidc.Identity) error {
	role := storage.RoleAgent
	if id.IsAdmin {
		role = storage.RoleAdmin
	}
	if v.Provider.AdminClaim == "" || u.Role == role {
		return nil
	}

	if u.Role == storage.RoleAdmin {
		other, err := tx.OtherAdminCanSignIn(*u)
		if err != nil || !other {
			return err
		}
	}
	u.Role = role
	if err := tx.UpdateUser(u); err != nil {
		return err
	}
	return tx.Audit(u.OrganizationID, v.actor(*u), "user.role_changed", "user", u.ID)
}
