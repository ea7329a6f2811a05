package callback

import (
	"fmt"
	"strings"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

// news posts one change of a field, about the line's business account unless
// another is named.
func (l *line) news(field, value string, waba ...string) {
	l.t.Helper()
	about := append(waba, *l.account.WABAID)[0]
	l.postBody(fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":%q,"time":1739321024,"changes":[{"field":%q,"value":%s}]}]}`, about, field, value))
}

// accountState is all that a callback can change of an account, in one line: status, reason,
// restricted, name, whether its PIN is known, and how often the provider is
// going to be asked about it.
func (l *line) accountState(a storage.Account) string {
	l.t.Helper()
	type row struct {
		Status, Reason, Name string
		Restricted, PIN      bool
	}
	r := storagetest.Select[row](l.t, l.dir, `SELECT status, coalesce(status_reason, '-') AS reason, name, restricted, pin IS NOT NULL AS pin FROM accounts WHERE id = ?`, a.ID)[0]
	checks := storagetest.Select[int](l.t, l.dir, `SELECT count(*) FROM jobs WHERE kind = 'account.check' AND json_extract(args, '$.account') = ?`, a.ID)[0]
	return fmt.Sprintf("%s %s restricted=%v name=%s pin=%v checks=%d", r.Status, r.Reason, r.Restricted, r.Name, r.PIN, checks)
}

const untouched = "connected - restricted=false name=Acme Shop pin=true checks=0"

func TestNewsOfAnAccountMovesExactlyWhatItShould(t *testing.T) {
	for _, c := range []struct {
		field, value string
		want         string
		kept         string // why the news is kept as it came, "" when it is not
	}{
		{"account_update", `{"event":"ACCOUNT_DELETED"}`, "disconnected The provider reports ACCOUNT_DELETED. restricted=false name=Acme Shop pin=true checks=0", ""},
		{"account_update", `{"event":"ACCOUNT_OFFBOARDED"}`, "disconnected The provider reports ACCOUNT_OFFBOARDED. restricted=false name=Acme Shop pin=true checks=0", ""},
		{"account_update", `{"event":"PARTNER_REMOVED","disconnection_info":{"reason":"BUSINESS_DOWNGRADE","initiated_by":"BUSINESS"}}`,
			"disconnected The provider reports PARTNER_REMOVED (BUSINESS_DOWNGRADE). restricted=false name=Acme Shop pin=true checks=0", ""},
		{"account_update", `{"event":"PARTNER_APP_UNINSTALLED"}`, "disconnected The provider reports PARTNER_APP_UNINSTALLED. restricted=false name=Acme Shop pin=true checks=0", ""},
		{"account_update", `{"event":"ACCOUNT_RECONNECTED"}`, "connected - restricted=false name=Acme Shop pin=true checks=1", ""},
		{"account_update", `{"event":"PARTNER_ADDED","waba_info":{"waba_id":"waba-100200300","owner_business_id":"7"}}`, "connected - restricted=false name=Acme Shop pin=true checks=1", ""},
		{"account_update", `{"event":"PARTNER_APP_INSTALLED"}`, "connected - restricted=false name=Acme Shop pin=true checks=1", ""},
		{"account_update", `{"event":"ACCOUNT_RESTRICTION","restriction_info":[{"restriction_type":"RESTRICTED_BIZ_INITIATED_MESSAGING","expiration":1740000000}]}`,
			"connected - restricted=true name=Acme Shop pin=true checks=0", ""},
		{"account_update", `{"event":"ACCOUNT_RESTRICTION","restriction_info":[{"restriction_type":"RESTRICTED_ADD_PHONE_NUMBER_ACTION"},{"restriction_type":"RESTRICTED_CUSTOMER_INITIATED_MESSAGING"}]}`,
			"connected - restricted=true name=Acme Shop pin=true checks=0", ""},
		{"account_update", `{"event":"ACCOUNT_RESTRICTION"}`, "connected - restricted=true name=Acme Shop pin=true checks=0", ""},
		{"account_update", `{"event":"ACCOUNT_RESTRICTION","restriction_info":[{"restriction_type":"RESTRICTED_ADD_PHONE_NUMBER_ACTION"}]}`, untouched, "no effect"},
		{"account_update", `{"event":"DISABLED_UPDATE","ban_info":{"waba_ban_state":"DISABLE","waba_ban_date":"March 1, 2026"}}`, "connected - restricted=true name=Acme Shop pin=true checks=0", ""},
		{"account_update", `{"event":"DISABLED_UPDATE","ban_info":{"waba_ban_state":["DISABLE"]}}`, "connected - restricted=true name=Acme Shop pin=true checks=0", ""},
		{"account_update", `{"event":"DISABLED_UPDATE"}`, "connected - restricted=true name=Acme Shop pin=true checks=0", ""},
		{"account_update", `{"event":"DISABLED_UPDATE","ban_info":{"waba_ban_state":"SCHEDULE_FOR_DISABLE"}}`, untouched, "no effect"},
		{"account_update", `{"event":"ACCOUNT_VIOLATION","violation_info":{"violation_type":"SCAM"}}`, untouched, "no effect"},
		{"account_update", `{"event":"VERIFIED_ACCOUNT","phone_number":"15551234567"}`, untouched, "no effect"},
		{"account_update", `{"event":"AD_ACCOUNT_LINKED"}`, untouched, "no effect"},
		{"account_update", `{"event":"BUSINESS_PRIMARY_LOCATION_COUNTRY_UPDATE","country":"US"}`, untouched, "no effect"},
		{"account_update", `{"event":"AUTH_INTL_PRICE_ELIGIBILITY_UPDATE"}`, untouched, "no effect"},
		{"account_update", `{"event":"VOLUME_BASED_PRICING_TIER_UPDATE"}`, untouched, "no effect"},
		{"account_update", `{"event":"MM_LITE_TERMS_SIGNED"}`, untouched, "no effect"},
		{"account_update", `{"event":"PARTNER_CLIENT_CERTIFICATION_STATUS_UPDATE"}`, untouched, "no effect"},
		{"account_update", `{"event":"SOMETHING_NEW"}`, untouched, "no effect"},
		{"account_update", `{"event":7}`, untouched, "unreadable"},
		{"account_update", `"words"`, untouched, "unreadable"},

		{"account_review_update", `{"decision":"APPROVED"}`, "connected - restricted=false name=Acme Shop pin=true checks=1", ""},
		{"account_review_update", `{"decision":"REJECTED"}`, "connected - restricted=true name=Acme Shop pin=true checks=0", ""},
		{"account_review_update", `{"decision":"PENDING"}`, untouched, "no effect"},
		{"account_review_update", `{"decision":"DEFERRED"}`, untouched, "no effect"},

		{"account_alerts", `{"entity_type":"PHONE_NUMBER","entity_id":"100200300","alert_info":{"alert_severity":"CRITICAL","alert_status":"ACTIVE","alert_type":"OBA_APPROVED","alert_description":"…"}}`, untouched, "no effect"},
		{"business_capability_update", `{"max_daily_conversations_per_business":2000,"max_phone_numbers_per_business":25}`, untouched, "no effect"},
		{"business_username_updates", `{"display_phone_number":"1555100200300","username":"acme","status":"approved"}`, untouched, "not handled"},

		{"phone_number_quality_update", `{"display_phone_number":"1555100200300","event":"FLAGGED","current_limit":"TIER_250"}`, "connected - restricted=false name=Acme Shop pin=true checks=1", ""},
		{"phone_number_quality_update", `{"display_phone_number":"1555100200300","event":"THROUGHPUT_UPGRADE","current_limit":"TIER_UNLIMITED"}`, "connected - restricted=false name=Acme Shop pin=true checks=1", ""},

		{"phone_number_name_update", `{"display_phone_number":"1555100200300","decision":"APPROVED","requested_verified_name":"Acme & Sons","rejection_reason":"NONE"}`,
			"connected - restricted=false name=Acme & Sons pin=true checks=0", ""},
		{"phone_number_name_update", `{"display_phone_number":"1555100200300","decision":"REJECTED","requested_verified_name":"Best Shop","rejection_reason":"NAME_EMPLOYEE_ISSUE"}`, untouched, "no effect"},
		{"phone_number_name_update", `{"display_phone_number":"1555100200300","decision":"PENDING","requested_verified_name":"Best Shop"}`, untouched, "no effect"},
		{"phone_number_name_update", `{"display_phone_number":"1555100200300","decision":"DEFERRED","requested_verified_name":"Best Shop"}`, untouched, "no effect"},

		{"security", `{"display_phone_number":"1555100200300","event":"PIN_CHANGED","requester":"61555822107539"}`, "connected - restricted=false name=Acme Shop pin=false checks=0", ""},
		{"security", `{"display_phone_number":"1555100200300","event":"PIN_REQUEST_SUCCESS"}`, "connected - restricted=false name=Acme Shop pin=false checks=0", ""},
		{"security", `{"display_phone_number":"1555100200300","event":"PIN_RESET_REQUEST"}`, untouched, "no effect"},
	} {
		t.Run(c.field+" "+c.value, func(t *testing.T) {
			l := newLine(t)
			other := storagetest.Connect(t, l.server.DB, l.tenant, "100200399")
			for _, a := range []storage.Account{l.account, other} {
				storagetest.Update(t, l.server.DB, func(tx *storage.Tx) error { return tx.SetPIN(a, "123456") })
			}
			l.news(c.field, c.value)
			l.is.Equal(l.accountState(l.account), c.want)
			l.is.Equal(l.accountState(other), untouched) // of another business account
			var why []string
			for _, raw := range kept(t, l.server) {
				l.is.Equal(string(raw.Payload), c.value)
				why = append(why, raw.Reason)
			}
			if c.kept == "" {
				l.is.Equal(why, nil)
			} else {
				l.is.Equal(why, []string{c.kept})
			}
			l.is.Equal(len(l.events()), 0)
			l.news(c.field, c.value) // the provider repeats itself
			if c.want == untouched {
				l.is.Equal(l.accountState(l.account), untouched)
			}
		})
	}
}

// TestNewsThatConnectNothingLeaveADisconnectedNumberAlone: whoever disconnected it wants it so.
func TestNewsThatConnectNothingLeaveADisconnectedNumberAlone(t *testing.T) {
	l := newLine(t)
	storagetest.Update(t, l.server.DB, func(tx *storage.Tx) error {
		return tx.MarkAccountStatus(l.account.ID, storage.AccountDisconnected, "Asked for.")
	})
	before := l.accountState(l.account)
	l.news("phone_number_quality_update", `{"display_phone_number":"1555100200300","event":"FLAGGED"}`)
	l.news("account_review_update", `{"decision":"APPROVED"}`)
	l.is.Equal(l.accountState(l.account), before)
	l.is.True(strings.HasSuffix(before, "checks=0"))
	l.news("account_update", `{"event":"PARTNER_ADDED"}`)
	l.is.True(strings.HasSuffix(l.accountState(l.account), "checks=1"))
}

func TestARestrictionIsLiftedWhenTheAccountIsReinstated(t *testing.T) {
	l := newLine(t)
	l.news("account_update", `{"event":"DISABLED_UPDATE","ban_info":{"waba_ban_state":["DISABLE"]}}`)
	l.is.Equal(l.accountState(l.account), "connected - restricted=true name=Acme Shop pin=false checks=0")
	l.news("account_update", `{"event":"DISABLED_UPDATE","ban_info":{"waba_ban_state":["REINSTATE"]}}`)
	l.is.Equal(l.accountState(l.account), "connected - restricted=false name=Acme Shop pin=false checks=0")
}

func TestNewsConcernsEveryNumberOfTheAccountOrTheOneItNames(t *testing.T) {
	l := newLine(t)
	sister := storagetest.Connect(t, l.server.DB, l.tenant, "100200301")
	storagetest.Exec(t, l.dir, `UPDATE accounts SET waba_id = 'shared'`)
	name := func(a storage.Account) string {
		return storagetest.Select[string](t, l.dir, `SELECT name FROM accounts WHERE id = ?`, a.ID)[0]
	}
	status := func(a storage.Account) string {
		return storagetest.Select[string](t, l.dir, `SELECT status FROM accounts WHERE id = ?`, a.ID)[0]
	}
	l.news("phone_number_name_update", `{"display_phone_number":"1555100200301","decision":"APPROVED","requested_verified_name":"Sister"}`, "shared")
	l.is.Equal(name(l.account)+" "+name(sister), "Acme Shop Sister")
	l.news("account_update", `{"event":"PARTNER_REMOVED","phone_number":"+1 555 100200300"}`, "shared")
	l.is.Equal(status(l.account)+" "+status(sister), "disconnected connected")
	l.news("account_update", `{"event":"PARTNER_REMOVED","phone_number":"15559999999"}`, "shared") // a third one's
	l.is.Equal(status(sister), "connected")
	l.is.Equal(kept(t, l.server)[0].Reason, "unknown account")
	l.news("account_update", `{"event":"ACCOUNT_DELETED"}`, "shared")
	l.is.Equal(status(l.account)+" "+status(sister), "disconnected disconnected")
	l.news("account_update", `{"event":"PARTNER_ADDED","waba_info":{"waba_id":"shared"}}`, "a business") // where the entry is not the account
	l.is.Equal(len(storagetest.Select[int](t, l.dir, `SELECT id FROM jobs WHERE kind = 'account.check'`)), 2)
}

func TestNewsOfANumberThatIsNotConnectedHereMovesNoOther(t *testing.T) {
	l := newLine(t)
	storagetest.Update(t, l.server.DB, func(tx *storage.Tx) error { return tx.SetPIN(l.account, "123456") })
	for field, value := range map[string]string{
		"account_update":           `{"event":"ACCOUNT_OFFBOARDED","phone_number":"15559999999"}`,
		"phone_number_name_update": `{"display_phone_number":"15559999999","decision":"APPROVED","requested_verified_name":"Another"}`,
		"security":                 `{"display_phone_number":"15559999999","event":"PIN_CHANGED"}`,
	} {
		l.news(field, value)
		l.is.Equal(l.accountState(l.account), untouched)
	}
	all := kept(t, l.server)
	l.is.Equal(len(all), 3)
	for _, raw := range all {
		l.is.Equal(raw.Reason, "unknown account")
	}
}

func TestANumberIsKnownByItsEndWhereACountryWritesItInTwoWays(t *testing.T) {
	for ours, theirs := range map[string]string{"+5511987654321": "551187654321", "+525512345678": "5215512345678", "+5491123456789": "541123456789"} {
		l := newLine(t)
		sister := storagetest.Connect(t, l.server.DB, l.tenant, "100200301")
		storagetest.Exec(t, l.dir, `UPDATE accounts SET waba_id = 'shared'`)
		storagetest.Exec(t, l.dir, `UPDATE accounts SET phone_number = ? WHERE id = ?`, ours, l.account.ID)
		l.news("account_update", `{"event":"ACCOUNT_OFFBOARDED","phone_number":"`+theirs+`"}`, "shared")
		l.is.Equal(l.accountState(l.account), "disconnected The provider reports ACCOUNT_OFFBOARDED. restricted=false name=Acme Shop pin=false checks=0")
		l.is.Equal(l.accountState(sister), "connected - restricted=false name=Acme Shop pin=false checks=0")
	}
}

func TestNewsOfAStrangersAccountIsKept(t *testing.T) {
	l := newLine(t)
	l.news("account_update", `{"event":"ACCOUNT_DELETED"}`, "999")
	l.is.Equal(kept(t, l.server)[0].Reason, "unknown account")
	storagetest.Exec(t, l.dir, `UPDATE accounts SET deleted_at = 1`)
	l.news("account_update", `{"event":"ACCOUNT_DELETED"}`)
	l.is.Equal(len(kept(t, l.server)), 1) // callbacks about a removed one are dropped
}

func TestAnAccountThatIsBeingSetUpIsLeftToWhoeverDoesThat(t *testing.T) {
	l := newLine(t)
	storagetest.Update(t, l.server.DB, func(tx *storage.Tx) error { return tx.MarkAccountStatus(l.account.ID, storage.AccountOnboarding, "") })
	l.news("account_update", `{"event":"PARTNER_ADDED"}`)
	l.is.Equal(l.accountState(l.account), "onboarding - restricted=false name=Acme Shop pin=false checks=0")
}
