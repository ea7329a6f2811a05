package api

import (
	"confab/app/api"
	"confab/app/api/rest"
)

// Routes is the table of what only the console needs, below /console/api.
func (s *Server) Routes() []rest.Route {
	return []rest.Route{
		rest.At("GET", "/:phone_number_id/counts", s.getInboxCounts, rest.Agents, nil),
		rest.At("GET", "/waiting", s.getWaiting, rest.Agents, nil),
		rest.At("GET", "/:phone_number_id/sending", s.getSending, rest.Agents, nil),
		rest.At("POST", "/:phone_number_id/conversations/:id/read", s.readConversation, rest.Agents, rest.Exists(api.ConversationIn)),
		rest.At("POST", "/:phone_number_id/conversations/:id/unread", s.unreadConversation, rest.Agents, rest.Exists(api.ConversationIn)),
		rest.At("GET", "/:phone_number_id/conversations/:id/changes",
			s.listConversationChanges, rest.Agents, rest.Exists(api.ConversationIn)),

		rest.At("GET", "/stream", s.streamConsole, rest.Agents, nil),
		rest.At("POST", "/presence", rest.WithBody(s.setPresence), rest.Agents|rest.Quiet, nil),

		rest.At("GET", "/profile", s.getProfile, rest.Agents, nil),
		rest.At("PATCH", "/profile", rest.WithBody(s.updateProfile), rest.Agents, nil).Audited("user.updated", "user", ""),
		rest.At("GET", "/devices", s.getDevices, rest.Agents, nil),
		rest.At("POST", "/devices", rest.WithBody(s.createDevice), rest.Agents|rest.Quiet, nil),
		rest.At("DELETE", "/devices", rest.WithBody(s.deleteDevice), rest.Agents|rest.Quiet|rest.NamedInBody, nil),
		rest.At("POST", "/devices/start", s.startDevices, rest.Agents, nil),
		rest.At("POST", "/devices/test", s.testDevices, rest.Agents, nil),
		rest.At("GET", "/factors", s.getFactors, rest.Agents, nil),
		rest.At("POST", "/factors/codes/start", s.startCodes, rest.Agents, nil),
		rest.At("POST", "/factors/codes", rest.WithBody(s.createCodes), rest.Agents, nil).Audited("user.factor_added", "user", ""),
		rest.At("DELETE", "/factors/codes", s.deleteCodes, rest.Agents, nil).Audited("user.factor_removed", "user", ""),
		rest.At("POST", "/factors/passkeys/start", s.startPasskey, rest.Agents, nil),
		rest.At("POST", "/factors/passkeys", rest.WithBody(s.createPasskey), rest.Agents, nil).Audited("user.factor_added", "user", ""),
		rest.At("PATCH", "/factors/passkeys/:id", rest.WithBody(s.renamePasskey), rest.Agents, rest.Exists(passkeyIn)).
			Audited("user.passkey_renamed", "user", ""),
		rest.At("DELETE", "/factors/passkeys/:id", s.deletePasskey, rest.Agents, rest.Exists(passkeyIn)).
			Audited("user.factor_removed", "user", ""),
		rest.At("POST", "/factors/recovery_codes", s.replaceRecoveryCodes, rest.Agents, nil).
			Audited("user.recovery_codes_created", "user", ""),
		rest.At("GET", "/people/:id/factors", s.getPersonFactors, 0, rest.Exists(personIn)),
		rest.At("GET", "/sessions", s.listSessions, rest.Agents, nil),
		rest.At("DELETE", "/sessions/:id", s.endSession, rest.Agents, nil).Audited("session.ended", "session", "id"),

		rest.At("GET", "/people", s.listPeople, rest.Agents, nil),
		rest.At("POST", "/people", rest.WithBody(s.invitePerson), rest.Creates, nil).Audited("user.invited", "user", ""),
		rest.At("GET", "/people/:id", s.getPerson, rest.Agents, nil),
		rest.At("PATCH", "/people/:id", rest.WithBody(s.updatePerson), 0, rest.Exists(personIn)).Audited("user.updated", "user", "id"),
		rest.At("POST", "/people/:id/disable", s.disablePerson, 0, rest.Exists(personIn)).Audited("user.disabled", "user", "id"),
		rest.At("POST", "/people/:id/enable", s.enablePerson, 0, rest.Exists(personIn)).Audited("user.enabled", "user", "id"),
		rest.At("POST", "/people/:id/reset", s.resetPerson, 0, rest.Exists(personIn)).Audited("user.password_reset", "user", "id"),
		rest.At("POST", "/people/:id/signout", s.signOutPerson, 0, rest.Exists(personIn)).Audited("user.sessions_ended", "user", "id"),
		rest.At("GET", "/people/:id/sessions", s.listSessions, 0, rest.Exists(personIn)),
		rest.At("DELETE", "/people/:id/sessions/:session_id", s.endSession, 0, rest.Exists(personIn)).
			Audited("session.ended", "session", "session_id"),

		rest.At("GET", "/teams", s.listTeams, 0, nil),
		rest.At("PATCH", "/teams/:id", rest.WithBody(s.updateTeam), 0, rest.Exists(teamIn)).Audited("team.updated", "team", "id"),
		rest.At("POST", "/teams", rest.WithBody(s.createTeam), rest.Creates, nil).Audited("team.created", "team", ""),

		rest.At("POST", "/numbers", rest.WithBodyInto(newNumber{madeUp: s.InventNumber != nil}, s.connectNumber), rest.Creates, nil).
			Audited("number.connected", "number", ""),
		rest.At("GET", "/:phone_number_id/quality", s.getNumberQuality, rest.Agents, nil),
		rest.At("POST", "/:phone_number_id/check", s.checkNumber, 0, nil),
		rest.At("POST", "/:phone_number_id/disconnect", s.disconnectNumber, 0, nil).
			Audited("number.disconnected", "number", "phone_number_id"),
		rest.At("DELETE", "/:phone_number_id", s.removeNumber, 0, nil).Audited("number.removed", "number", "phone_number_id"),

		rest.At("GET", "/event_types", s.listEventTypes, 0, nil),
		rest.At("GET", "/event_sample", s.getEventSample, 0, nil),
		rest.At("GET", "/webhook_subscriptions/:id/day", s.getSubscriptionDay, 0, rest.Exists(api.SubscriptionIn)),
		rest.At("POST", "/webhook_subscriptions/:id/test", rest.WithBody(s.testWithSample), 0, rest.Exists(api.SubscriptionIn)),
		rest.At("GET", "/webhook_deliveries/:id/request", s.getDeliveryRequest, 0, nil),
		rest.At("GET", "/health", s.getOrganizationHealth, 0, nil),

		rest.At("GET", "/keys", s.listKeys, 0, nil),
		rest.At("POST", "/keys", rest.WithBody(s.createKey), rest.Creates, nil).Audited("key.created", "key", ""),
		rest.At("DELETE", "/keys/:id", s.revokeKey, 0, nil).Audited("key.revoked", "key", "id"),

		rest.At("POST", "/:phone_number_id/broadcasts/forecast", s.forecastBroadcast, rest.Quiet, nil).
			TakesTable(api.BroadcastPart, api.RecipientsPart),
		rest.At("GET", "/:phone_number_id/broadcasts/:id/results", s.getBroadcastResults, 0, nil),
		rest.At("GET", "/templates/:id", rest.ShowsMore(s.Server, templateByID, api.ShowTemplate), rest.Agents, nil),
		rest.At("DELETE", "/templates/:id", s.deleteTemplate, 0, nil).Audited("template.deleted", "template", "id"),
		rest.At("GET", "/contacts/:id", rest.ShowsMore(s.Server, contactByID, api.ShowContact), rest.Agents, nil),
		rest.At("GET", "/:phone_number_id/search_hits", s.getSearchHits, rest.Agents, nil),
		rest.At("GET", "/contacts/:id/history", s.getContactHistory, rest.Agents, nil),
		rest.At("POST", "/customers/:id/restore", s.restoreCustomer, rest.Customers, rest.Exists(api.CustomerIn)).
			Audited("customer.restored", "customer", "id"),

		rest.At("GET", "/log", s.listCalls, 0, nil),
		rest.At("GET", "/log/:id", s.getCall, 0, nil),
		rest.At("GET", "/trace/:id", s.getTrace, 0, nil),
		rest.At("GET", "/audit", s.listAudit, 0, nil),
		rest.At("GET", "/jobs", s.listJobs, 0, nil),
		rest.At("GET", "/jobs/:id", rest.Shows(s.Server, jobIn, viewJob), 0, nil),
		rest.At("POST", "/jobs/:id/retry", s.retryJob, 0, rest.Exists(jobIn)).Audited("job.retried", "job", "id"),
		rest.At("POST", "/jobs/:id/cancel", s.cancelJob, 0, rest.Exists(jobIn)).Audited("job.cancelled", "job", "id"),
	}
}
