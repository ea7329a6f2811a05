package simulator

const (
	appName     = "confab simulator"
	appLink     = "https://www.facebook.com/games/?app_id="
	maxOverride = 200
)

func (w *world) accountIDs() []string {
	ids := []string{}
	for _, a := range inOrder(w.Accounts, func(a *account) int64 { return a.Order }) {
		ids = append(ids, a.ID)
	}
	return ids
}

// getAccount handles GET /{waba_id}.
func (s *Server) getAccount(c *call) (any, error) {
	a := s.world.Accounts[c.id]

	node := object{
		"id": a.ID, "name": a.Name, "timezone_id": "1", "message_template_namespace": "ns_" + a.ID,
		"currency": "USD", "country": "US", "status": "ACTIVE", "account_review_status": "APPROVED",
		"business_verification_status": "verified", "ownership_type": "CLIENT_OWNED",
		"owner_business_info":        object{"id": a.Business, "name": a.Name},
		"on_behalf_of_business_info": object{"id": a.Business, "name": a.Name, "status": "APPROVED", "type": "SELF"},
		"health_status": object{"can_send_message": "AVAILABLE", "entities": []object{
			{"entity_type": "WABA", "id": a.ID, "can_send_message": "AVAILABLE"},
		}},
	}

	return project(node, c.params.text("fields"), "id", "name", "timezone_id", "message_template_namespace"), nil
}

// getBusiness handles GET /{business_id}.
func (s *Server) getBusiness(c *call) (any, error) {
	node := object{"id": c.id, "name": s.world.Accounts[c.account].Name}
	return project(node, c.params.text("fields"), "id", "name"), nil
}

// systemUserToken handles POST /{business_id}/system_user_access_tokens.
func (s *Server) systemUserToken(c *call) (any, error) {
	return object{"access_token": s.addToken(c.account).Token}, nil
}

// listSubscribedApps handles GET /{waba_id}/subscribed_apps.
func (s *Server) listSubscribedApps(c *call) (any, error) {
	a := s.world.Accounts[c.id]
	data := []object{}
	if a.Subscribed {
		app := object{"whatsapp_business_api_data": object{
			"id": s.world.Creds.AppID, "name": appName, "link": appLink + s.world.Creds.AppID,
		}}
		app.put("override_callback_uri", a.Override.URL)
		data = append(data, app)
	}

	return object{"data": data}, nil
}

// subscribeApp handles POST /{waba_id}/subscribed_apps. Without an override
// in the body it removes the current one.
func (s *Server) subscribeApp(c *call) (any, error) {
	given := c.params
	if given.text("override_callback_uri") == "" && given.has("webhook_configuration") {
		given = given.child("webhook_configuration") // as some clients send it
	}

	override, err := s.readOverride(c, given)
	if err != nil {
		return nil, err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.world.Accounts[c.id]
	a.Subscribed, a.Override = true, override
	s.markDirty()
	return success{true}, nil
}

// readOverride reads a callback URL that replaces the app's own, and verifies
// it with a challenge.
func (s *Server) readOverride(c *call, given object) (callback, error) {
	override := callback{URL: given.text("override_callback_uri"), Token: given.text("verify_token")}

	switch {
	case override.URL == "":
		return callback{}, nil
	case len(override.URL) > maxOverride:
		return callback{}, tooLong("override_callback_uri", maxOverride)
	case override.Token == "":
		return callback{}, requiredParameter("verify_token")
	}
	return override, s.challenge(c.r.Context(), override.URL, override.Token)
}

// unsubscribeApp handles DELETE /{waba_id}/subscribed_apps.
func (s *Server) unsubscribeApp(c *call) (any, error) {
	a := s.world.Accounts[c.id]
	a.Subscribed, a.Override = false, callback{}
	return success{true}, nil
}
