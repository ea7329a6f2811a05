package cli

import (
	"encoding/json"
	"errors"
	"slices"

	"confab/app/config"
	"confab/app/simulator"
	"confab/jobs/provisioning"
	"confab/storage"
)

const (
	// sandboxOrganization is the name by which a sandbox that lost its file finds its organization.
	sandboxOrganization = "Sandbox"
	sandboxKeyLabel     = "sandbox"
	sandboxUser         = "You"

	// sandboxNumber is the business's number, samplePerson the number of the one who writes to it.
	sandboxNumber    = "+15550100200"
	samplePerson     = "+15550001111"
	samplePersonName = "Ana Ruiz"
	sampleGreeting   = "hi"
)

// seed creates what is missing: the organization, and a key if the stored one is
// not valid. Rows that an earlier start has created are kept.
func (s *sandboxState) seed(tx *storage.Tx) error {
	o, team, err := s.ensureOrganization(tx)
	if err != nil {
		return err
	}
	s.OrganizationID, s.TeamID = o.PublicID, team.PublicID

	if err := s.ensureUser(tx, o, team); err != nil {
		return err
	}

	p, err := tx.Principal(storage.KeyHash(s.APIKey))
	switch {
	case err == nil && p.Organization.ID == o.ID && p.Key.RevokedAt == 0 && p.Key.ExpiresAt == 0:
		return nil
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		return err
	}

	// The key is only stored as a hash: a lost or revoked one is replaced.
	s.APIKey, err = tx.InsertKey(&storage.Key{OrganizationID: o.ID, Label: new(sandboxKeyLabel)})
	return err
}

// ensureOrganization finds or creates the sandbox's organization, with its first
// team. A database with other organizations only is refused: it is no sandbox's.
func (s *sandboxState) ensureOrganization(tx *storage.Tx) (storage.Organization, storage.Team, error) {
	all, err := tx.Organizations()
	if err != nil {
		return storage.Organization{}, storage.Team{}, err
	}

	// Without a state file the organization is known by its name.
	for _, o := range all {
		if o.PublicID == s.OrganizationID || s.OrganizationID == "" && o.Name == sandboxOrganization {
			teams, err := tx.Teams(o.ID)
			if err != nil {
				return o, storage.Team{}, err
			}
			return o, teams[0], nil
		}
	}

	if len(all) > 0 {
		return storage.Organization{}, storage.Team{},
			errors.New("the data directory belongs to a server, not to a sandbox: choose another with --data-dir")
	}

	o := storage.Organization{Name: sandboxOrganization, Plan: config.SelfHosted}
	team, err := tx.InsertOrganization(&o)
	return o, team, err
}

// ensureUser finds or creates the admin as whom the console signs in its visitors. If
// the state file was lost, it is known by its name.
func (s *sandboxState) ensureUser(tx *storage.Tx, o storage.Organization, team storage.Team) error {
	all, err := tx.Users(o.ID)
	if err != nil {
		return err
	}

	for _, u := range all {
		if u.ID == s.UserID || s.UserID == "" && u.Name == sandboxUser {
			s.UserID = u.ID
			return nil
		}
	}

	you := storage.User{OrganizationID: o.ID, TeamID: team.ID, Name: sandboxUser, Role: storage.RoleAdmin}
	err = tx.InsertUser(&you)
	s.UserID = you.ID
	return err
}

// ensureAccount makes the simulator's number an account of the organization, with
// the sample templates, unless it is one already.
func (s *sandboxState) ensureAccount(tx *storage.Tx, sim *simulator.Server, n simulator.Number) error {
	s.PhoneNumberID, s.PhoneNumber, s.WABAID = n.PhoneNumberID, "+"+n.Digits(), n.WABAID

	a, err := tx.AccountByNumber(n.PhoneNumberID)
	if err == nil {
		s.AccessToken, err = tx.AccessToken(a) // not the one of the state if its file was lost
	}
	if !errors.Is(err, storage.ErrNotFound) {
		return err
	}

	o, team, err := s.ensureOrganization(tx)
	if err != nil {
		return err
	}

	account := storage.Account{
		OrganizationID: o.ID,
		TeamID:         team.ID,
		PhoneNumberID:  &n.PhoneNumberID,
		WABAID:         &n.WABAID,
		PhoneNumber:    &s.PhoneNumber,
		Name:           &n.VerifiedName,
		Status:         storage.AccountConnected,
		ProviderStatus: &n.Status,
		OnboardedAt:    tx.Now,
	}
	if err := tx.InsertAccount(&account, s.AccessToken); err != nil {
		return err
	}

	templates, err := addTemplates(sim, n.WABAID)
	if err != nil {
		return err
	}
	for _, t := range templates {
		t.AccountID = account.ID
		if err := tx.InsertTemplate(&t); err != nil {
			return err
		}
	}
	return nil
}

// addTemplates adds the sample templates to a business account of the simulator, where they
// are missing, and returns them as the server stores them.
func addTemplates(sim *simulator.Server, waba string) (rows []storage.Template, err error) {
	for _, t := range sampleTemplates() {
		id, err := sim.AddTemplate(waba, t)
		if err != nil {
			return nil, err
		}

		components, err := json.Marshal(t.Components)
		if err != nil {
			return nil, err
		}

		rows = append(rows, storage.Template{
			Name:               t.Name,
			Language:           t.Language,
			Status:             storage.TemplateApproved,
			ProviderStatus:     "APPROVED",
			ProviderTemplateID: id,
			Category:           t.Category,
			ParameterFormat:    "POSITIONAL",
			Content:            provisioning.TemplateContent(components),
			Components:         components,
		})
	}
	return rows, nil
}

// ensureNumber returns the simulator's business number: the one wanted, else the
// first. A simulator without any gets the one wanted, with the sample templates.
func ensureNumber(sim *simulator.Server, want simulator.Number) (simulator.Number, error) {
	all := sim.Numbers()
	i := slices.IndexFunc(all, func(n simulator.Number) bool { return n.PhoneNumberID == want.PhoneNumberID })
	if len(all) > 0 {
		return all[max(i, 0)], nil
	}

	n, err := sim.AddNumber(want)
	if err == nil {
		_, err = addTemplates(sim, n.WABAID)
	}
	return n, err
}

// jsonObject is a JSON object in the provider's format.
type jsonObject = map[string]any

// sampleTemplates are approved from the start: without variables, with some, and for marketing.
func sampleTemplates() []simulator.Template {
	return []simulator.Template{
		{Name: "hello_world", Language: "en_US", Category: "UTILITY", Components: []jsonObject{
			{"type": "HEADER", "format": "TEXT", "text": "Hello World"},
			{"type": "BODY", "text": "Welcome! This is the simplest template there is: nothing needs to be filled in."},
			{"type": "FOOTER", "text": "Sent from a sandbox"},
		}},

		{Name: "order_update", Language: "en_US", Category: "UTILITY", Components: []jsonObject{
			{"type": "BODY", "text": "Hi {{1}}, your order {{2}} is on its way and should arrive tomorrow.",
				"example": jsonObject{"body_text": [][]string{{"Ana", "A-1042"}}}},
			{"type": "BUTTONS", "buttons": []jsonObject{{"type": "QUICK_REPLY", "text": "Where is it?"}}},
		}},

		{Name: "spring_offer", Language: "en_US", Category: "MARKETING", Components: []jsonObject{
			{"type": "HEADER", "format": "TEXT", "text": "Spring is here"},
			{"type": "BODY", "text": "Hi {{1}}, everything that grows is 20 percent off until Sunday.",
				"example": jsonObject{"body_text": [][]string{{"Ana"}}}},
			{"type": "FOOTER", "text": "Tap Stop to get no more offers"},
			{"type": "BUTTONS", "buttons": []jsonObject{
				{"type": "URL", "text": "See the offers", "url": "https://example.com/spring"},
				{"type": "QUICK_REPLY", "text": "Stop"},
			}},
		}},
	}
}

// openServiceWindow lets the sample person write, unless they did in the last 24
// hours: within that time free text may be sent to them.
func openServiceWindow(sim *simulator.Server, phoneNumberID string) error {
	if sim.ServiceWindowOpen(phoneNumberID, samplePerson) {
		return nil
	}
	_, err := sim.Inbound(map[string]any{
		"phone_number_id": phoneNumberID, "from": samplePerson, "name": samplePersonName, "text": sampleGreeting,
	})
	return err
}
