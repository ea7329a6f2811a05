package api

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/mergefield"
	"confab/jobs/provider"
	"confab/storage"
)

const (
	maxBroadcastName = 200
	// maxRecipients is how many a body may name; a file may have more.
	maxRecipients = 10_000
)

// broadcastBody is the body of POST /v1/:phone_number_id/broadcasts, or the part broadcast of
// a form that has the recipients in a file.
type broadcastBody struct {
	Name        *string         `json:"name"`
	Template    json.RawMessage `json:"template"`
	ScheduledAt *string         `json:"scheduled_at"`
	Audience    *audienceBody   `json:"audience"`

	rest.Timed
	allowHTTP content.PlainHTTP // links need not be https; set it before decoding
	hasFile   bool              // likewise: the recipients come in a file

	template   content.TemplateBody
	content    json.RawMessage // of the template, as the provider gets it
	later      storage.Time
	contacts   []string
	recipients []storage.BroadcastRecipient
	// missingMedia is the first file that is not in the library: no fault of the body.
	missingMedia error
}

// audienceBody is whom a broadcast goes to: one of its fields. The lists are longer than any
// other, and are read by themselves.
type audienceBody struct {
	LabelID    *string         `json:"label_id"`
	ContactIDs json.RawMessage `json:"contact_ids"`
	Recipients json.RawMessage `json:"recipients"`
}

type recipientBody struct {
	To     *string         `json:"to"`
	Fields json.RawMessage `json:"fields"`
}

func (b *broadcastBody) Validate() error {
	if err := rest.Required("name", b.Name, maxBroadcastName); err != nil {
		return err
	}
	if err := rest.ReadObject("template", b.Template, &b.template); err != nil {
		return err
	}
	if err := rest.Within("template", b.template.Check(b.allowHTTP)); err != nil {
		return err
	}

	var err error
	if b.content, err = json.Marshal(&b.template); err != nil {
		return err
	}
	if err := b.validateAudience(); err != nil {
		return err
	}
	b.later, err = b.ScheduledTime(b.ScheduledAt)
	return err
}

// validateAudience reads the audience, of which exactly one sort is given.
func (b *broadcastBody) validateAudience() error {
	a := b.Audience
	if a == nil {
		a = &audienceBody{}
	}
	given := 0
	for _, is := range []bool{a.LabelID != nil, !rest.Absent(a.ContactIDs), !rest.Absent(a.Recipients)} {
		if is {
			given++
		}
	}

	switch {
	case b.hasFile && given > 0:
		return rest.Invalid("audience", "cannot be given with a file of recipients")
	case b.hasFile:
		return nil
	case b.Audience == nil:
		return rest.Missing("audience")
	case given == 0:
		return rest.Missing("audience.recipients")
	case given > 1:
		return rest.Invalid("audience", "must have one of label_id, contact_ids and recipients")
	case a.LabelID != nil:
		return checkLabelID("audience.label_id", a.LabelID)
	case !rest.Absent(a.ContactIDs):
		return rest.Within("audience", b.readContacts(a.ContactIDs))
	}
	return rest.Within("audience", b.readRecipients(a.Recipients))
}

// readList reads a list of 1 to maxRecipients items without looking into them.
func readList(name string, raw json.RawMessage) (items []json.RawMessage, err error) {
	if raw[0] != '[' {
		return nil, rest.Invalid(name, "must be an array")
	}
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, err
	}
	return items, rest.Count(name, items, maxRecipients)
}

func (b *broadcastBody) readContacts(raw json.RawMessage) error {
	items, err := readList("contact_ids", raw)
	if err != nil {
		return err
	}

	for i, item := range items {
		var id string
		if json.Unmarshal(item, &id) != nil || !storage.ValidID(storage.PrefixContact, id) {
			return rest.Invalid(rest.ItemPath("contact_ids", i), "must be the id of one of this number's contacts")
		}
		b.contacts = append(b.contacts, id)
	}
	return nil
}

// readRecipients reads numbers with their fields. Of those that repeat, the first counts.
func (b *broadcastBody) readRecipients(raw json.RawMessage) error {
	items, err := readList("recipients", raw)
	if err != nil {
		return err
	}
	template, err := mergefield.Parse(b.content, nil)
	if err != nil {
		return err
	}

	for i, item := range items {
		r, err := readRecipient(item, template.Names())
		if err != nil {
			return rest.Within(rest.ItemPath("recipients", i), err)
		}
		b.recipients = append(b.recipients, r)
	}
	return nil
}

// readRecipient reads one recipient, with those of its fields that the template uses.
func readRecipient(item json.RawMessage, names []string) (r storage.BroadcastRecipient, err error) {
	if item[0] != '{' {
		return r, rest.Invalid("to", "must be in an object")
	}
	var in recipientBody
	if err := rest.Unmarshal(item, &in); err != nil {
		return r, err
	}

	if in.To == nil {
		return r, rest.Missing("to")
	}
	number, ok := provider.ParsePhone(*in.To)
	if !ok {
		return r, rest.ErrPhone("to")
	}
	r.PhoneNumber = &number
	if rest.Absent(in.Fields) {
		return r, nil
	}

	values := make(map[string]json.RawMessage)
	if in.Fields[0] != '{' || json.Unmarshal(in.Fields, &values) != nil {
		return r, rest.Invalid("fields", "must be an object")
	}
	kept := make(map[string]string)
	for name, raw := range values {
		text, ok := plainText(raw)
		switch {
		case !ok:
			return r, rest.Invalid("fields", "must have only strings, numbers and booleans as values")
		case !rest.Between(text, 0, mergefield.MaxText):
			return r, rest.Invalid("fields."+name, "must have at most "+strconv.Itoa(mergefield.MaxText)+" characters")
		}
		kept[name] = text
	}
	r.SetFields(kept, names)
	return r, nil
}

// plainText is a text, a number or a truth value as a text; null is an empty one.
func plainText(raw json.RawMessage) (text string, ok bool) {
	switch raw[0] {
	case '"':
		return text, json.Unmarshal(raw, &text) == nil
	case '{', '[':
		return "", false
	case 'n':
		return "", true
	}
	return string(raw), true
}

// resolve checks what a valid body names, and returns the broadcast without its recipients. of are
// the numbers that the key is bound to.
func (b *broadcastBody) resolve(rx *storage.Rx, account storage.AccountKey, of storage.Accounts) (made storage.Broadcast, err error) {
	out := content.OutgoingMessage{Type: "template", Content: b.content}
	b.template.Describe(&out)
	sender, err := rx.Sender(account.ID)
	if err != nil {
		return made, err
	}
	if err := resolveTemplate(rx, &out, sender); err != nil {
		return made, err
	}
	if err := findMedia(rx, account.TeamID, of, &out); err != nil {
		return made, err
	}
	if err := b.checkAudience(rx, account); err != nil {
		return made, err
	}
	b.missingMedia = out.MissingMedia

	made = storage.Broadcast{
		AccountID:        account.ID,
		Name:             *b.Name,
		Content:          storage.JSON(b.content),
		TemplateName:     out.Template.Name,
		TemplateLanguage: out.Template.Language,
		Body:             out.Body,
		AudienceType:     storage.AudienceRecipients,
		ScheduledAt:      b.later,
	}
	switch {
	case b.contacts != nil:
		made.AudienceType = storage.AudienceContacts
	case b.Audience != nil && b.Audience.LabelID != nil:
		made.AudienceType, made.LabelID = storage.AudienceLabel, b.Audience.LabelID
	}
	return made, nil
}

// checkAudience checks that what an audience names is there.
func (b *broadcastBody) checkAudience(rx *storage.Rx, account storage.AccountKey) error {
	switch {
	case b.Audience != nil && b.Audience.LabelID != nil:
		_, err := labelToAttach(rx, account, *b.Audience.LabelID)
		return rest.Within("audience", err)
	case b.contacts == nil:
		return nil
	}

	b.recipients = nil
	known := make(map[string]bool)
	for some := range slices.Chunk(b.contacts, contactsAtOnce) {
		found, err := rx.ContactsByID(account.ID, some)
		if err != nil {
			return err
		}
		for _, c := range found {
			known[c.ID] = false
		}
	}

	for i, id := range b.contacts {
		listed, ok := known[id]
		switch {
		case !ok:
			return rest.Invalid(rest.ItemPath("audience.contact_ids", i), "must be the id of one of this number's contacts")
		case !listed:
			known[id] = true
			b.recipients = append(b.recipients, storage.BroadcastRecipient{ContactID: &id})
		}
	}
	return nil
}

// contactsAtOnce is how many contacts are looked up in one query.
const contactsAtOnce = 500

// source are the recipients of a valid body, or of the file that came with it. It is nil
// for those of a label.
func (b *broadcastBody) source(file io.Reader) (jobs.RecipientSource, error) {
	switch {
	case file != nil:
		return NewRecipientFile(file, b.content)
	case b.recipients == nil:
		return nil, nil
	}

	left := b.recipients
	return func(limit int) ([]storage.BroadcastRecipient, error) {
		some := left[:min(limit, len(left))]
		left = left[len(some):]
		return some, nil
	}, nil
}
