package oidc

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"
)

// Identity is who the provider says has signed in.
type Identity struct {
	Issuer   string
	Subject  string // what the provider calls the person, for ever
	Email    string
	Verified bool // that the address is the person's
	Name     string
	IsAdmin  bool // as the claim says, if one is configured
}

// claims are those of a token that we look at.
type claims struct {
	Email    string `json:"email"`
	Verified any    `json:"email_verified"` // some providers send a text
	Name     string `json:"name"`
	// AuthorizedParty is for whom the token was made, where it is for several.
	AuthorizedParty string `json:"azp"`
}

// identity reads a token that was verified.
func (p *Provider) identity(token *oidc.IDToken) (Identity, error) {
	var c claims
	var all map[string]any
	if err := cmp.Or(token.Claims(&c), token.Claims(&all)); err != nil {
		return Identity{}, fmt.Errorf("%w: the claims: %w", ErrRefused, err)
	}

	switch {
	case token.Subject == "" || len(token.Subject) > maxSubject:
		return Identity{}, fmt.Errorf("%w: the token has no subject, or one that is too long", ErrRefused)
	case c.AuthorizedParty != "" && c.AuthorizedParty != p.ClientID, len(token.Audience) > 1 && c.AuthorizedParty == "":
		return Identity{}, fmt.Errorf("%w: the token was made for another client", ErrRefused)
	}
	return Identity{
		Issuer:   p.Issuer,
		Subject:  token.Subject,
		Email:    c.Email,
		Verified: c.Email != "" && (c.Verified == true || c.Verified == "true" || c.Verified == nil && p.TrustEmail),
		Name:     c.Name,
		IsAdmin:  p.AdminClaim != "" && holds(all[p.AdminClaim], p.AdminValue),
	}, nil
}

// holds reports whether a claim is a text, or a list that holds it.
func holds(claim any, value string) bool {
	many, _ := claim.([]any)
	return claim == any(value) || slices.Contains(many, any(value))
}
