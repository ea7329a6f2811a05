package jobs

import (
	"encoding/json"
	"errors"

	"confab/jobs/errorcode"
	"confab/jobs/event"
	"confab/jobs/mergefield"
	"confab/jobs/messaging"
	"confab/storage"
)

// Why a rule was disabled: what it needs is gone.
const (
	reasonLabelGone      = "label_gone"
	reasonUserGone       = "user_gone"
	reasonTemplateGone   = "template_gone"
	reasonQuickReplyGone = "quick_reply_gone"
	reasonNumberGone     = "number_gone"

	// reasonOtherTeam refuses a label of another team than the number's, and reasonMissing a text
	// with a field that the contact does not have.
	reasonOtherTeam = "label_of_other_team"
	reasonMissing   = "missing_parameter"
)

// do does one action of a rule. It returns why it was refused, "" if it was not; a rule that
// needs what is gone is disabled.
func (run *ruleRun) do(tx *storage.Tx, r storage.Rule, i int) (refused string, err error) {
	switch a := r.Then[i]; {
	case a.Reply != nil:
		refused, err = run.reply(tx, r, *a.Reply, r.Templates[i])
	case a.AddLabel != nil:
		refused, err = run.label(tx, r, *a.AddLabel, true)
	case a.RemoveLabel != nil:
		refused, err = run.label(tx, r, *a.RemoveLabel, false)
	case a.Assign != nil:
		refused, err = run.assign(tx, r, *a.Assign)
	case a.Resolve != nil:
		err = run.resolve(tx, r)
	case a.Note != nil:
		err = messaging.InsertNote(tx, run.subject(), &storage.Note{
			AccountID: run.c.AccountID, ConversationID: run.c.ID, Text: *a.Note, Mentions: storage.Strings{},
			NoteAuthor: storage.NoteAuthor{Type: storage.NoteByRule, ID: r.ID, Name: &r.Name},
		})
	default:
		refused, err = run.handOver(tx, r, *a.HandOver.To)
	}

	switch {
	case err != nil:
	case refused == reasonLabelGone || refused == reasonUserGone || refused == reasonQuickReplyGone:
		err = disableRule(tx, r, refused)
	case refused == reasonTemplateGone:
		err = disableWithoutTemplate(tx, r, *r.Templates[i])
	}
	return refused, err
}

func (run *ruleRun) subject() event.Subject { return messaging.SubjectOf(run.sender.Account) }

func byRule(r storage.Rule) event.By { return event.By{Type: event.ByRule, ID: &r.ID} }

// disableRule switches a rule off that needs what is gone.
func disableRule(tx *storage.Tx, r storage.Rule, reason string) error {
	now, err := tx.Rule(r.OrganizationID, r.ID)
	if err != nil || !now.Enabled {
		return storage.IgnoreNotFound(err)
	}
	now.Enabled, now.DisabledReason = false, &reason
	return tx.UpdateRule(&now)
}

// goneCondition is why a rule with so many numbers can never match any more, "" if it can.
func goneCondition(rx *storage.Rx, r storage.Rule, numbers int) (string, error) {
	switch {
	case numbers == 0 && len(r.If.PhoneNumberIDs) > 0:
		return reasonNumberGone, nil
	case r.If.LabelID == nil:
		return "", nil
	}
	_, err := rx.Label(r.OrganizationID, *r.If.LabelID)
	if errors.Is(err, storage.ErrNotFound) {
		return reasonLabelGone, nil
	}
	return "", err
}

// disableWithoutTemplate switches a rule off if none of its numbers has a template any more.
func disableWithoutTemplate(tx *storage.Tx, r storage.Rule, t storage.RuleTemplate) error {
	accounts, err := tx.NumbersOf(r)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		if _, err := tx.Template(a.ID, t.Name, t.Language); !errors.Is(err, storage.ErrNotFound) {
			return err
		}
	}
	return disableRule(tx, r, reasonTemplateGone)
}

// reply sends what a rule says, or with none what is said to an opt-out word: as any other message, but that it
// neither moves the conversation nor answers who waits.
func (run *ruleRun) reply(tx *storage.Tx, r storage.Rule, reply storage.RuleReply, t *storage.RuleTemplate) (string, error) {
	thread, err := tx.Thread(run.c.AccountID, run.c.ContactID)
	if err != nil {
		return "", err
	}
	m := storage.Message{Type: "text", RuleID: storage.OrNil(r.ID)}
	if t != nil {
		return run.replyTemplate(tx, thread, m, *t)
	}

	words, below := reply.Text, storage.JSON(nil)
	if reply.QuickReplyID != nil {
		q, err := tx.QuickReply(run.sender.OrganizationID, *reply.QuickReplyID)
		if err != nil {
			return reasonQuickReplyGone, storage.IgnoreNotFound(err)
		}
		words, below = &q.Text, q.Interactive
	}

	text, err := mergefield.Expand(*words, thread.Contact)
	if err != nil {
		return reasonMissing, nil
	}
	m.Body = &text
	if below == nil {
		return run.send(tx, thread, m, map[string]any{"body": text})
	}
	m.Type = "interactive"
	var content map[string]any
	if err := json.Unmarshal(below, &content); err != nil {
		return "", err
	}
	content["body"] = map[string]any{"text": text}
	return run.send(tx, thread, m, content)
}

// replyTemplate sends a template, as it was checked when the rule was saved.
func (run *ruleRun) replyTemplate(tx *storage.Tx, to storage.Thread, m storage.Message, t storage.RuleTemplate) (string, error) {
	stored, err := tx.Template(run.c.AccountID, t.Name, t.Language)
	if err != nil {
		return reasonTemplateGone, storage.IgnoreNotFound(err)
	}
	if refused := messaging.RefusalFor(run.sender, to.Contact, messaging.IsMarketing(stored)); refused != nil {
		return string(refused.Code), nil
	}
	m.Type, m.Body = "template", t.Body
	return run.send(tx, to, m, t.Wire)
}

// send stores a message of a rule and its job, or says why it may not be sent.
func (run *ruleRun) send(tx *storage.Tx, to storage.Thread, m storage.Message, content any) (string, error) {
	if refused := messaging.RefusalOf(run.sender); refused != nil {
		return string(refused.Code), nil
	}
	// An idle rule whose time came before a restore may have sent this already, after the backup was made.
	if restored, err := tx.RestoredAt(); err != nil || run.due > 0 && run.due < restored {
		return string(errorcode.MessageOverdue), err
	}
	if left, err := run.w.isQuotaLeft(tx, run.sender.OrganizationID); err != nil || !left {
		return string(errorcode.QuotaExceeded), err
	}
	wire, err := json.Marshal(content)
	if err != nil {
		return "", err
	}

	m.AccountID, m.Direction, m.Status, m.Source = run.sender.ID, storage.Outbound, storage.MessageQueued, storage.SourceRule
	m.Content, m.AccountPhone, m.AccountNumberID = storage.JSON(wire), run.sender.PhoneNumber, run.sender.PhoneNumberID
	m.SetThread(to)
	addressTo(&m, to)
	if err := tx.InsertMessage(&m); err != nil {
		return "", err
	}

	if err := tx.TouchConversation(m.ConversationID); err != nil {
		return "", err
	}
	tx.CountMessage(run.sender.OrganizationID)
	return "", EnqueueSend(tx, storage.Key{}, m, wire)
}

func (run *ruleRun) label(tx *storage.Tx, r storage.Rule, id string, attached bool) (string, error) {
	l, err := tx.Label(run.sender.OrganizationID, id)
	if err != nil {
		return reasonLabelGone, storage.IgnoreNotFound(err)
	}
	if l.TeamID != run.sender.TeamID {
		return reasonOtherTeam, nil
	}
	return "", messaging.SetConversationLabel(tx, byRule(r), run.c.Conversation, l, attached)
}

func (run *ruleRun) assign(tx *storage.Tx, r storage.Rule, user string) (string, error) {
	u, err := tx.User(run.sender.OrganizationID, user)
	if err != nil || u.DisabledAt != 0 {
		return reasonUserGone, storage.IgnoreNotFound(err)
	}
	after := run.c.Conversation
	after.AssigneeID = &user
	return "", messaging.UpdateConversation(tx, run.subject(), byRule(r), run.c.Conversation, after)
}

func (run *ruleRun) resolve(tx *storage.Tx, r storage.Rule) error {
	after := run.c.Conversation
	after.Status = storage.ConversationResolved
	if err := tx.Snooze(&after, 0); err != nil {
		return err
	}
	return messaging.UpdateConversation(tx, run.subject(), byRule(r), run.c.Conversation, after)
}

// handOver makes somebody hold the conversation, whoever does now; a user is assigned too.
func (run *ruleRun) handOver(tx *storage.Tx, r storage.Rule, to storage.HolderRef) (string, error) {
	holder := storage.Holder{Type: *to.Type, ID: to.ID}
	switch holder.Type {
	case storage.HolderUser:
		if refused, err := run.assign(tx, r, *to.ID); err != nil || refused != "" {
			return refused, err
		}
	case storage.HolderAgent:
		if known, err := tx.HasAgent(run.sender.OrganizationID, *to.ID); err != nil || !known {
			return "agent_gone", err
		}
	default:
		holder.ID = nil
	}
	return "", messaging.HandOver(tx, run.subject(), byRule(r), run.c.Conversation, holder, nil)
}
