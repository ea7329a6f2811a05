package callback

import (
	"encoding/json"
	"maps"

	"confab/jobs/provider"
)

// object is a JSON object whose members are left as they came.
type object map[string]json.RawMessage

// with is a copy that has one item in the place of a member.
func (o object) with(key string, item object) (object, error) {
	raw, err := json.Marshal([]object{item})
	copied := maps.Clone(o)
	copied[key] = raw
	return copied, err
}

// list reads a member that is a list of objects.
func (o object) list(key string) (all []object, err error) {
	if raw, ok := o[key]; ok {
		err = json.Unmarshal(raw, &all)
	}
	return all, err
}

// frame is what a callback says around its items, from the outside in.
type frame struct {
	callback, entry, change, value object

	field string
	// people are whom the items are about.
	people []provider.Profile
	words  []json.RawMessage // for people, as they came
}

// frames reads the frames of all changes of a callback, in their order.
func frames(body []byte) (all []frame, err error) {
	var callback object
	if err := json.Unmarshal(body, &callback); err != nil {
		return nil, err
	}
	entries, err := callback.list("entry")
	for _, entry := range entries {
		var changes []object
		if changes, err = entry.list("changes"); err != nil {
			break
		}
		for _, change := range changes {
			all = append(all, frame{callback: callback, entry: entry, change: change})
		}
	}
	return all, err
}

// around completes the frame with the value, which has been read.
func (f frame) around(change provider.Change, value provider.Value) (frame, error) {
	f.field = change.Field
	if err := json.Unmarshal(change.Value, &f.value); err != nil {
		return f, err
	}
	for _, other := range []string{"messages", "errors"} { // kept apart: see takeChange
		delete(f.value, other)
	}
	for _, raw := range value.Contacts {
		if who, err := provider.Read[provider.Profile](raw); err == nil {
			f.people, f.words = append(f.people, who), append(f.words, raw)
		}
	}
	return f, nil
}

// narrow makes the envelope of one status out of the callback that held it: in
// our own dialect, unknown keys kept, our id and other people removed.
func (f frame) narrow(status provider.Status, raw json.RawMessage) ([]byte, error) {
	var item object
	if err := json.Unmarshal(raw, &item); err != nil {
		return nil, err
	}
	delete(item, "biz_opaque_callback_data")
	value, err := f.value.with("statuses", item)
	if err != nil {
		return nil, err
	}
	if len(f.people) > 0 {
		if value["contacts"], err = json.Marshal(f.recipients(status)); err != nil {
			return nil, err
		}
	}
	change := maps.Clone(f.change)
	if change["value"], err = json.Marshal(value); err != nil {
		return nil, err
	}
	entry, err := f.entry.with("changes", change)
	if err != nil {
		return nil, err
	}
	callback, err := f.callback.with("entry", entry)
	if err != nil {
		return nil, err
	}
	envelope, err := json.Marshal(callback)
	if err != nil {
		return nil, err
	}
	return provider.FromProvider(envelope)
}

// recipients are the people whom a status is about.
func (f frame) recipients(status provider.Status) []json.RawMessage {
	found := []json.RawMessage{}
	for i, who := range f.people {
		if who.WaID != "" && who.WaID == status.RecipientID || who.UserID != "" && who.UserID == status.RecipientUserID {
			found = append(found, f.words[i])
		}
	}
	return found
}
