package rules_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/jobs/rules"
	"confab/storage"
)

func hours(t *testing.T, text string) *storage.Hours {
	t.Helper()
	h := new(storage.Hours)
	if err := h.Scan(text); err != nil {
		t.Fatal(err)
	}
	return h
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

// The clock on the wall decides, on days of 23 and of 25 hours too, and a holiday has hours of
// its own.
func TestHoursFollowTheClockOnTheWall(t *testing.T) {
	const madrid = `{"timezone":"Europe/Madrid","weekly":{"mon":[["09:00","12:30"],["14:00","24:00"]],"sun":[["02:00","03:00"]]},
		"holidays":[{"date":"2026-12-25"},{"date":"2026-12-28","spans":[["10:00","11:00"]]}]}`
	h := hours(t, madrid)
	for moment, open := range map[string]bool{
		"2026-11-16T08:00:00Z": true,  // a Monday at nine
		"2026-11-16T07:59:59Z": false, // before
		"2026-11-16T11:29:59Z": true,
		"2026-11-16T11:30:00Z": false, // the end is not in it
		"2026-11-16T22:59:59Z": true,  // up to midnight
		"2026-11-16T23:00:00Z": false, // Tuesday
		"2026-06-15T07:00:00Z": true,  // nine in summer
		"2026-10-25T00:30:00Z": true,  // 02:30 for the first time that night
		"2026-10-25T01:30:00Z": true,  // and once more
		"2026-10-25T02:00:00Z": false,
		"2026-03-29T00:59:59Z": false, // 01:59:59, and then 03:00: the span is left out
		"2026-03-29T01:00:00Z": false,
		"2026-12-28T08:30:00Z": false, // a Monday that is a holiday
		"2026-12-28T09:30:00Z": true,
	} {
		if got := rules.Open(h, at(t, moment)); got != open {
			t.Errorf("%s: open is %t", moment, got)
		}
	}
}

func TestTheNextChangeIsFound(t *testing.T) {
	is := is.New(t)
	h := hours(t, `{"timezone":"Europe/Madrid","weekly":{"sun":[["01:00","02:30"]],"mon":[["09:00","24:00"]],"tue":[["00:00","10:00"]]}}`)
	next := func(moment string) string { return rules.NextChange(h, at(t, moment)).UTC().Format(time.RFC3339) }

	is.Equal(next("2026-11-16T08:30:00Z"), "2026-11-17T09:00:00Z") // no change at midnight, where both days are open
	is.Equal(next("2026-11-17T09:00:00Z"), "2026-11-22T00:00:00Z") // Sunday at one
	is.Equal(next("2026-10-25T00:00:00Z"), "2026-10-25T00:30:00Z") // 02:30 comes twice: it closes,
	is.Equal(next("2026-10-25T00:30:00Z"), "2026-10-25T01:00:00Z") // opens as the clock goes back,
	is.Equal(next("2026-10-25T01:00:00Z"), "2026-10-25T01:30:00Z") // and closes
	is.Equal(next("2026-03-29T00:30:00Z"), "2026-03-29T01:00:00Z") // the clock leaps over 02:30

	// A change of the clock comes no earlier than what changes before it.
	h = hours(t, `{"timezone":"Europe/Madrid","weekly":{"sat":[["00:00","24:00"]],"sun":[["00:00","24:00"]]}}`)
	is.Equal(next("2026-10-23T10:00:00Z"), "2026-10-23T22:00:00Z") // from Friday noon: midnight
	is.Equal(next("2026-10-24T10:00:00Z"), "2026-10-25T23:00:00Z") // 49 hours of weekend, in October,
	is.Equal(next("2026-03-28T10:00:00Z"), "2026-03-29T22:00:00Z") // and 47 in March
	h = hours(t, `{"timezone":"Africa/Cairo","weekly":{"fri":[["00:00","24:00"]]}}`)
	is.Equal(next("2026-04-23T12:00:00Z"), "2026-04-23T22:00:00Z") // a Friday that begins at one o'clock

	always := hours(t, `{"timezone":"UTC"}`)
	is.True(rules.Open(always, time.Now()))
	is.True(rules.NextChange(always, time.Now()).IsZero())
	is.True(rules.Open(nil, time.Now()))
}

func TestTheWholeTextMustBeTheWord(t *testing.T) {
	words := rules.DefaultOptOut()
	words.Enabled = new(true)
	words.Stop = append(words.Stop, "İPTAL", "🛑", "Désabonner")
	for text, want := range map[string]string{
		"STOP": rules.Stop, " stop! ": rules.Stop, "Stop...": rules.Stop, "stop it": "", "unstop": "", "": "", "!": "",
		"الغاء": rules.Stop, "إلغاء؟": rules.Stop, "إِلْغَاء": rules.Stop, "إلغـــاء": rules.Stop,
		"iptal": rules.Stop, "IPTAL": rules.Stop, "ıptal": rules.Stop, "desabonner.": rules.Stop, "🛑": rules.Stop, "🛑️": rules.Stop,
		"arrêt": rules.Stop, "start": rules.Start, "Alta.": rules.Start, "اشتراك": rules.Start,
	} {
		if got := rules.Meaning(&words, text); got != want {
			t.Errorf("%q means %q", text, got)
		}
	}
	words.Enabled = new(false)
	if rules.Meaning(&words, "STOP") != "" || rules.Meaning(nil, "STOP") != "" {
		t.Error("words that are switched off mean something")
	}
}

func TestConditionsOnTextIgnoreCaseAndAccents(t *testing.T) {
	for _, c := range []struct {
		match, word, text string
		want              bool
	}{
		{"contains", "refund", "I want a REFUND, please", true},
		{"contains", "fund", "I want a refund", false}, // only whole words
		{"contains", "refund", "refunds or refund?", true},
		{"contains", "money back", "My money  back!", true},
		{"contains", "cafe", "un café por favor", true},
		{"contains", "👋", "hi👋you", true},
		{"contains", "a a a", "ba a a a", true},
		{"contains", "退款", "我要退款", true}, // a script without spaces
		{"contains", "คืนเงิน", "ขอคืนเงินครับ", true},
		{"contains", "\u200d", "hi", false}, // nothing is no word
		{"starts_with", "\u0301", "hi", false},
		{"equals", "ـ", "", false},
		{"equals", "hola", "¡Hola", false},
		{"equals", "hola", "HOLA!", true},
		{"equals", "hola", "hola amigo", false},
		{"starts_with", "order", "Order 12", true},
		{"starts_with", "order", "my order", false},
	} {
		r := storage.Rule{On: storage.OnMessageReceived}
		r.If.Text = &storage.RuleText{Match: &c.match, Any: []string{"nothing else", c.word}}
		f := rules.Facts{On: []string{storage.OnMessageReceived}, Text: rules.Fold(c.text)}
		if got := rules.UnmetByMessage(r, f) == ""; got != c.want {
			t.Errorf("%s %q in %q: %t", c.match, c.word, c.text, got)
		}
	}
}
