package callback

import (
	"fmt"
	"strings"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

// template stores an approved template of an account.
func (l *line) template(a storage.Account, name string) storage.Template {
	l.t.Helper()
	t := storage.Template{AccountID: a.ID, Name: name, Language: "en_US", Status: storage.TemplateApproved, ProviderStatus: "APPROVED", ProviderTemplateID: "594425479261596",
		Category: "UTILITY", ParameterFormat: "POSITIONAL", Content: "Hi", Components: storage.JSON(`[{"type":"BODY","text":"Hi"}]`)}
	storagetest.Update(l.t, l.server.DB, func(tx *storage.Tx) error { return tx.InsertTemplate(&t) })
	return t
}

// shown is all that news can move of a template, in one line.
func (l *line) shown(t storage.Template) string {
	l.t.Helper()
	var now storage.Template
	storagetest.View(l.t, l.server.DB, func(rx *storage.Rx) (err error) {
		now, err = rx.Template(t.AccountID, t.Name, t.Language)
		return err
	})
	checks := storagetest.Select[int](l.t, l.dir, `SELECT count(*) FROM jobs WHERE kind = 'account.check'`)[0]
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s checks=%d %s", now.Status, now.ProviderStatus, now.Category, now.Content, checks, now.Reason))
}

// about is the value of news about a template.
func about(more string) string {
	return `{"message_template_id":594425479261596,"message_template_name":"order_ready","message_template_language":"en-US",` + more + `}`
}

func TestNewsOfATemplateMovesExactlyWhatItShould(t *testing.T) {
	const same = "approved APPROVED UTILITY Hi checks=0"
	for _, c := range []struct {
		field, more string
		want        string
		kept        string
	}{
		{"message_template_status_update", `"event":"APPROVED","reason":"NONE"`, same, ""},
		{"message_template_status_update", `"event":"PENDING","reason":"NONE"`, "pending PENDING UTILITY Hi checks=0", ""},
		{"message_template_status_update", `"event":"IN_APPEAL","reason":"NONE"`, "pending IN_APPEAL UTILITY Hi checks=0", ""},
		{"message_template_status_update", `"event":"PENDING_DELETION","reason":null`, "pending PENDING_DELETION UTILITY Hi checks=0", ""},
		{"message_template_status_update", `"event":"FLAGGED","reason":"NONE","disable_info":{"disable_date":"2026-02-01"}`, "approved FLAGGED UTILITY Hi checks=0", ""},
		{"message_template_status_update", `"event":"REINSTATED","reason":"NONE"`, "approved REINSTATED UTILITY Hi checks=0", ""},
		{"message_template_status_update", `"event":"REJECTED","reason":"INVALID_FORMAT","rejection_info":{"reason":"…","recommendation":"…"}`, "rejected REJECTED UTILITY Hi checks=0 INVALID_FORMAT", ""},
		{"message_template_status_update", `"event":"PAUSED","reason":"NONE","other_info":{"title":"FIRST_PAUSE","description":"…"}`, "rejected PAUSED UTILITY Hi checks=0 FIRST_PAUSE", ""},
		{"message_template_status_update", `"event":"DISABLED","reason":"NONE","other_info":{"title":"DISABLED","description":"…"}`, "rejected DISABLED UTILITY Hi checks=0 DISABLED", ""},
		{"message_template_status_update", `"event":"DELETED","reason":null`, "rejected DELETED UTILITY Hi checks=0", ""},
		{"message_template_status_update", `"event":"LIMIT_EXCEEDED"`, "rejected LIMIT_EXCEEDED UTILITY Hi checks=0", ""},
		{"message_template_status_update", `"event":"ARCHIVED"`, "rejected ARCHIVED UTILITY Hi checks=0", ""},
		{"message_template_status_update", `"event":"LOCKED"`, "rejected LOCKED UTILITY Hi checks=0", ""},
		{"message_template_status_update", `"event":"UNARCHIVED"`, "rejected UNARCHIVED UTILITY Hi checks=0", ""},
		{"message_template_status_update", `"event":"APPROVED","reason":"NONE","message_template_category":"MARKETING"`, "approved APPROVED MARKETING Hi checks=0", ""},
		{"message_template_status_update", `"event":""`, same, "no effect"},
		{"message_template_status_update", `"event":[]`, same, "unreadable"},

		{"template_category_update", `"previous_category":"UTILITY","new_category":"MARKETING"`, "approved APPROVED MARKETING Hi checks=0", ""},
		{"template_category_update", `"new_category":"UTILITY","correct_category":"UTILITY","category_update_timestamp":1746169200`, same, ""},
		{"template_category_update", `"new_category":"UTILITY"`, same, "no effect"},

		{"message_template_quality_update", `"previous_quality_score":"GREEN","new_quality_score":"YELLOW"`, same, "no effect"},
		{"message_template_components_update", `"message_template_element":"Hello","message_template_buttons":[]`, "approved APPROVED UTILITY Hi checks=1", ""},
	} {
		t.Run(c.field+" "+c.more, func(t *testing.T) {
			l := newLine(t)
			ours := l.template(l.account, "order_ready")
			stranger := l.template(storagetest.Connect(t, l.server.DB, l.tenant, "100200399"), "order_ready") // in another business account
			l.news(c.field, about(c.more))
			l.is.Equal(l.shown(ours), c.want)
			l.is.True(strings.HasPrefix(l.shown(stranger), "approved APPROVED UTILITY Hi"))
			var why []string
			for _, raw := range kept(t, l.server) {
				why = append(why, raw.Reason)
			}
			if c.kept == "" {
				l.is.Equal(why, nil)
			} else {
				l.is.Equal(why, []string{c.kept})
			}
			l.is.Equal(len(l.events()), 0)
		})
	}
}

func TestNewsThatComesTwiceLeavesATemplateAlone(t *testing.T) {
	l := newLine(t)
	ours := l.template(l.account, "order_ready")
	value := about(`"event":"PAUSED","reason":"NONE"`)
	l.news("message_template_status_update", value)
	storagetest.Exec(t, l.dir, `UPDATE templates SET updated_at = 1, reviewed_at = 1`)
	l.news("message_template_status_update", value)
	l.is.Equal(storagetest.Select[int64](t, l.dir, `SELECT updated_at FROM templates`), []int64{1})
	l.is.True(storagetest.Select[int64](t, l.dir, `SELECT reviewed_at FROM templates`)[0] > 1) // but it was reviewed, for an edit under way
	l.is.Equal(l.shown(ours), "rejected PAUSED UTILITY Hi checks=0")
}

func TestNewsOfATemplateReachesEachAccountThatSharesIt(t *testing.T) {
	l := newLine(t)
	sister := storagetest.Connect(t, l.server.DB, l.tenant, "100200301")
	ours, theirs := l.template(l.account, "order_ready"), l.template(sister, "order_ready")
	storagetest.Exec(t, l.dir, `UPDATE accounts SET waba_id = 'shared'`)
	storagetest.Exec(t, l.dir, `UPDATE templates SET provider_template_id = NULL WHERE account_id = ?`, sister.ID)
	l.news("message_template_status_update", about(`"event":"REJECTED","reason":"SCAM"`), "shared")
	l.is.Equal(l.shown(ours), "rejected REJECTED UTILITY Hi checks=0 SCAM")
	l.is.Equal(l.shown(theirs), "rejected REJECTED UTILITY Hi checks=0 SCAM")
	l.is.Equal(storagetest.Select[int](t, l.dir, `SELECT count(*) FROM templates WHERE provider_template_id = '594425479261596'`), []int{2}) // and its id is known
}

func TestNewsOfAnUnknownTemplateIsKept(t *testing.T) {
	l := newLine(t)
	l.news("message_template_status_update", about(`"event":"APPROVED"`))
	l.is.Equal(kept(t, l.server)[0].Reason, "unknown template")
	l.is.Equal(storagetest.Select[int](t, l.dir, `SELECT count(*) FROM templates`), []int{0})
}

func TestAChangeOfCategoryIsAnnouncedOnceAndComes(t *testing.T) {
	l := newLine(t)
	ours := l.template(l.account, "order_ready")
	announced := func() (to string, at storage.Time) {
		storagetest.View(t, l.server.DB, func(rx *storage.Rx) error {
			now, err := rx.Template(ours.AccountID, ours.Name, ours.Language)
			to, at = now.CategoryChangeTo, now.CategoryChangeAt
			return err
		})
		return to, at
	}

	for range 3 {
		l.news("template_category_update", about(`"new_category":"UTILITY","correct_category":"MARKETING","category_update_timestamp":1746169200`))
	}
	to, at := announced()
	l.is.Equal(to, "MARKETING")
	l.is.Equal(at.String(), "2025-05-02T07:00:00.000Z")
	l.is.Equal(l.shown(ours), "approved APPROVED UTILITY Hi checks=0") // until it comes
	l.is.Equal(l.kinds(), []string{"template.category_changing"})
	goldenEvent(t, "template_category_changing", l.events()[0])

	l.news("template_category_update", about(`"new_category":"UTILITY","correct_category":"MARKETING","category_update_timestamp":"1746255600"`))
	l.is.Equal(len(l.events()), 2) // another day is news

	l.news("template_category_update", about(`"previous_category":"UTILITY","new_category":"MARKETING"`))
	to, at = announced()
	l.is.Equal(to, "")
	l.is.Equal(at, storage.Time(0))
	l.is.Equal(l.shown(ours), "approved APPROVED MARKETING Hi checks=0")
	l.is.Equal(len(l.events()), 2)
}
