package api

import (
	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/app/api/template"
	"confab/jobs"
	"confab/jobs/event"
	"confab/storage"
)

// Routes is the table of the API: one line for each endpoint, with the scope that keys need
// for it. In the console the same endpoints are below /console/api/v1, for people instead of
// keys, who have roles instead of scopes.
func (s *Server) Routes() []rest.Route {
	allowHTTP := s.plainHTTP()
	return []rest.Route{
		rest.At("GET", "/health", s.getHealth, rest.Public, nil),
		rest.At("GET", "/openapi.json", s.getOpenAPI, rest.Public, nil),
		rest.At("GET", "/me", s.getMe, rest.AnyScope|rest.OfNumbers|rest.Agents, nil),

		rest.At("GET", "/labels", s.listLabels, rest.Read|rest.OfNumbers|rest.Agents, nil),
		rest.At("POST", "/labels", rest.WithBody(s.createLabel), rest.Inbox|rest.Creates, nil),
		rest.At("GET", "/labels/:id", rest.Shows(s.Server, labelIn, viewLabel), rest.Read|rest.OfNumbers|rest.Agents, nil),
		rest.At("PATCH", "/labels/:id", rest.WithBody(s.updateLabel), rest.Inbox, rest.Exists(labelIn)),
		rest.At("DELETE", "/labels/:id", rest.Deletes(s.Server, "label", labelIn, (*storage.Tx).DeleteLabel), rest.Inbox, nil).
			Audited("label.deleted", "label", "id"),

		rest.At("GET", "/quick_replies", s.listQuickReplies, rest.Read|rest.OfNumbers|rest.Agents, nil),
		rest.At("POST", "/quick_replies", rest.WithBody(s.createQuickReply), rest.Inbox|rest.Agents|rest.Creates, nil),
		rest.At("GET", "/quick_replies/:id", rest.Shows(s.Server, quickReplyIn, ViewQuickReply), rest.Read|rest.OfNumbers|rest.Agents, nil),
		rest.At("PATCH", "/quick_replies/:id", rest.WithBody(s.updateQuickReply), rest.Inbox|rest.Agents, rest.Exists(quickReplyIn)),
		rest.At("DELETE", "/quick_replies/:id",
			rest.Deletes(s.Server, "quick_reply", quickReplyIn, (*storage.Tx).DeleteQuickReply), rest.Inbox|rest.Agents, nil).
			Audited("quick_reply.deleted", "quick_reply", "id"),

		rest.At("GET", "/views", s.listViews, rest.Read|rest.Agents, nil),
		rest.At("POST", "/views", rest.WithBody(s.createView), rest.Inbox|rest.Agents|rest.Creates, nil),
		rest.At("GET", "/views/:id", rest.Shows(s.Server, viewIn, viewView), rest.Read|rest.Agents, nil),
		rest.At("PATCH", "/views/:id", rest.WithBody(s.updateView), rest.Inbox|rest.Agents, rest.Exists(viewIn)),
		rest.At("DELETE", "/views/:id", s.deleteView, rest.Inbox|rest.Agents, nil).Audited("view.deleted", "view", "id"),

		rest.At("GET", "/rules", s.listRules, rest.Read, nil),
		rest.At("POST", "/rules", rest.WithBody(s.createRule), rest.Platform|rest.Creates, nil).Audited("rule.created", "rule", ""),
		rest.At("POST", "/rules/reorder", rest.WithBody(s.reorderRules), rest.Platform|rest.NamedAction, nil).
			Audited("rules.reordered", "rule", ""),
		rest.At("POST", "/rules/dry_run", rest.WithBody(s.dryRun), rest.Read|rest.NamedAction, nil),
		rest.At("GET", "/rules/:id", rest.Shows(s.Server, ruleIn, ViewRule), rest.Read, nil),
		rest.At("PATCH", "/rules/:id", rest.WithBody(s.updateRule), rest.Platform, rest.Exists(ruleIn)).
			Audited("rule.updated", "rule", "id"),
		rest.At("DELETE", "/rules/:id", s.deleteRule, rest.Platform, nil).Audited("rule.deleted", "rule", "id"),
		rest.At("POST", "/rules/:id/dry_run", rest.WithBody(s.dryRunStored), rest.Read, rest.Exists(ruleIn)),
		rest.At("GET", "/rules/:id/firings", s.listFirings, rest.Read, rest.Exists(ruleIn)),

		rest.At("GET", "/accounts", s.listAccounts, rest.Read|rest.OfNumbers|rest.Agents, nil),
		rest.At("POST", "/:phone_number_id/register", rest.WithBody(s.registerNumber), rest.Platform, nil).
			Audited("number.registered", "number", "phone_number_id"),

		rest.At("GET", "/webhook_subscriptions", s.listSubscriptions, rest.Read, nil),
		rest.At("POST", "/webhook_subscriptions",
			rest.WithBodyInto(newSubscription{urls: s.Fetch}, s.createSubscription), rest.Webhooks|rest.Creates, nil).
			Audited("webhook.created", "webhook_subscription", ""),
		rest.At("GET", "/webhook_subscriptions/:id", rest.ShowsMore(s.Server, SubscriptionIn, showSubscription), rest.Read, nil),
		rest.At("PATCH", "/webhook_subscriptions/:id",
			rest.WithBodyInto(subscriptionChanges{urls: s.Fetch}, s.updateSubscription), rest.Webhooks, rest.Exists(SubscriptionIn)).
			Audited("webhook.updated", "webhook_subscription", "id"),
		rest.At("DELETE", "/webhook_subscriptions/:id",
			rest.Deletes(s.Server, "webhook_subscription", SubscriptionIn, (*storage.Tx).DeleteSubscription), rest.Webhooks, nil).
			Audited("webhook.deleted", "webhook_subscription", "id"),
		rest.At("POST", "/webhook_subscriptions/:id/secrets",
			rest.WithBody(s.createSecret), rest.Webhooks|rest.Creates, rest.Exists(SubscriptionIn)).
			Audited("webhook_secret.created", "webhook_secret", ""),
		rest.At("DELETE", "/webhook_subscriptions/:id/secrets/:secret_id", s.deleteSecret, rest.Webhooks, nil).
			Audited("webhook_secret.revoked", "webhook_secret", "secret_id"),
		rest.At("POST", "/webhook_subscriptions/:id/test", rest.WithBody(s.testSubscription), rest.Webhooks, rest.Exists(SubscriptionIn)),
		rest.At("GET", "/webhook_subscriptions/:id/stats", s.getSubscriptionStats, rest.Read, rest.Exists(SubscriptionIn)),

		rest.At("GET", "/webhook_deliveries", s.listDeliveries, rest.Read|rest.OfNumbers, nil),
		rest.At("POST", "/webhook_deliveries/bulk_replay", rest.WithBody(s.bulkReplayDeliveries), rest.Webhooks|rest.NamedAction, nil).
			Audited("deliveries.replayed", "webhook_subscription", ""),
		rest.At("GET", "/webhook_deliveries/:id", s.getDelivery, rest.Read|rest.OfNumbers, nil),
		rest.At("GET", "/webhook_deliveries/:id/attempts", s.listAttempts, rest.Read|rest.OfNumbers, rest.Exists(DeliveryIn)),
		rest.At("POST", "/webhook_deliveries/:id/replay", s.replayDelivery, rest.Webhooks, rest.Exists(DeliveryIn)).
			Audited("delivery.replayed", "webhook_delivery", "id"),

		rest.At("GET", "/events", s.listEvents, rest.Read|rest.OfNumbers, nil),
		rest.At("GET", "/events/stream", s.streamEvents, rest.Read|rest.OfNumbers|rest.NamedAction, nil),
		rest.At("GET", "/events/:id", rest.Shows(s.Server, eventIn, viewEvent), rest.Read|rest.OfNumbers, nil),

		rest.At("GET", "/reports/costs", s.getCosts, rest.Read|rest.OfNumbers, nil),
		rest.At("GET", "/reports/costs.csv", s.exportCosts, rest.Read|rest.OfNumbers, nil).
			Audited("report.exported", "organization", ""),

		rest.At("GET", "/reports/conversations", s.getConversationReport, rest.Read|rest.OfNumbers, nil),
		rest.At("GET", "/reports/conversations.csv", s.exportConversationReport, rest.Read|rest.OfNumbers, nil).
			Audited("report.exported", "organization", ""),

		rest.At("GET", "/customers", s.listCustomers, rest.Read|rest.Customers, nil),
		rest.At("POST", "/customers", rest.WithBody(s.createCustomer), rest.Platform|rest.Creates|rest.Customers, nil).
			Audited("customer.created", "customer", ""),
		rest.At("GET", "/customers/:id", rest.ShowsMore(s.Server, CustomerIn, showCustomer), rest.Read|rest.Customers, nil),
		rest.At("PATCH", "/customers/:id", rest.WithBody(s.updateCustomer), rest.Platform|rest.Customers, rest.Exists(CustomerIn)).
			Audited("customer.updated", "customer", "id"),
		rest.At("DELETE", "/customers/:id",
			s.archiveCustomer, rest.Platform|rest.Customers, nil).Audited("customer.archived", "customer", "id"),
		rest.At("GET", "/customers/:id/setup_links", s.listSetupLinks, rest.Read|rest.Customers, rest.Exists(CustomerIn)),
		rest.At("POST", "/customers/:id/setup_links", rest.WithBodyInto(newSetupLink{allowHTTP: allowHTTP}, s.createSetupLink),
			rest.Platform|rest.Creates|rest.Customers, rest.Exists(CustomerIn)).
			Audited("setup_link.created", "setup_link", ""),
		rest.At("GET", "/customers/:id/setup_links/:setup_link_id",
			rest.Shows(s.Server, setupLinkIn, s.viewSetupLink), rest.Read|rest.Customers, nil),
		rest.At("PATCH", "/customers/:id/setup_links/:setup_link_id",
			rest.WithBodyInto(setupLinkChanges{allowHTTP: allowHTTP}, s.updateSetupLink),
			rest.Platform|rest.Customers, rest.Exists(activeSetupLinkIn)).
			Audited("setup_link.updated", "setup_link", "setup_link_id"),
		rest.At("DELETE", "/customers/:id/setup_links/:setup_link_id", s.revokeSetupLink, rest.Platform|rest.Customers, nil).
			Audited("setup_link.revoked", "setup_link", "setup_link_id"),
		rest.At("DELETE", "/customers/:id/whatsapp_accounts/:phone_number_id", s.disconnectAccount, rest.Platform|rest.Customers, nil).
			Audited("number.disconnected", "number", "phone_number_id"),

		rest.At("GET", "/:phone_number_id/hours", rest.Shows(s.Server, rulesIn, s.viewHours), rest.Read|rest.Agents, nil),
		rest.At("PUT", "/:phone_number_id/hours", rest.WithBody(s.putHours), rest.Platform, nil).
			Audited("hours.updated", "number", "phone_number_id"),
		rest.At("GET", "/:phone_number_id/opt_out", rest.Shows(s.Server, rulesIn, viewOptOut), rest.Read, nil),
		rest.At("PUT", "/:phone_number_id/opt_out", rest.WithBody(s.putOptOut), rest.Platform, nil).
			Audited("opt_out.updated", "number", "phone_number_id"),

		rest.At("GET", "/:phone_number_id/messages", s.listMessages, rest.Read|rest.Agents, nil),
		rest.At("POST", "/:phone_number_id/messages",
			rest.WithBodyInto(content.MessageBody{AllowHTTP: allowHTTP}, s.createMessage), rest.Send|rest.Agents, nil),
		rest.At("GET", "/:phone_number_id/messages/:id", s.getMessage, rest.Read|rest.Agents, nil),
		rest.At("DELETE", "/:phone_number_id/messages/:id", s.cancelMessage, rest.Send|rest.Agents, nil),
		rest.At("GET", "/:phone_number_id/messages/:id/media", s.getMessageMedia, rest.Read|rest.Agents, nil),

		rest.At("GET", "/:phone_number_id/conversations", s.listConversations, rest.Read|rest.Agents, nil),
		rest.At("GET", "/:phone_number_id/conversations/:id", s.getConversation, rest.Read|rest.Agents, nil),
		rest.At("PATCH", "/:phone_number_id/conversations/:id",
			rest.WithBody(s.updateConversation), rest.Inbox|rest.Agents, rest.Exists(ConversationIn)),
		rest.At("POST", "/:phone_number_id/conversations/:id/labels",
			rest.WithBody(s.labelConversation), rest.Inbox|rest.Agents, rest.Exists(ConversationIn)),
		rest.At("DELETE", "/:phone_number_id/conversations/:id/labels/:label_id", detach(s.labelConversation), rest.Inbox|rest.Agents, nil),

		rest.At("POST", "/:phone_number_id/conversations/:id/hand_over",
			rest.WithBody(s.handOver), rest.Inbox|rest.Agents, rest.Exists(ConversationIn)),

		rest.At("GET", "/:phone_number_id/conversations/:id/notes", s.listNotes, rest.Read|rest.Agents, rest.Exists(ConversationIn)),
		rest.At("POST", "/:phone_number_id/conversations/:id/notes",
			rest.WithBody(s.createNote), rest.Inbox|rest.Agents|rest.Creates, rest.Exists(ConversationIn)),
		rest.At("GET", "/:phone_number_id/conversations/:id/notes/:note_id",
			rest.Shows(s.Server, noteIn, event.ViewNote), rest.Read|rest.Agents, nil),
		rest.At("PATCH", "/:phone_number_id/conversations/:id/notes/:note_id",
			rest.WithBody(s.updateNote), rest.Inbox|rest.Agents, rest.Exists(noteIn)),
		rest.At("DELETE", "/:phone_number_id/conversations/:id/notes/:note_id", s.deleteNote, rest.Inbox|rest.Agents, nil).
			Audited("note.deleted", "note", "note_id"),

		rest.At("GET", "/:phone_number_id/contacts", s.listContacts, rest.Read|rest.Agents, nil),
		rest.At("POST", "/:phone_number_id/contacts", rest.WithBody(s.createContact), rest.Inbox|rest.Agents|rest.Creates, nil),
		rest.At("GET", "/:phone_number_id/contacts/:id", rest.ShowsMore(s.Server, contactIn, ShowContact), rest.Read|rest.Agents, nil),
		rest.At("PATCH", "/:phone_number_id/contacts/:id", rest.WithBody(s.updateContact), rest.Inbox|rest.Agents, rest.Exists(contactIn)),
		rest.At("DELETE", "/:phone_number_id/contacts/:id", s.deleteContact, rest.Inbox, nil).Audited("contact.deleted", "contact", "id"),
		rest.At("POST", "/:phone_number_id/contacts/bulk_label",
			rest.WithBody(s.bulkLabelContacts), rest.Inbox|rest.Agents|rest.NamedAction, nil),
		rest.At("POST", "/:phone_number_id/contacts/:id/labels",
			rest.WithBody(s.labelContact), rest.Inbox|rest.Agents, rest.Exists(contactIn)),
		rest.At("DELETE", "/:phone_number_id/contacts/:id/labels/:label_id", detach(s.labelContact), rest.Inbox|rest.Agents, nil),
		rest.At("GET", "/:phone_number_id/contacts.csv", s.exportContacts, rest.Read, nil).
			Audited("contacts.exported", "number", "phone_number_id"),
		rest.At("POST", "/:phone_number_id/contact_imports", s.importContacts, rest.Inbox|rest.Uploads|rest.Sheets, nil).
			Audited("contacts.imported", "contact_import", ""),
		rest.At("GET", "/:phone_number_id/contact_imports/:id", rest.Shows(s.Server, contactImportIn, ViewContactImport), rest.Read, nil),

		rest.At("GET", "/:phone_number_id/broadcasts", s.listBroadcasts, rest.Read, nil),
		rest.At("POST", "/:phone_number_id/broadcasts", s.createBroadcast, rest.Campaigns|rest.Creates, nil).
			TakesTable(BroadcastPart, RecipientsPart).Audited("broadcast.created", "broadcast", ""),
		rest.At("GET", "/:phone_number_id/broadcasts/:id", rest.Shows(s.Server, BroadcastIn, event.ViewBroadcast), rest.Read, nil),
		rest.At("POST", "/:phone_number_id/broadcasts/:id/pause",
			s.moveBroadcast(jobs.PauseBroadcast), rest.Campaigns, rest.Exists(BroadcastIn)).
			Audited("broadcast.paused", "broadcast", "id"),
		rest.At("POST", "/:phone_number_id/broadcasts/:id/resume",
			s.moveBroadcast(jobs.ResumeBroadcast), rest.Campaigns, rest.Exists(BroadcastIn)).
			Audited("broadcast.resumed", "broadcast", "id"),
		rest.At("POST", "/:phone_number_id/broadcasts/:id/cancel",
			s.moveBroadcast(jobs.CancelBroadcast), rest.Campaigns, rest.Exists(BroadcastIn)).
			Audited("broadcast.cancelled", "broadcast", "id"),
		rest.At("GET", "/:phone_number_id/broadcasts/:id/recipients", s.listBroadcastRecipients, rest.Read, rest.Exists(BroadcastIn)),
		rest.At("GET", "/:phone_number_id/broadcasts/:id/recipients.csv", s.exportBroadcastRecipients, rest.Read, rest.Exists(BroadcastIn)).
			Audited("broadcast.exported", "broadcast", "id"),

		rest.At("GET", "/:phone_number_id/templates", s.listTemplates, rest.Read|rest.Agents, nil),
		rest.At("POST", "/:phone_number_id/templates",
			rest.WithBodyInto(template.Draft{AllowHTTP: allowHTTP}, s.createTemplate), rest.Campaigns|rest.Creates, nil).
			Audited("template.created", "template", ""),
		rest.At("POST", "/:phone_number_id/templates/sync", s.syncTemplates, rest.Campaigns, nil).
			Audited("templates.synced", "number", "phone_number_id"),
		rest.At("GET", "/:phone_number_id/templates/:name", rest.ShowsMore(s.Server, templateIn, ShowTemplate), rest.Read|rest.Agents, nil),
		rest.At("PATCH", "/:phone_number_id/templates/:name", rest.WithBody(s.updateTemplate), rest.Campaigns, rest.Exists(templateIn)).
			Audited("template.updated", "template", "name"),

		rest.At("POST", "/:phone_number_id/media", s.createMedia, rest.Send|rest.Agents|rest.Creates|rest.Uploads, nil),
		rest.At("GET", "/:phone_number_id/media/:id", rest.Shows(s.Server, mediaIn, s.viewMedia), rest.Read|rest.Agents, nil),
		rest.At("DELETE", "/:phone_number_id/media/:id", s.deleteMedia, rest.Send, nil).Audited("media.deleted", "media", "id"),
	}
}
