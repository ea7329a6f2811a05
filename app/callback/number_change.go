package callback

import (
	"encoding/json"
	"errors"
	"strings"

	"confab/jobs/provider"
	"confab/storage"
)

// isMessageID reports whether a text can be the id of a message. Webhook
// deliveries have the id in a header, so that it must be printable ASCII.
func isMessageID(text string) bool {
	invalid := func(c rune) bool { return c < ' ' || c > '~' }
	return text != "" && len(text) <= 512 && !strings.ContainsFunc(text, invalid)
}

// numberChange is a change of a phone number, with its value decoded. All items
// of the value share the number and the people.
type numberChange struct {
	provider.CallbackChange
	value  provider.Value
	number string // the phone number id

	people    []provider.Profile // whom the items are about
	rawPeople []json.RawMessage  // the same, as they came
}

// readNumberChange decodes the value of a change. A person who cannot be read is
// left out.
func readNumberChange(n provider.CallbackChange) (f numberChange, err error) {
	f.CallbackChange = n
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

// item is one item of the change, as it is kept if it cannot be applied.
func (f numberChange) item(raw json.RawMessage) item {
	return item{provider.Change{Field: f.Field, Value: raw}, f.number, f.WABA}
}

// prepareEach returns the pieces of a change whose items are all of one kind, in a list.
func (s *Server) prepareEach(
	n provider.CallbackChange, list string, items func(numberChange) []json.RawMessage, prepare func(numberChange, json.RawMessage) step,
) (all []piece) {
	f, err := readNumberChange(n)
	if err != nil || len(items(f)) == 0 {
		return s.keepChange(n, "unreadable")
	}

	for i, raw := range items(f) {
		all = append(all, piece{item: f.item(raw), apply: prepare(f, raw), at: provider.Place{List: list, Index: i}})
	}
	return all
}

// onAccount returns the step that applies an item to the account of its number. An item of
// a number that is not connected here is kept.
func (s *Server) onAccount(f numberChange, raw json.RawMessage, apply func(*storage.Tx, storage.Account) error) step {
	return func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(f.number)
		if errors.Is(err, storage.ErrNotFound) {
			return s.keepRaw(f.item(raw), "unknown number")(tx)
		}
		if err != nil {
			return err
		}
		return apply(tx, a)
	}
}

// findPeople finds the people with a number or a BSUID, decoded and as they came.
func (f numberChange) findPeople(phone, bsuid string) (people []provider.Profile, raw []json.RawMessage) {
	for i, who := range f.people {
		if who.WaID != "" && who.WaID == phone || who.UserID != "" && who.UserID == bsuid {
			people, raw = append(people, who), append(raw, f.rawPeople[i])
		}
	}
	return people, raw
}
