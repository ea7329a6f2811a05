package callback

import (
	"encoding/json"
	"errors"
	"time"

	"confab/jobs"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/storage"
)

// maxLoggedText bounds what a callback can write into the log, in characters.
const maxLoggedText = 200

// prepareMessages reads a change with the field messages: messages from people,
// and the statuses of messages that we sent.
func (s *Server) prepareMessages(n provider.CallbackChange) (all []piece) {
	f, err := readNumberChange(n)
	if err != nil {
		return s.keepChange(n, "unreadable")
	}

	for i, raw := range f.value.Statuses {
		all = append(all, piece{item: f.item(raw), apply: s.prepareStatus(f, raw), at: provider.Place{List: "statuses", Index: i}})
	}
	for i, raw := range f.value.Messages {
		prepared := s.prepareMessage(f, raw, storage.Inbound)
		all = append(all, piece{item: f.item(raw), apply: prepared, at: provider.Place{List: "messages", Index: i}})
	}

	if len(f.value.Errors) > 0 {
		first := f.value.Errors[0]
		s.Log.Warn("the provider reported an error",
			"phone_number_id", f.number, "code", first.Code, "message", messaging.Truncate(first.Message, maxLoggedText))
		all = append(all, s.keepChange(n, "reported error")...)
	}

	if len(all) == 0 {
		return s.keepChange(n, "not handled")
	}
	return all
}

// prepareMessage reads one message from a person, or an echo: one that the business sent
// from its phone.
func (s *Server) prepareMessage(f numberChange, raw json.RawMessage, direction string) step {
	m, err := provider.Read[provider.Message](raw)
	if err != nil || !isMessageID(m.ID) {
		return s.keepRaw(f.item(raw), "unreadable message")
	}

	switch {
	case m.Type == "edit":
		return s.prepareEdit(f, m, raw, direction)
	case m.Type == "revoke":
		return s.prepareRevoke(f, m, raw, direction)
	case direction == storage.Outbound:
		return s.prepareEcho(f, m, raw)
	case m.Type == "system":
		return s.prepareSystem(f, m, raw)
	}

	in, reason := readIncoming(f, m, raw)
	if reason != "" {
		return s.keepRaw(f.item(raw), reason)
	}
	return s.onAccount(f, raw, func(tx *storage.Tx, a storage.Account) error { return s.storeReceived(tx, a, in) })
}

// incoming is a message from a person, or an echo of one to a person, ready to be
// stored.
type incoming struct {
	provider.Message
	content
	context  json.RawMessage
	person   messaging.Person // the sender, or the recipient of an echo
	envelope []byte           // the callback with this message only, for the event; nil of an echo
}

// readIncoming reads everything about a message that is needed to store it, or
// returns the reason why it cannot be stored.
func readIncoming(f numberChange, m provider.Message, raw json.RawMessage) (in incoming, reason string) {
	in = incoming{Message: m, context: readContext(m, raw)}

	profiles, people := f.findPeople(m.From, m.FromUserID)
	if m.From == "" && m.FromUserID == "" && len(f.people) == 1 {
		profiles, people = f.people, f.rawPeople // the only person must be the sender
	}

	in.person = messaging.NewPerson(m.From, m.FromUserID, m.FromParentUserID).WithProfiles(profiles)
	in.person.Wrote = true
	if in.person.IsUnknown() {
		return in, "unknown sender"
	}

	if m.Type == "contacts" && in.person.Phone == "" {
		in.person.Phone = ownNumber(raw)
	}

	var err error
	if in.content, err = readContent(raw, m.Type); err != nil {
		return in, "unreadable message"
	}
	in.fileLost = in.fileLost || in.fileID != "" && isFileUnavailable(m)

	// The event shows the same content as the API.
	if in.completed {
		raw = provider.SetMember(raw, m.Type, in.raw)
	}
	if in.envelope = f.WithOneItem("messages", raw, people); in.envelope == nil {
		return in, "nested too deep"
	}
	return in, ""
}

// ownNumber is the number of the sender, whom we asked for it, in a message with contact
// cards; "" if there is none.
func ownNumber(raw json.RawMessage) string {
	cards, err := provider.Read[provider.List[provider.ContactCard]](provider.GetMember(raw, "contacts"))
	if err != nil {
		return ""
	}

	for _, card := range cards {
		if number := card.OwnNumber(); number != "" {
			return number
		}
	}
	return ""
}

// storeReceived stores a message, unless it is a duplicate, with the contact and
// the conversation that it needs, and publishes the event.
func (s *Server) storeReceived(tx *storage.Tx, a storage.Account, in incoming) error {
	found, err := in.person.FindContacts(tx, a.ID)
	if err != nil {
		return err
	}

	// A duplicate must not change the contact: before a change we look whether the
	// message is stored. Without a change the failing insert below shows as much,
	// and the query is saved.
	if !in.person.IsUpToDate(found) {
		if again, err := tx.MessageByProviderID(a.ID, in.ID); !errors.Is(err, storage.ErrNotFound) {
			return s.handleDuplicate(tx, a, again, in, err)
		}
	}

	t, err := messaging.EnsureContact(tx, a, in.person, found, eventTime(in.Timestamp, tx.Now))
	if err != nil {
		return err
	}

	m := in.row(a, t, tx.Now)
	err = tx.InsertMessage(&m)
	if errors.Is(err, storage.ErrConflict) {
		again, err := tx.MessageByProviderID(a.ID, in.ID)
		return s.handleDuplicate(tx, a, again, in, err)
	}
	if err != nil {
		return err
	}

	asked, err := jobs.NewReceivedCase(tx, a, t, m)
	if err != nil {
		return err
	}
	if err := markReceived(tx, a, &t, m, eventTime(in.Timestamp, tx.Now)); err != nil {
		return err
	}

	if err := s.publishOrFetch(tx, a, t, m, in); err != nil {
		return err
	}
	if err := asked.Apply(tx); err != nil {
		return err
	}
	return messaging.ApplyParkedCallbacks(tx, a, &m)
}

// markReceived records in the conversation that the person wrote or reacted at a time. What they
// wrote is for somebody of the team, who is notified.
func markReceived(tx *storage.Tx, a storage.Account, t *storage.Thread, m storage.Message, at storage.Time) error {
	if m.Type == "reaction" {
		return tx.MarkReactionReceived(*t, at)
	}

	if err := tx.MarkMessageReceived(t, at); err != nil {
		return err
	}
	if err := messaging.AssignByTurn(tx, a, t); err != nil {
		return err
	}
	return jobs.EnqueueNotify(tx, a.OrganizationID, jobs.Notice{
		AboutAccount: storage.AboutAccount{Account: a.ID},
		Conversation: t.ConversationID,
		Message:      m.ID,
	})
}

// row is the message as it is stored.
func (in incoming) row(a storage.Account, t storage.Thread, now storage.Time) storage.Message {
	m := storage.Message{
		AccountID:      a.ID,
		ConversationID: t.ConversationID,
		ContactID:      t.ID,
		Direction:      storage.Inbound,
		Status:         storage.MessageDelivered,
		Source:         storage.SourceApp,
		ProviderID:     &in.ID,
		PhoneNumber:    t.PhoneNumber,
		SentAt:         messaging.ReportedTime(in.Timestamp, now),
	}
	in.setContent(&m)
	return m
}

// setContent sets the columns of a message that hold its content.
func (in incoming) setContent(m *storage.Message) {
	m.Type, m.Content, m.Body, m.Context = in.kind, storage.JSON(in.raw), in.body, storage.JSON(in.context)
	m.MediaStatus = in.mediaStatus()
}

// mediaStatus is the state of the file of a message that has just arrived, nil if
// it has none.
func (c content) mediaStatus() *string {
	switch {
	case c.fileLost:
		return new(storage.MediaFailed)
	case c.fileID != "":
		return new(storage.MediaFetching)
	}
	return nil
}

// publishOrFetch publishes the event of a message: now, or when its file has been
// downloaded.
func (s *Server) publishOrFetch(tx *storage.Tx, a storage.Account, t storage.Thread, m storage.Message, in incoming) error {
	if in.fileID != "" && s.Gateway {
		if err := tx.InsertGatewayMedia(a.ID, in.fileID); err != nil {
			return err
		}
	}

	switch {
	case in.fileID != "" && !in.fileLost:
		return jobs.EnqueueMediaFetch(tx, m, in.fileID, in.envelope)
	case m.Direction == storage.Inbound:
		return s.Publisher.EmitReceived(tx, a, t, m, in.envelope)
	}

	m.ContactPhone, m.ContactBSUID, m.ContactName = t.PhoneNumber, t.BSUID, t.Name
	m.AccountPhone, m.ConversationStatus = a.PhoneNumber, t.Status
	return s.Publisher.EmitSent(tx, a, m)
}

// handleDuplicate handles a message that is stored already. Nothing is done,
// unless the provider sent it as unsupported the first time and sends the content
// now. The err is that of the query for m.
func (s *Server) handleDuplicate(tx *storage.Tx, a storage.Account, m storage.Message, in incoming, err error) error {
	switch {
	case err != nil:
		return err
	case m.Direction != storage.Inbound || m.Type != "unsupported" || in.kind == "unsupported":
		return messaging.ErrRepeat
	}

	in.setContent(&m)
	if err := tx.UpgradeMessage(&m); err != nil {
		return err
	}

	t, err := tx.Thread(a.ID, m.ContactID)
	if err != nil {
		return err
	}
	if err := s.publishOrFetch(tx, a, t, m, in); err != nil {
		return err
	}
	asked, err := jobs.NewReceivedCase(tx, a, t, m) // what it says is known only now
	if err != nil {
		return err
	}
	return asked.Apply(tx)
}

// eventTime is the time of something that the provider reports now. Its
// timestamps are in whole seconds: one less than a minute old is taken to
// have happened now.
func eventTime(seconds provider.Int, now storage.Time) storage.Time {
	at := messaging.ReportedTime(seconds, now)
	if at > now || now.Sub(at) < time.Minute {
		return now
	}
	return at
}
