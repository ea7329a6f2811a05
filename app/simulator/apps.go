package simulator

import "slices"

// callbackFields is what an app may subscribe to.
var callbackFields = []string{
	"account_alerts", "account_review_update", "account_update", "business_capability_update",
	"business_username_updates", "calls", "flows", "history", "message_template_components_update",
	"message_template_quality_update", "message_template_status_update", "messages", "messaging_handovers",
	"phone_number_name_update", "phone_number_quality_update", "security", "smb_app_state_sync",
	"smb_message_echoes", "standby", "template_category_update", "user_id_update", "user_preferences",
}

// getApp handles GET /{app_id}.
func (s *Server) getApp(c *call) (any, error) {
	id := s.world.Creds.AppID
	node := object{"id": id, "name": appName, "link": appLink + id, "category": "Business"}
	return project(node, c, "id", "name", "link", "category"), nil
}

func (c *call) requireAppToken() error {
	if !c.token.app {
		return badRequest(15, 0, "(#15) This method must be called with an app access_token.")
	}
	return nil
}

// listSubscriptions handles GET /{app_id}/subscriptions.
func (s *Server) listSubscriptions(c *call) (any, error) {
	if err := c.requireAppToken(); err != nil {
		return nil, err
	}

	hook := s.world.Hook
	if hook.URL == "" {
		return object{"data": []object{}}, nil
	}

	// No fields means all of them.
	names := hook.Fields
	if len(names) == 0 {
		names = callbackFields
	}
	fields := viewsOf(names, func(name string) object { return object{"name": name, "version": s.world.Settings.WebhookVersion} })
	return object{"data": []object{{
		"object": "whatsapp_business_account", "callback_url": hook.URL, "active": true, "fields": fields,
	}}}, nil
}

// subscribeFields handles POST /{app_id}/subscriptions: the app's callback
// URL, its verify token, and the fields it is sent.
func (s *Server) subscribeFields(c *call) (any, error) {
	if err := c.requireAppToken(); err != nil {
		return nil, err
	}

	target, verifyToken := c.params.text("callback_url"), c.params.text("verify_token")
	fields := c.params.words("fields")
	for _, name := range fields {
		if !slices.Contains(callbackFields, name) {
			return nil, badParameter("Param fields contains an unknown field \"%s\".", name)
		}
	}

	switch {
	case c.params.text("object") != "whatsapp_business_account":
		return nil, badParameter("Param object must be whatsapp_business_account.")
	case target == "":
		return nil, requiredParameter("callback_url")
	case verifyToken == "":
		return nil, requiredParameter("verify_token")
	}

	// Without the lock: the receiver may call the simulator before it answers.
	if err := s.challenge(c.r.Context(), target, verifyToken); err != nil {
		return nil, err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.Hook = appHook{URL: target, Fields: fields}
	s.world.Creds.VerifyToken = verifyToken
	s.markDirty()
	return object{"success": true}, nil
}
