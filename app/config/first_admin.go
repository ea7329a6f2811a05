package config

// FirstAdminAdvice says how to invite the first admin to a server that no one can sign in
// to, in commands that can be copied. The organizations are given by their ids: where
// there is none yet, one has to be made first.
func (c Config) FirstAdminAdvice(organizations []string) string {
	where := ""
	if c.DataDir != Default().DataDir {
		where = " --data-dir " + c.DataDir
	}

	organization, first := "ORG", ""
	switch len(organizations) {
	case 0:
		first = "create an organization with 'confab orgs create NAME" + where + "', which prints its id, then "
	case 1:
		organization = organizations[0]
	}
	return first + "invite the first admin with 'confab users invite --org " + organization +
		" --name NAME --email ADDRESS --role admin" + where + "', which prints a link to open"
}

// AddsPeople reports whether people are added who come through the identity provider.
func (c Config) AddsPeople() bool {
	return c.Console.Enabled && c.OIDC.Issuer != "" && c.OIDC.Create != "off"
}
