package simulator

const (
	appName     = "confab simulator"
	appLink     = "https://www.facebook.com/games/?app_id="
	maxOverride = 200
)

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

	return project(node, c, "id", "name", "timezone_id", "message_template_namespace"), nil
}

// getBusiness handles GET /{business_id}.
func (s *Server) getBusiness(c *call) (any, error) {
	node := object{"id": c.id, "name": s.world.Accounts[c.account].Name}
	return project(node, c, "id", "name"), nil
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
	return object{"success": true}, nil
}

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
	return object{"success": true}, nil
}

// Signup is what a hosted signup hands to the browser.
type Signup struct {
	Code          string `json:"code"`
	WABAID        string `json:"waba_id"`
	PhoneNumberID string `json:"phone_number_id"`
}

// Signup plays a business that signs up through the hosted page: a new account
// with one number, verified but not registered, and a code for its token. The
// app gets a callback about it, and must subscribe to the account itself. A
// number that exists is signed up with its account, without changes.
func (s *Server) Signup(name, phone string) (Signup, error) {
	if phone != "" && !validPhone(phone) {
		return Signup{}, invalid("phone_number", "is no phone number")
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.world.numberOf(digits(phone))
	if n == nil {
		name = firstOf(name, "Test Business")
		a := s.world.addAccount("", name, false)

		var err error
		n, err = s.world.ensureNumber(Number{
			WABAID: a.ID, DisplayPhoneNumber: phone, VerifiedName: name, Status: statusPending,
		})
		if err != nil {
			delete(s.world.Accounts, a.ID)
			return Signup{}, err
		}
	}

	code := &signupCode{Code: "AQ" + newSecret(32), Account: n.Account, Expires: s.now().Add(codeLife).UnixMilli()}
	s.world.Codes[code.Code] = code

	// The app gets this callback although it is not subscribed to the account yet.
	if s.world.Hook.wants(fieldAccountUpdate) {
		s.enqueueNew(&change{Account: n.Account, Field: fieldAccountUpdate, Time: s.nowMS() / 1000}, object{
			"event": "PARTNER_ADDED", "waba_info": object{"waba_id": n.Account, "owner_business_id": s.world.Accounts[n.Account].Business},
		})
	}

	s.markDirty()
	return Signup{code.Code, n.Account, n.ID}, nil
}
