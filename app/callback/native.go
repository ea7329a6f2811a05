package callback

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"confab/jobs/provider"
	"confab/storage"
)

// Native webhooks receive callbacks in the provider's own words: the envelope as it came, without
// the changes that are not theirs and without repeats. It is written in the transaction that
// applies its items, so that each of them goes out once, after a crash too.

// forward stores the envelope of items that were new, for the native webhooks that want it.
func forward(tx *storage.Tx, fresh []piece) error {
	if len(fresh) == 0 || fresh[0].from == nil {
		return nil
	}

	e := nativeEnvelope{sourceCallback: fresh[0].from, parts: make(map[int]*provider.Narrowing), owners: make(map[int][]storage.Account)}
	for _, p := range fresh {
		if err := e.add(tx, p); err != nil {
			return err
		}
	}
	for _, organization := range e.organizations {
		if err := e.send(tx, organization); err != nil {
			return err
		}
	}
	return nil
}

// nativeEnvelope is what native webhooks get of a callback.
type nativeEnvelope struct {
	*sourceCallback
	parts         map[int]*provider.Narrowing // the changes that have something new
	owners        map[int][]storage.Account   // whom they concern
	organizations []int64                     // of those
}

// add adds an item, with the change that it is of.
func (e *nativeEnvelope) add(tx *storage.Tx, p piece) error {
	part := e.parts[p.change]
	if part == nil {
		owners, err := ownersOf(tx, p)
		if err != nil || len(owners) == 0 {
			return err
		}

		part = &provider.Narrowing{Without: maps.Clone(e.items[p.change]), Tags: make(map[provider.Place]*string)}
		e.parts[p.change] = part
		e.owners[p.change] = owners
		for _, a := range owners {
			if !slices.Contains(e.organizations, a.OrganizationID) {
				e.organizations = append(e.organizations, a.OrganizationID)
			}
		}
	}

	delete(part.Without, p.at)
	for at, status := range p.statuses() {
		tag, isOurs, err := clientTag(tx, e.owners[p.change][0], status)
		if err != nil {
			return err
		}
		if isOurs {
			part.Tags[at] = tag
		}
	}
	return nil
}

// statuses are the statuses in a piece, which is one or a whole change.
func (p piece) statuses() map[provider.Place]json.RawMessage {
	const list = "statuses"
	found := make(map[provider.Place]json.RawMessage)
	switch p.at.List {
	case list:
		found[p.at] = p.Value
	case "":
		var all []json.RawMessage
		_ = json.Unmarshal(provider.GetMember(p.Value, list), &all) // none if it is no list
		for i, status := range all {
			found[provider.Place{List: list, Index: i}] = status
		}
	}
	return found
}

// ownersOf are the accounts that a change concerns: that of its number, or all of its business
// account if it names none.
func ownersOf(tx *storage.Tx, p piece) ([]storage.Account, error) {
	number := wholeChange(p.from.changes[p.change]).number
	if number == "" {
		return tx.AccountsOfWABA(p.from.changes[p.change].WABA)
	}
	a, err := tx.AccountByNumber(number)
	if err != nil {
		return nil, storage.IgnoreNotFound(err)
	}
	return []storage.Account{a}, nil
}

// clientTag is what a status shows in the place of a tag of ours: what the client of the gateway
// wrote, or nil. A tag that is not ours is its sender's own and stays.
func clientTag(tx *storage.Tx, a storage.Account, status json.RawMessage) (tag *string, isOurs bool, err error) {
	var given string
	raw := provider.GetMember(status, provider.TagMember)
	if raw == nil || json.Unmarshal(raw, &given) != nil || !storage.ValidID(storage.PrefixMessage, given) {
		return nil, false, nil
	}

	send, err := tx.GatewaySend(a.ID, given)
	if err != nil {
		return nil, true, storage.IgnoreNotFound(err)
	}
	return send.Tag, true, nil
}

// send stores the envelope for the native webhooks of an organization. Those that want the same
// of it get the same.
func (e *nativeEnvelope) send(tx *storage.Tx, organization int64) error {
	subscribers, err := tx.NativeSubscribers(organization)
	if err != nil {
		return err
	}

	for len(subscribers) > 0 {
		changes := e.wantedBy(subscribers[0], organization)
		var same, others []storage.NativeSubscriber
		for _, s := range subscribers {
			if slices.Equal(e.wantedBy(s, organization), changes) {
				same = append(same, s)
			} else {
				others = append(others, s)
			}
		}

		if len(changes) > 0 {
			if err := e.store(tx, organization, changes, same); err != nil {
				return err
			}
		}
		subscribers = others
	}
	return nil
}

// wantedBy are the changes that a subscription of an organization wants.
func (e *nativeEnvelope) wantedBy(s storage.NativeSubscriber, organization int64) (changes []int) {
	for i, n := range e.changes {
		isWanted := slices.ContainsFunc(e.owners[i], func(a storage.Account) bool {
			return a.OrganizationID == organization && s.Wants(n.Field, storage.OrEmpty(a.PhoneNumberID))
		})
		if isWanted {
			changes = append(changes, i)
		}
	}
	return changes
}

// store stores the envelope with some of the changes. It belongs to the first account that it is
// about.
func (e *nativeEnvelope) store(tx *storage.Tx, organization int64, changes []int, to []storage.NativeSubscriber) error {
	payload := provider.Narrow(e.text, e.changes, func(i int) *provider.Narrowing {
		if !slices.Contains(changes, i) {
			return nil
		}
		return e.parts[i]
	})
	if payload == nil {
		return nil
	}

	first := changes[0]
	owner := e.owners[first][slices.IndexFunc(e.owners[first], func(a storage.Account) bool { return a.OrganizationID == organization })]
	id := tx.NewID(storage.PrefixEvent)
	return tx.InsertEnvelope(storage.Event{
		ID: id, EventID: id, OrganizationID: organization, AccountID: &owner.ID,
		Type: fieldName(e.changes[first].Field), Source: "provider", Payload: payload,
	}, to)
}

// fieldName is the name of a field as a header can carry it.
func fieldName(field string) string {
	strange := func(c rune) bool { return (c < 'a' || c > 'z') && c != '_' }
	if field == "" || len(field) > 64 || strings.ContainsFunc(field, strange) {
		return "unknown"
	}
	return field
}
