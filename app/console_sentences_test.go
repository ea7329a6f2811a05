package app_test

import "testing"

// workshopSentences are what the console promises of the screens on which admins keep their
// organization, and the browser tests that see it: a test, or what it looks for or does.
var workshopSentences = []struct {
	promise string
	proofs  []string // as hollow reads them
}{
	{"templates: by status, language and category", []string{
		templates + "TestTemplatesAreSyncedAndFiltered/Status", templates + "TestTemplatesAreSyncedAndFiltered/Language", templates + "TestTemplatesAreSyncedAndFiltered/Category",
	}},
	{"templates: a preview that looks like the message will", []string{templates + "TestATemplateIsMadeReviewedAndRepaired/Track it", templates + "TestTemplatesAreSyncedAndFiltered/Cards"}},
	{"templates: made and edited with the rules said while typing, variables with examples, buttons, carousels", []string{
		templates + "TestATemplateIsMadeReviewedAndRepaired/A variable must not be the first or the last thing", templates + "TestATemplateIsMadeReviewedAndRepaired/Example for {{1}}",
		templates + "TestATemplateIsMadeReviewedAndRepaired/Add button", templates + "TestACarouselIsBuilt/Add card",
	}},
	{"templates: Sync", []string{templates + "TestTemplatesAreSyncedAndFiltered/Synced: 1 new, 0 changed, 0 gone"}},
	{"templates: why one was rejected, what helps, and its verdict live", []string{templates + "TestATemplateIsMadeReviewedAndRepaired/What usually helps: number variables from 1"}},

	{"numbers: status in words, and what to do when degraded", []string{
		numbers + "TestANumberShowsHowItFares/Messages come and go.", numbers + "TestANumberWhoseTokenExpiredIsConnectedAgain/needs a look",
	}},
	{"numbers: quality of the last 24 h, failed by code with what it means", []string{numbers + "TestANumberShowsHowItFares/131026", numbers + "TestANumberShowsHowItFares/Check the number."}},
	{"numbers: register with PIN", []string{numbers + "TestANewNumberIsConnectedAndRegistered/PIN"}},
	{"numbers: connect, the token tried first, and disconnect", []string{
		numbers + "TestANumberWhoseTokenExpiredIsConnectedAgain/The provider refuses this token", numbers + "TestANumberShowsHowItFares/Disconnect",
	}},
	{"numbers: made up in a sandbox", []string{numbers + "TestASandboxMakesNumbersUp/Second shop"}},
	{"numbers: webhook URL to copy", []string{numbers + "TestANumberShowsHowItFares//provider/webhook"}},

	{"customers: list, make, suspend, archive, restore", []string{
		customers + "TestACustomerLivesInTheConsole/New customer", customers + "TestACustomerLivesInTheConsole/Suspend",
		customers + "TestACustomerLivesInTheConsole/Archive", customers + "TestACustomerLivesInTheConsole/Restore",
	}},
	{"customers: setup links: make, copy once, revoke, state, change, and the page as the customer sees it", []string{
		customers + "TestACustomerLivesInTheConsole/Copy link", customers + "TestACustomerLivesInTheConsole/revoked",
		customers + "TestACustomerLivesInTheConsole/See the page as your customer does", workshop + "TestASetupLinkLeadsElsewhereAfterwards/Edit link",
	}},
	{"customers: its numbers, disconnect", []string{customers + "TestACustomersNumberIsDisconnected/Disconnect"}},

	{"webhooks: success rate, p50/p95 and a sparkline of the day", []string{webhooks + "TestDeliveriesAreFilteredByTheirAddress/93.8%", workshop + "TestAWebhookTellsItsDay/ ms"}},
	{"webhooks: make and edit", []string{webhooks + "TestAnAdminMakesAndKeepsAWebhook/New webhook", webhooks + "TestAnAdminMakesAndKeepsAWebhook/Edit"}},
	{"webhooks: secret shown once, rotated with both alive, revoked", []string{
		webhooks + "TestAnAdminMakesAndKeepsAWebhook/Copy secret", webhooks + "TestAnAdminMakesAndKeepsAWebhook/Rotate secret", webhooks + "TestAnAdminMakesAndKeepsAWebhook/Revoke",
	}},
	{"webhooks: Send test event, of each type with a sample to edit", []string{webhooks + "TestAnAdminMakesAndKeepsAWebhook/Send test event", webhooks + "TestADeliveryShowsHowItWasSigned/Sample"}},
	{"webhooks: deliveries by status, type, time and id", []string{
		webhooks + "TestDeliveriesAreFilteredByTheirAddress/Status", webhooks + "TestDeliveriesAreFilteredByTheirAddress/Type",
		webhooks + "TestDeliveriesAreFilteredByTheirAddress/Time", webhooks + "TestDeliveriesAreFilteredByTheirAddress/Search deliveries",
	}},
	{"deliveries: payload, headers as signed, the computation", []string{webhooks + "TestADeliveryShowsHowItWasSigned/X-Svc-Signature", webhooks + "TestADeliveryShowsHowItWasSigned/Compute"}},
	{"deliveries: every attempt with answer and time", []string{webhooks + "TestAnAdminRepairsAnEndpointThatAnswered500/The endpoint answered 500 Internal Server Error. It was given up."}},
	{"deliveries: Replay, and Copy as curl", []string{webhooks + "TestADeliveryShowsHowItWasSigned/Replay", webhooks + "TestADeliveryShowsHowItWasSigned/Copy as curl"}},
	{"webhooks: replay many with a count first and progress after", []string{webhooks + "TestAnAdminRepairsAnEndpointThatAnswered500/Replay many"}},
	{"webhooks: events beside them, live", []string{webhooks + "TestDeliveriesAreFilteredByTheirAddress/Events", workshop + "TestAnEventAboutNoMessageIsShown/Events"}},

	{"log: calls, live, by method, path, status, key and time", []string{
		traces + "TestTheLogOfCallsIsLiveAndFiltered/log?method=POST", traces + "TestTheLogOfCallsIsLiveAndFiltered/Path",
		traces + "TestTheLogOfCallsIsLiveAndFiltered/log?status=4xx", workshop + "TestALeakedKeyIsReplaced/Key", traces + "TestTheLogOfCallsIsLiveAndFiltered/log?created_before=2026-01-01T00:00:00Z",
	}},
	{"log: the error sent, the message, its trace", []string{traces + "TestTheLogOfCallsIsLiveAndFiltered/resource_not_found", traces + "TestAMessageIsTracedInABrowser/Follow the message"}},
	{"log: jobs that failed with their last error, retry and cancel", []string{
		traces + "TestJobsAndAuditAreInTheLog/media.fetch", traces + "TestAFailedJobIsRetriedAndCancelled/Retry", traces + "TestAFailedJobIsRetriedAndCancelled/Cancel job",
	}},
	{"log: audit", []string{traces + "TestJobsAndAuditAreInTheLog/user signed in"}},

	{"settings: people: invite, role, disable, sessions, teams", []string{
		settings + "TestAnAdminInvitesAndKeepsPeople/Copy link", settings + "TestAnAdminInvitesAndKeepsPeople/Disable", settings + "TestAnAdminInvitesAndKeepsPeople/Sign out everywhere",
		workshop + "TestATeamIsMadeAndNumbersAskForIt/New team",
	}},
	{"settings: keys: shown once, label, last used, expiry, revoke", []string{
		settings + "TestANewAdminGetsAKeyThatWorks/Copy key", workshop + "TestALeakedKeyIsReplaced/In 30 days", workshop + "TestALeakedKeyIsReplaced/Revoke",
	}},
	{"settings: labels, quick replies", []string{settings + "TestLabelsAreMadeChangedAndDeleted/New label", settings + "TestQuickRepliesAreMadeChangedAndDeleted/New quick reply"}},
	{"settings: password and sessions", []string{settings + "TestAPersonChangesItsProfile/Change password", settings + "TestAPersonChangesItsProfile/End"}},
	{"health: usage against plan, failures by code, what needs a look, 30 days with a table behind each plot", []string{
		numbers + "TestANumberShowsHowItFares/5 messages, on the plan self_hosted, which has no limit.", numbers + "TestANumberShowsHowItFares/131026",
		webhooks + "TestAnAdminRepairsAnEndpointThatAnswered500/All numbers and webhooks are well.", numbers + "TestANumberShowsHowItFares/Last 30 days",
	}},
	{"what strangers write is text on all of them", []string{
		webhooks + "TestWhatStrangersWriteAboutWebhooksIsText", templates + "TestWhatTheProviderHoldsIsTextEverywhere", settings + "TestNamesOfPeopleAreTextEverywhere",
		workshop + "TestWhatPeopleKeepIsTextEverywhere",
	}},
}

// Where the tests are.
const (
	templates = "console_templates_browser_test.go "
	numbers   = "console_numbers_browser_test.go "
	customers = "console_customers_browser_test.go "
	webhooks  = "console_webhooks_browser_test.go "
	traces    = "console_trace_browser_test.go "
	settings  = "console_settings_browser_test.go "
	workshop  = "console_workshop_browser_test.go "
)

func TestEverySentenceAboutTheWorkshopIsSeen(t *testing.T) {
	for _, sentence := range workshopSentences {
		for _, proof := range sentence.proofs {
			if why := hollow(proof); why != "" {
				t.Errorf("%s: %s: %s", sentence.promise, proof, why)
			}
		}
	}
}
