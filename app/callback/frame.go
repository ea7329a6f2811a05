package callback

import (
	"encoding/json"
	"strings"

	"confab/jobs/provider"
)

// isMessageID tells whether a text can be the id of a message. Events carry it in
// a header, where not every text can stand.
func isMessageID(text string) bool {
	odd := func(c rune) bool { return c < ' ' || c > '~' }
	return text != "" && len(text) <= 512 && !strings.ContainsFunc(text, odd)
}

// numberChange is a change whose value has been read: what its items have in common.
type numberChange struct {
	provider.News
	value  provider.Value
	number string // the phone number id

	people    []provider.Profile // whom the items are about
	rawPeople []json.RawMessage  // the same, as they came
}

// readNumberChange reads the value of a change.
func readNumberChange(n provider.News) (f numberChange, err error) {
	f.News = n
	if f.value, err = provider.Read[provider.Value](n.Value); err != nil {
		return f, err
	}
	f.number = string(f.value.Metadata.PhoneNumberID)
	for _, raw := range f.value.Contacts {
		if who, err := provider.Read[provider.Profile](raw); err == nil {
			f.people, f.rawPeople = append(f.people, who), append(f.rawPeople, raw)
		}
	}
	return f, nil
}

// item is one item of the change, alone.
func (f numberChange) item(raw json.RawMessage) item {
	return item{provider.Change{Field: f.Field, Value: raw}, f.number, f.WABA}
}

// findPeople finds the people with a number or an id.
func (f numberChange) findPeople(phone, bsuid string) (people []provider.Profile, words []json.RawMessage) {
	for i, who := range f.people {
		if who.WaID != "" && who.WaID == phone || who.UserID != "" && who.UserID == bsuid {
			people, words = append(people, who), append(words, f.rawPeople[i])
		}
	}
	return people, words
}
