package api

// consoleRoutes is the table of what only the console needs, below /console/api.
func (s *Server) consoleRoutes() []route {
	return []route{
		{"GET", "/:phone_number_id/counts", s.getInboxCounts, agents, nil},
		{"POST", "/:phone_number_id/conversations/:id/read", s.readConversation, agents, exists(conversationIn)},
		{"POST", "/:phone_number_id/conversations/:id/unread", s.unreadConversation, agents, exists(conversationIn)},

		{"GET", "/stream", s.streamConsole, agents, nil},
		{"POST", "/presence", s.setPresence, agents | quiet, nil},

		{"GET", "/profile", s.getProfile, agents, nil},
		{"PATCH", "/profile", s.updateProfile, agents, nil},
		{"GET", "/sessions", s.listSessions, agents, nil},
		{"DELETE", "/sessions/:id", s.endSession, agents, nil},

		{"GET", "/people", s.listPeople, agents, nil},
		{"POST", "/people", s.invitePerson, creates, nil},
		{"GET", "/people/:id", s.getPerson, agents, nil},
		{"PATCH", "/people/:id", s.updatePerson, 0, exists(personIn)},
		{"POST", "/people/:id/disable", s.disablePerson, 0, exists(personIn)},
		{"POST", "/people/:id/enable", s.enablePerson, 0, exists(personIn)},
		{"POST", "/people/:id/reset", s.resetPerson, 0, exists(personIn)},
		{"POST", "/people/:id/signout", s.signOutPerson, 0, exists(personIn)},
		{"GET", "/people/:id/sessions", s.listPersonSessions, 0, exists(personIn)},
		{"DELETE", "/people/:id/sessions/:session_id", s.endPersonSession, 0, exists(personIn)},

		{"POST", "/teams", s.createTeam, creates, nil},

		{"POST", "/numbers", s.connectNumber, creates, nil},
		{"GET", "/:phone_number_id/quality", s.getNumberQuality, agents, nil},
		{"POST", "/:phone_number_id/check", s.checkNumber, 0, nil},
		{"POST", "/:phone_number_id/disconnect", s.disconnectNumber, 0, nil},
		{"DELETE", "/:phone_number_id", s.removeNumber, 0, nil},

		{"GET", "/event_types", s.listEventTypes, 0, nil},
		{"GET", "/event_sample", s.getEventSample, 0, nil},
		{"GET", "/webhook_subscriptions/:id/day", s.getSubscriptionDay, 0, exists(subscriptionIn)},
		{"POST", "/webhook_subscriptions/:id/test", s.testWithSample, 0, exists(subscriptionIn)},
		{"GET", "/webhook_deliveries/:id/request", s.getDeliveryRequest, 0, nil},
		{"GET", "/health", s.getOrganizationHealth, 0, nil},

		{"GET", "/keys", s.listKeys, 0, nil},
		{"POST", "/keys", s.createKey, creates, nil},
		{"DELETE", "/keys/:id", s.revokeKey, 0, nil},

		{"GET", "/:phone_number_id/audience", s.getAudience, 0, nil},
		{"GET", "/templates/:id", s.getTemplateByID, agents, nil},
		{"DELETE", "/templates/:id", s.deleteTemplate, 0, nil},
		{"GET", "/contacts/:id", s.getContactByID, agents, nil},
		{"POST", "/customers/:id/restore", s.restoreCustomer, customers, exists(customerIn)},

		{"GET", "/log", s.listCalls, 0, nil},
		{"GET", "/log/:id", s.getCall, 0, nil},
		{"GET", "/trace/:id", s.getTrace, 0, nil},
		{"GET", "/audit", s.listAudit, 0, nil},
		{"GET", "/jobs", s.listJobs, 0, nil},
		{"GET", "/jobs/:id", s.getJob, 0, nil},
		{"POST", "/jobs/:id/retry", s.retryJob, 0, exists(jobIn)},
		{"POST", "/jobs/:id/cancel", s.cancelJob, 0, exists(jobIn)},
	}
}
