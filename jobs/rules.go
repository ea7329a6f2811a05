package jobs

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/jobs/queue"
	"confab/jobs/rules"
	"confab/storage"
)

// Rules run after the transaction of the message that they are asked about, in a job of it: all
// rules of the message in their order, in one transaction with what they do and the rows that
// say so. The jobs of one conversation run one after the other. So a rule fires once, whatever
// is killed: either the job is left and nothing was done, or it is gone and all was.
//
// Only a message of a person asks rules. What a rule sends asks none, nor do broadcasts and
// echoes; and a rule answers once in a spell, unless it says otherwise: two that write to each
// other come to an end.

const (
	kindRules = "rules.run"

	// firingsKept is for how long it is kept what rules did.
	firingsKept = 30 * 24 * time.Hour
)

// rulesArgs are the arguments of the job that asks the rules about a message.
type rulesArgs struct {
	storage.AboutMessage
	At           storage.Time `json:"at"`
	Opened       bool         `json:"opened,omitempty"` // it began a spell
	FirstContact bool         `json:"first_contact,omitempty"`
	Reply        string       `json:"reply,omitempty"` // to an opt-out word; then no rules are asked
}

// on lists what happened.
func (a rulesArgs) on() []string {
	if a.Opened {
		return []string{storage.OnMessageReceived, storage.OnConversationOpened}
	}
	return []string{storage.OnMessageReceived}
}

// ReceivedCase is a message of a person, of which the rules and opt-out words of its number
// decide what happens by itself.
type ReceivedCase struct {
	account storage.Account
	thread  storage.Thread
	message storage.Message
	args    rulesArgs
	asks    bool
	optOut  rules.OptOut
	word    string // rules.Stop or rules.Start, if it is such a word
}

// NewReceivedCase looks at a message before it is recorded in its conversation. Where a number
// has no rules and no words, as what is in memory says, it reads nothing.
func NewReceivedCase(tx *storage.Tx, a storage.Account, t storage.Thread, m storage.Message) (c ReceivedCase, err error) {
	n, err := tx.NumberRules(a.ID)
	if err != nil || len(n.Rules) == 0 && n.OptOut == nil || m.Type == "reaction" {
		return c, err
	}

	c = ReceivedCase{account: a, thread: t, message: m, args: rulesArgs{AboutMessage: storage.NewAboutMessage(m), At: tx.Now}}
	if n.OptOut != nil {
		if c.optOut, err = rules.ParseOptOut(n.OptOut); err != nil {
			return c, err
		}
		if c.word = c.optOut.Meaning(rules.TextOf(m)); c.word != "" {
			return c, nil
		}
	}
	if !n.Has(storage.OnMessageReceived) && !n.Has(storage.OnConversationOpened) {
		return c, nil
	}

	c.args.Opened, c.args.FirstContact, err = tx.WillBegin(t.ConversationID)
	facts := rules.Facts{
		On: c.args.on(), PhoneNumberID: storage.OrEmpty(a.PhoneNumberID), FirstContact: c.args.FirstContact,
		Text: rules.Fold(rules.TextOf(m)),
	}
	c.asks = slices.ContainsFunc(n.Rules, func(r storage.Rule) bool { return rules.UnmetByMessage(r, facts) == "" })
	return c, err
}

// Apply does what an opt-out word says, or stores the job that asks the rules.
func (c ReceivedCase) Apply(tx *storage.Tx) error {
	if c.word != "" {
		return c.applyWord(tx)
	}
	if !c.asks {
		return nil
	}
	return c.enqueue(tx)
}

func (c ReceivedCase) enqueue(tx *storage.Tx) error {
	_, err := tx.Enqueue(storage.NewJob{Kind: kindRules, Lane: "rules:" + c.message.ConversationID, Args: c.args})
	return err
}

// applyWord stops or resumes marketing as a word says, and answers if that changed anything: who
// repeats the word gets no second answer. A start word clears only what a stop word set.
func (c ReceivedCase) applyWord(tx *storage.Tx) error {
	before, stop := c.thread.Contact, c.word == rules.Stop
	if before.MarketingOptedOut == stop || !stop && !before.OptedOutByWord {
		return nil
	}

	after := before
	after.MarketingOptedOut, after.OptedOutByWord = stop, stop
	if err := tx.UpdateContact(&after); err != nil {
		return err
	}
	err := messaging.EmitConsent(tx, messaging.SubjectOf(c.account), before, after, event.ConsentByWord, &c.message.ID)
	if err != nil {
		return err
	}

	reply := c.optOut.StartReply
	if stop {
		reply = c.optOut.StopReply
	}
	if reply == nil {
		return nil
	}
	c.args.Reply = *reply
	return c.enqueue(tx)
}

// runRules asks the rules of a number about a message.
func (w *Workers) runRules(ctx context.Context, _ storage.Job, args rulesArgs) (queue.Commit, error) {
	if args.Reply != "" {
		return func(tx *storage.Tx) error { return w.replyToWord(tx, args) }, nil
	}

	n, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) (storage.NumberRules, error) { return rx.NumberRules(args.Account) })
	if err != nil {
		return nil, storage.IgnoreNotFound(err)
	}
	hours, err := rules.ParseHours(n.Hours)
	if err != nil {
		return nil, err
	}

	// What the zone says is found out before the transaction: it takes a while to read.
	run := ruleRun{w: w, on: args.on(), first: args.FirstContact, open: hours.Open(args.At.Std()), day: rules.Day(hours, args.At.Std())}
	return func(tx *storage.Tx) error { return run.askAll(tx, args) }, nil
}

// ruleRun asks rules in one case.
type ruleRun struct {
	w           *Workers
	on          []string
	first, open bool
	day         string // of the number, as once_per counts them

	message storage.Message
	c       storage.FullConversation
	sender  storage.Sender
}

// load reads what the rules are asked about. The error is ErrNotFound if it is gone.
func (run *ruleRun) load(tx *storage.Tx, account int64, message string) (err error) {
	if run.message, err = tx.Message(account, message); err != nil {
		return err
	}
	if run.c, err = tx.Conversation(account, run.message.ConversationID); err != nil {
		return err
	}
	run.sender, err = tx.Sender(account)
	return err
}

// askAll asks the rules of a message in their order, up to the first that fires and says stop.
func (run *ruleRun) askAll(tx *storage.Tx, args rulesArgs) error {
	n, err := tx.NumberRules(args.Account)
	if err != nil {
		return storage.IgnoreNotFound(err)
	}
	if err := run.load(tx, args.Account, args.Message); err != nil {
		return storage.IgnoreNotFound(err) // deleted meanwhile
	}

	for _, r := range n.Rules {
		fired, err := run.ask(tx, r)
		if err != nil || fired && r.Stop {
			return err
		}
	}
	return nil
}

// ask fires a rule if it matches and has not fired before in its scope.
func (run *ruleRun) ask(tx *storage.Tx, r storage.Rule) (fired bool, err error) {
	facts := factsOf(&tx.Rx, run.c.Conversation, run.message)
	facts.On, facts.PhoneNumberID = run.on, storage.OrEmpty(run.sender.PhoneNumberID)
	facts.Open, facts.FirstContact = run.open, run.first
	if unmet, err := rules.Unmet(r, facts); err != nil || unmet != "" {
		return false, err
	}

	scope := r.OncePer + " " + run.message.ID
	if r.OncePer == storage.OncePerDay {
		scope = r.OncePer + " " + run.day
	}
	if done, err := tx.HasFired(r, run.c.ID, scope); err != nil || done {
		return false, err
	}
	return true, run.fire(tx, r, scope)
}

// StoredFacts are the facts of a message that was stored before: what its conversation shows is as of
// now.
func StoredFacts(rx *storage.Rx, m storage.Message, hours *rules.Hours) (f rules.Facts, err error) {
	c, err := rx.Conversation(m.AccountID, m.ConversationID)
	if err != nil {
		return f, err
	}
	opened, first, err := rx.BeganSpell(m)

	f = factsOf(rx, c.Conversation, m)
	f.On, f.FirstContact, f.Open = rulesArgs{Opened: opened}.on(), first, hours.Open(m.CreatedAt.Std())
	f.PhoneNumberID = storage.OrEmpty(m.AccountNumberID)
	return f, err
}

// factsOf are the facts that a message and its conversation show by themselves.
func factsOf(rx *storage.Rx, c storage.Conversation, m storage.Message) rules.Facts {
	return rules.Facts{
		Text:         rules.Fold(rules.TextOf(m)),
		Conversation: c,
		HasLabel: func(id string) (bool, error) {
			labels, err := rx.ConversationLabels(c.ID)
			return slices.ContainsFunc(labels[c.ID], func(l storage.AttachedLabel) bool { return l.ID == id }), err
		},
	}
}

// fire does what a rule says, and records how that went. An action that is refused counts as
// well.
func (run *ruleRun) fire(tx *storage.Tx, r storage.Rule, scope string) (err error) {
	outcomes := make([]ActionOutcome, len(r.Then))
	for i, action := range r.Then {
		var why string
		if why, err = run.do(tx, r, i); err != nil {
			return err
		}

		outcomes[i] = ActionOutcome{Action: rules.KindsOf(action)[0], Outcome: "done"}
		if why != "" {
			outcomes[i].Outcome, outcomes[i].Reason = "refused", &why
		}
		if run.c, err = tx.Conversation(run.c.AccountID, run.c.ID); err != nil {
			return err
		}
	}

	text, err := json.Marshal(outcomes)
	if err != nil {
		return err
	}
	return tx.InsertFiring(&storage.Firing{
		RuleID: r.ID, AccountID: run.c.AccountID, ConversationID: run.c.ID, MessageID: run.message.ID, Scope: scope, Actions: text,
	})
}

// ActionOutcome is how an action of a rule went.
type ActionOutcome struct {
	Action  string  `json:"action"`
	Outcome string  `json:"outcome"` // done, refused
	Reason  *string `json:"reason"`
}

// deleteOldFirings deletes what rules did long ago.
func (p *purge) deleteOldFirings(ctx context.Context, now storage.Time) error {
	return p.oldRows(ctx, storage.RuleFirings, storage.PurgeScope{Before: now.Add(-firingsKept)})
}
