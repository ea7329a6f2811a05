package simulator

import "testing"

func TestNumbersAreWrittenAsTheProviderDoes(t *testing.T) {
	for given, want := range map[string]string{
		"+1 (650) 555-1234":   "16505551234",
		"+55 11 98765-4321":   "5511987654321", // São Paulo
		"+55 11 8765-4321":    "5511987654321",
		"+55 31 98765-4321":   "553187654321", // Belo Horizonte
		"+55 31 8765-4321":    "553187654321",
		"+55 11 3765-4321":    "551137654321", // a landline
		"+55 31 3765-4321":    "553137654321",
		"+55 31 000131026":    "5531000131026", // a magic number
		"+52 55 1234 5678":    "5215512345678",
		"+52 1 55 1234 5678":  "5215512345678",
		"+54 9 11 1234-5678":  "5491112345678",
		"5511":                "5511",
		"55":                  "55",
		"52":                  "52",
		"":                    "",
		"+55 00 98765-4321":   "550087654321",
		"+55 31 1 98765-4321": "55311987654321",
	} {
		if got := waID(given); got != want {
			t.Errorf("%q is written %q, not %q", given, got, want)
		}
		if again := waID(want); again != want {
			t.Errorf("%q is written %q the second time", want, again)
		}
	}
}

// TestAPersonHasOneNumberHoweverItIsWritten writes to somebody in both forms of the
// number, who answers.
func TestAPersonHasOneNumberHoweverItIsWritten(t *testing.T) {
	for country, forms := range map[string]struct{ id, other string }{
		"Brazil": {"553187654321", "+5531987654321"},
		"Mexico": {"5215512345678", "+525512345678"},
	} {
		t.Run(country, func(t *testing.T) {
			b := newBench(t)
			for _, to := range []string{forms.other, "+" + forms.id} {
				r := b.text(to)
				id := b.sentID(r)
				b.Equal(string(r.raw), `{"messaging_product":"whatsapp","contacts":[{"input":"`+to+`","wa_id":"`+forms.id+`"}],"messages":[{"id":"`+id+`"}]}`)
				h := b.app.next()
				b.Equal(h.statusOf(t).text("recipient_id"), forms.id)
				b.Equal(h.statusOf(t).text("recipient_user_id"), bsuidFor(forms.id))
				b.Equal(asObject(h.value.list("contacts")[0]).text("wa_id"), forms.id)
			}

			for _, from := range []string{forms.other, forms.id} {
				b.sim("POST", "/inbound", object{"from": from, "type": "text", "text": object{"body": "hi"}})
				b.Equal(b.app.next().messageOf(t).text("from"), forms.id)
			}
			b.Equal(len(b.s.world.People.all), 1)
			b.True(b.s.ServiceWindowOpen(b.number.PhoneNumberID, forms.other))
			b.Equal(len(b.sim("GET", "/messages?to="+forms.id, nil).list("data")), 2)
			b.Equal(len(b.sim("GET", "/messages?to=%2B"+forms.other[1:], nil).list("data")), 2)
		})
	}
}
