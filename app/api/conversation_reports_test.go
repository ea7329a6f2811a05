package api

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
	"confab/storage/storagetest"
)

// spell stores a spell that is over, as seconds after its opening; 0 for what did not happen.
func (f *fixture) spell(account int64, opened string, reply, resolution float64, user *string, labels string, in, out int) {
	f.t.Helper()
	at, err := time.Parse(time.RFC3339, opened)
	if err != nil {
		f.t.Fatal(err)
	}
	after := func(seconds float64) storage.Time {
		if seconds == 0 {
			return 0
		}
		return storage.At(at) + storage.Time(seconds*1000)
	}
	storagetest.Exec(f.t, f.dir, `
		INSERT INTO spells (account_id, opened_at, number, conversation_id, inbound_at, replied_at, replied_by, resolved_at, resolved_by, assignee_id, labels, messages_in, messages_out)
		VALUES (?, ?, abs(random()), NULL, ?, ?, 'api', ?, 'api', ?, ?, ?, ?)`,
		account, storage.At(at), storage.At(at), after(reply), after(resolution), user, labels, in, out)
}

const spells = "/reports/conversations?from=2026-11-01&to=2026-11-30"

func TestConversationsAreCountedByGroups(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	account := storagetest.Connect(t, f.db, f.tenant, "100200300").ID
	ana, bo := "01AAAAAAAAAAAAAAAAAAAAAAAA", "01BBBBBBBBBBBBBBBBBBBBBBBB"
	f.spell(account, "2026-10-31T23:59:59Z", 1, 1, nil, "", 100, 100)
	f.spell(account, "2026-11-01T00:00:00Z", 10.5, 100, &ana, "lbl_a lbl_b", 1, 2)
	f.spell(account, "2026-11-01T22:59:59Z", 20.25, 200, &bo, "lbl_b", 3, 4)
	f.spell(account, "2026-11-01T23:30:00Z", 30.001, 0, &bo, "", 5, 6)
	f.spell(account, "2026-11-30T23:59:59Z", 0, 0, nil, "", 7, 8)
	f.spell(account, "2026-12-01T00:00:00Z", 1, 1, nil, "", 100, 100)

	totals := `{"opened":4,"resolved":2,"replied":3,"messages_in":16,"messages_out":20,"first_reply_seconds":{"p50":20.25,"p90":30.001},"resolution_seconds":{"p50":100,"p90":200}}`
	none := `"first_reply_seconds":{"p50":null,"p90":null},"resolution_seconds":{"p50":null,"p90":null}}`
	first := `"opened":1,"resolved":1,"replied":1,"messages_in":1,"messages_out":2,"first_reply_seconds":{"p50":10.5,"p90":10.5},"resolution_seconds":{"p50":100,"p90":100}}`
	second := `"opened":1,"resolved":1,"replied":1,"messages_in":3,"messages_out":4,"first_reply_seconds":{"p50":20.25,"p90":20.25},"resolution_seconds":{"p50":200,"p90":200}}`
	third := `"opened":1,"resolved":0,"replied":1,"messages_in":5,"messages_out":6,"first_reply_seconds":{"p50":30.001,"p90":30.001},"resolution_seconds":{"p50":null,"p90":null}}`
	fourth := `"opened":1,"resolved":0,"replied":0,"messages_in":7,"messages_out":8,` + none
	for query, want := range map[string]string{
		"": `"timezone":"UTC","group_by":"none","groups":[{"group":null,` + totals[1:] + `]`,
		"&group_by=day": `[{"group":"2026-11-01","opened":3,"resolved":2,"replied":3,"messages_in":9,"messages_out":12,"first_reply_seconds":{"p50":20.25,"p90":30.001},"resolution_seconds":{"p50":100,"p90":200}},` +
			`{"group":"2026-11-30",` + fourth + `]`,
		"&group_by=hour": `[{"group":"2026-11-01T00:00:00Z",` + first + `,{"group":"2026-11-01T22:00:00Z",` + second + `,{"group":"2026-11-01T23:00:00Z",` + third + `,` +
			`{"group":"2026-11-30T23:00:00Z",` + fourth + `]`,
		"&group_by=user": `[{"group":null,` + fourth + `,{"group":"` + ana + `",` + first + `,{"group":"` + bo + `","opened":2,"resolved":1,"replied":2,"messages_in":8,"messages_out":10,` +
			`"first_reply_seconds":{"p50":20.25,"p90":30.001},"resolution_seconds":{"p50":200,"p90":200}}]`,
		"&group_by=number": `[{"group":"100200300",` + totals[1:] + `]`,
		"&group_by=label":  `{"group":"lbl_a",` + first + `,{"group":"lbl_b","opened":2,"resolved":2,"replied":2,"messages_in":4,"messages_out":6,`,
	} {
		got := f.call("GET", spells+query, "").body
		if !strings.Contains(got, want) || !strings.Contains(got, `"totals":`+totals) {
			t.Errorf("%s: %s\nwant %s", query, got, want)
		}
	}

	// An hour behind midnight in Madrid another day has begun, and that of the last spell is not asked for.
	got := f.call("GET", spells+"&group_by=day&timezone=Europe/Madrid", "").body
	is.True(strings.Contains(got, `"timezone":"Europe/Madrid","group_by":"day","groups":[{"group":"2026-11-01","opened":3,`)) // with the last hour of October in UTC
	is.True(strings.Contains(got, `{"group":"2026-11-02","opened":1,`))
	is.True(!strings.Contains(got, "2026-11-30\",\"opened\""))
	got = f.call("GET", "/reports/conversations?from=2026-11-02&to=2026-11-02&group_by=hour&timezone=Asia/Kathmandu", "").body
	is.True(strings.Contains(got, `"groups":[{"group":"2026-11-02T04:00:00+05:45",`)) // 22:59 and 23:30 in UTC
	is.True(strings.Contains(got, `{"group":"2026-11-02T05:00:00+05:45",`))

	// The hour that comes twice is in the order of time.
	f.spell(account, "2026-10-25T00:30:00Z", 1, 1, nil, "", 1, 1)
	f.spell(account, "2026-10-25T01:30:00Z", 1, 1, nil, "", 1, 1)
	got = f.call("GET", "/reports/conversations?from=2026-10-25&to=2026-10-25&group_by=hour&timezone=Europe/Madrid", "").body
	summer, winter := strings.Index(got, "2026-10-25T02:00:00+02:00"), strings.Index(got, "2026-10-25T02:00:00+01:00")
	is.True(0 < summer && summer < winter)
}

// Where clocks are changed at midnight, days begin when they begin.
func TestDaysBeginAtTheirFirstInstant(t *testing.T) {
	is := is.New(t)
	for zone, days := range map[string]map[string]string{
		"Africa/Cairo":    {"2026-04-24": "2026-04-23T22:00:00Z", "2026-04-25": "2026-04-24T21:00:00Z"}, // 0:00 is 1:00
		"America/Havana":  {"2026-11-01": "2026-11-01T04:00:00Z", "2026-11-02": "2026-11-02T05:00:00Z"}, // 0:00 comes twice
		"Europe/Madrid":   {"2026-03-29": "2026-03-28T23:00:00Z", "2026-03-30": "2026-03-29T22:00:00Z"},
		"Atlantic/Azores": {"2026-10-25": "2026-10-25T00:00:00Z", "2026-10-26": "2026-10-26T01:00:00Z"},
	} {
		location, err := time.LoadLocation(zone)
		is.NoErr(err)
		for day, want := range days {
			date, err := time.Parse(time.DateOnly, day)
			is.NoErr(err)
			is.Equal(startOfDay(date, location).UTC().Format(time.RFC3339), want) // zone
		}
	}
}

// Percentiles are by nearest rank, whatever the order of the values.
func TestPercentilesAreThoseOfSortedValues(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 200; n++ {
		values := make([]int64, n)
		for i := range values {
			values[i] = random.Int64N(int64(1 + n/2)) // some are the same
		}
		sorted := slices.Sorted(slices.Values(values))
		got := percentilesOf(values)
		for percent, value := range map[int]*float64{50: got.P50, 90: got.P90} {
			rank := (percent*n + 99) / 100
			if want := float64(sorted[rank-1]) / 1000; *value != want {
				t.Fatalf("p%d of %d values is %v, want %v", percent, n, *value, want)
			}
		}
	}
}

// What happens through the API is what reports say, from the first message to the resolution.
func TestASpellIsWhatHappened(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	account := f.connect(f.tenant, "100200300")
	c := f.contact(account, "+15550001111")
	hear := func() {
		storagetest.Update(t, f.db, func(tx *storage.Tx) error {
			th, err := tx.Thread(account.ID, c.ID)
			if err != nil {
				return err
			}
			if th.ConversationID == "" {
				if err := tx.InsertThreadConversation(&th); err != nil {
					return err
				}
			}
			return tx.MarkMessageReceived(&th, tx.Now)
		})
	}
	today := "/reports/conversations"
	hear()
	hear()
	waiting := func() int { return len(f.call("GET", "/100200300/conversations?waiting=true", "").ids()) }
	is.Equal(waiting(), 1)
	is.Equal(f.call("POST", "/100200300/messages", `{"messaging_product":"chat","to":"+15550001111","type":"text","text":{"body":"hi"}}`).status, 200)
	is.Equal(waiting(), 0) // answered, once it is accepted
	got := f.call("GET", today, "").body
	is.True(strings.Contains(got, `"totals":{"opened":1,"resolved":0,"replied":1,"messages_in":2,"messages_out":1,`))

	conversation := f.call("GET", "/100200300/conversations", "").ids()[0]
	u := f.user(f.tenant, "Ada")
	is.Equal(f.call("PATCH", "/100200300/conversations/"+conversation, `{"assigned_to":"`+u.ID+`"}`).status, 200)
	is.True(strings.Contains(f.call("GET", today+"?group_by=user", "").body, `"groups":[{"group":"`+u.ID+`","opened":1,`)) // now
	is.Equal(f.call("PATCH", "/100200300/conversations/"+conversation, `{"status":"resolved"}`).status, 200)
	is.Equal(f.call("PATCH", "/100200300/conversations/"+conversation, `{"assigned_to":null}`).status, 200)
	is.True(strings.Contains(f.call("GET", today+"?group_by=user", "").body, `"groups":[{"group":"`+u.ID+`","opened":1,"resolved":1,`)) // at its end
	hear()
	got = f.call("GET", today+"?group_by=user", "").body
	is.True(strings.Contains(got, `{"group":null,"opened":1,"resolved":0,"replied":0,"messages_in":1,"messages_out":0,`))
	is.True(strings.Contains(got, `"totals":{"opened":2,"resolved":1,"replied":1,"messages_in":3,"messages_out":1,`))

	file := f.call("GET", today+".csv", "")
	is.Equal(file.header.Get("Content-Type"), "text/csv; charset=utf-8")
	lines := strings.Split(file.body, "\n")
	is.Equal(lines[0], "conversation_id,contact_id,number,opened_at,first_reply_at,first_reply_by,resolved_at,resolved_by,assignee,labels,messages_in,messages_out")
	is.Equal(len(lines), 4)
	cells := strings.Split(lines[1], ",")
	is.Equal([]string{cells[0], cells[1], cells[2], cells[5], cells[7], cells[8], cells[10], cells[11]},
		[]string{conversation, c.ID, "100200300", "api", "api", u.ID, "2", "1"})
	is.Equal(strings.Split(lines[2], ",")[6], "") // it lasts
	is.Equal(storagetest.Select[string](t, f.dir, `SELECT target_id FROM audit WHERE action = 'report.exported'`), []string{f.tenant.Organization.PublicID})

	is.Equal(f.call("DELETE", "/100200300/contacts/"+c.ID, "").status, 200)
	is.True(strings.Contains(f.call("GET", today, "").body, `"totals":{"opened":2,"resolved":1,"replied":1,"messages_in":3,"messages_out":1,`))
	blank := f.call("GET", today+".csv", "").body
	is.True(!strings.Contains(blank, conversation))
	is.True(!strings.Contains(blank, c.ID))
}

func TestConversationsOfOthersAreNotCounted(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	theirs := storagetest.Connect(t, f.db, storagetest.Seed(t, f.db, "Other"), "400500600")
	f.spell(theirs.ID, "2026-11-15T00:00:00Z", 1, 1, nil, "", 1, 1)
	is.True(strings.Contains(f.call("GET", spells, "").body, `"groups":[],"totals":{"opened":0,`))
	is.Equal(strings.Count(f.call("GET", strings.Replace(spells, "?", ".csv?", 1), "").body, "\n"), 1)
}

func TestDaysOfReportsOnConversationsAreChecked(t *testing.T) {
	f := serve(t)
	for query, want := range map[string]string{
		"?from=2026-11-31":               "400 invalid_field_value from",
		"?from=2025-11-01&to=2026-11-02": "400 invalid_field_value from",
		"?from=2026-11-02&to=2026-11-01": "400 invalid_field_value to",
		"?group_by=week":                 "400 invalid_field_value group_by",
		"?timezone=Mars/Olympus":         "400 invalid_field_value timezone",
		"?timezone=Local":                "400 invalid_field_value timezone",
		"?timezone=":                     "400 invalid_field_value timezone",
		"?timezone=../../etc/passwd":     "400 invalid_field_value timezone",
	} {
		if got := f.call("GET", "/reports/conversations"+query, ""); !strings.HasPrefix(got.code(), want) {
			t.Errorf("%s: %s", query, got.code())
		}
	}
}

// TestAMillionSpells… counts them all.
func TestAReportOverMoreThanAMillionIsRefused(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	account := storagetest.Connect(t, f.db, f.tenant, "100200300").ID
	f.spell(account, "2026-11-15T00:00:00Z", 1, 1, nil, "", 1, 1)
	f.spell(account, "2026-11-16T00:00:00Z", 1, 1, nil, "", 1, 1)
	day := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	days := reportDays{first: day, last: day.AddDate(0, 0, 1), zone: time.UTC}
	for before, want := range map[int64]string{maxReportSpells - 2: "", maxReportSpells - 1: "from"} {
		c := conversationReport{groupBy: "none", zone: time.UTC, sums: make(map[string]*spellSum), total: spellSum{opened: before}}
		storagetest.View(t, f.db, func(rx *storage.Rx) error {
			err := c.read(rx, []storage.AccountKey{{ID: account}}, days, storage.SpellsTogether)
			is.Equal(err != nil, want != "")
			if err != nil {
				is.Equal(rest.AsError(err).Param, want)
			}
			return nil
		})
	}
}

// A million spells are counted within a second, and one more is refused. It is run by hand:
// CONFAB_MILLION=1 GOGC=400 go test ./app/api -run AMillion -v
func TestAMillionSpellsAreCountedInASecond(t *testing.T) {
	if os.Getenv("CONFAB_MILLION") == "" {
		t.Skip("it fills a table with a million rows")
	}
	f := serve(t)
	account := storagetest.Connect(t, f.db, f.tenant, "100200300").ID
	storagetest.Exec(t, f.dir, `
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000), x AS MATERIALIZED (SELECT 1767225600000 + i * 25000 AS o, i FROM n)
		INSERT INTO spells (account_id, opened_at, number, conversation_id, inbound_at, replied_at, replied_by, resolved_at, resolved_by, assignee_id, labels, messages_in, messages_out)
		SELECT ?, o, random(), 'cnv_01ARZ3NDEKTSV4RRFFQ' || (1000000 + i % 100000), o, o + abs(random()) % 3600000, '01ARZ3NDEKTSV4RRFFQ0000000' || (i % 9),
			o + abs(random()) % 36000000, '01ARZ3NDEKTSV4RRFFQ0000000' || (i % 9), '01ARZ3NDEKTSV4RRFFQ0000000' || (i % 9), 'lbl_01ARZ3NDEKTSV4RRFFQ000000' || (i % 5), 5, 6
		FROM x`, account)
	storagetest.Exec(t, f.dir, `PRAGMA wal_checkpoint(TRUNCATE)`) // a log of that length is none that a server has
	f.call("GET", "/labels", "")                                  // the first answer of all is held against openapi.json, which is compiled for it
	for _, by := range []string{"none", "day", "hour", "user", "label", "number"} {
		took := time.Hour
		for range 3 { // others use the machine, and its caches: the least is what it takes
			began := processorTime(t)
			got := f.call("GET", "/reports/conversations?from=2026-01-01&to=2026-12-31&group_by="+by, "")
			took = min(took, processorTime(t)-began)
			var report struct{ Data struct{ Totals spellsView } }
			if err := json.Unmarshal([]byte(got.body), &report); err != nil || report.Data.Totals.Opened != 1_000_000 {
				t.Fatal(err, got.body[:min(300, len(got.body))])
			}
		}
		fmt.Println(by, took)
		if took > time.Second {
			t.Errorf("%s took %v", by, took)
		}
	}
	f.spell(account, "2026-12-30T00:00:00Z", 1, 1, nil, "", 1, 1)
	if got := f.call("GET", "/reports/conversations?from=2026-01-01&to=2026-12-31", ""); got.code() != "400 invalid_field_value from" {
		t.Error(got.code())
	}
}
