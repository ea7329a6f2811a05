package jobs

import (
	"context"
	"encoding/json"
	"math"

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

const kindRules = "rules.run"

type rulesArgs struct {
	storage.AboutMessage
	At           storage.Time `json:"at"`
	Opened       bool         `json:"opened,omitempty"` // it began a spell
	FirstContact bool         `json:"first_contact,omitempty"`
	Since        string       `json:"since,omitempty"` // its spell has no message before this one
	Reply        string       `json:"reply,omitempty"` // to an opt-out word; then no rules are asked
}

// triggers are when rules run that a message of a person starts, which may have begun a spell.
func triggers(opened bool) []string {
	if opened {
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
	optOut  *storage.OptOut
	word    string // rules.Stop or rules.Start, if it is such a word
}

// NewReceivedCase looks at a message before it is recorded in its conversation. Where a number
// has no rules and no words, as what is in memory says, it reads nothing; and rules that cannot
// fire, by the message itself and by what they have done, cost it no job.
func NewReceivedCase(tx *storage.Tx, a storage.Account, t storage.Thread, m storage.Message) (c ReceivedCase, err error) {
	n, err := tx.NumberRules(a.ID)
	if err != nil || len(n.Rules) == 0 && n.OptOut == nil || m.Type == "reaction" {
		return c, err
	}

	c = ReceivedCase{account: a, thread: t, message: m, args: rulesArgs{AboutMessage: storage.NewAboutMessage(m), At: tx.Now}}
	c.optOut, c.word = n.OptOut, rules.Meaning(n.OptOut, rules.TextOf(m))
	if c.word != "" || len(n.Rules) == 0 {
		return c, nil
	}

	c.args.Opened, c.args.FirstContact, c.args.Since, err = tx.WillBegin(t.ConversationID)
	run := newRuleRun(nil, n, m, c.args)
	for _, r := range n.Rules {
		if err != nil || c.asks {
			break
		}
		if rules.UnmetByMessage(r, run.facts) == "" {
			var done bool
			done, err = run.hasFired(&tx.Rx, r)
			c.asks = !done
		}
	}
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
	return enqueue(tx, storage.NewJob{Kind: kindRules, Lane: "rules:" + c.message.ConversationID, Args: c.args})
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

// runRules asks the rules of a number about a message in their order, up to the first that fires and
// says stop; or answers an opt-out word.
func (w *Workers) runRules(_ context.Context, _ storage.Job, args rulesArgs) (queue.Commit, error) {
	return func(tx *storage.Tx) error {
		n, err := tx.NumberRules(args.Account)
		if err != nil {
			return storage.IgnoreNotFound(err)
		}
		m, err := tx.Message(args.Account, args.Message)
		if err != nil {
			return storage.IgnoreNotFound(err) // deleted meanwhile
		}

		run := newRuleRun(w, n, m, args)
		if err := run.load(tx); err != nil {
			return storage.IgnoreNotFound(err)
		}
		if args.Reply != "" {
			_, err := run.reply(tx, storage.Rule{}, storage.RuleReply{Text: &args.Reply}, nil)
			return err
		}

		for _, r := range n.Rules {
			fired, err := run.ask(tx, r)
			if err != nil || fired && r.Stop {
				return err
			}
		}
		return nil
	}, nil
}

type ruleRun struct {
	w       *Workers
	message storage.Message
	facts   rules.Facts
	day     string       // of the number, as once_per counts them
	since   string       // its spell has no message before this one
	due     storage.Time // when an idle rule could first fire, 0 for others

	c      storage.FullConversation
	sender storage.Sender
}

func newRuleRun(w *Workers, n storage.NumberRules, m storage.Message, args rulesArgs) *ruleRun {
	facts := rules.NewFacts(m, n.Hours, args.At.Std())
	facts.On, facts.FirstContact = triggers(args.Opened), args.FirstContact
	return &ruleRun{w: w, message: m, facts: facts, day: rules.Day(n.Hours, args.At.Std()), since: args.Since}
}

func (run *ruleRun) load(tx *storage.Tx) (err error) {
	if run.c, err = tx.Conversation(run.message.AccountID, run.message.ConversationID); err != nil {
		return err
	}
	run.sender, err = tx.Sender(run.message.AccountID)
	return err
}

// ask fires a rule if it matches and has not fired before in its scope.
func (run *ruleRun) ask(tx *storage.Tx, r storage.Rule) (fired bool, err error) {
	run.facts.Conversation = run.c.Conversation
	unmet, err := rules.Unmet(&tx.Rx, r, run.facts)
	if err == nil && unmet == "label_id" {
		var gone string
		if gone, err = goneCondition(&tx.Rx, r, 1); gone != "" {
			err = disableRule(tx, r, gone)
		}
	}
	if err != nil || unmet != "" {
		return false, err
	}

	if done, err := run.hasFired(&tx.Rx, r); err != nil || done {
		return false, err
	}
	return true, run.fire(tx, r)
}

// scope is the one of a rule in which it fires once.
func (run *ruleRun) scope(r storage.Rule) string {
	if r.OncePer == storage.OncePerDay {
		return r.OncePer + " " + run.day
	}
	return r.OncePer + " " + run.message.ID
}

func (run *ruleRun) hasFired(rx *storage.Rx, r storage.Rule) (bool, error) {
	return rx.HasFired(r, run.message.ConversationID, run.scope(r), run.since)
}

// StoredFacts are the facts of a stored message, with its conversation as of now.
func StoredFacts(rx *storage.Rx, m storage.Message, h *storage.Hours) (f rules.Facts, err error) {
	c, err := rx.Conversation(m.AccountID, m.ConversationID)
	if err != nil {
		return f, err
	}
	opened, first, err := rx.BeganSpell(m)

	f = rules.NewFacts(m, h, m.CreatedAt.Std())
	f.On, f.FirstContact, f.Conversation = triggers(opened), first, c.Conversation
	return f, err
}

// fire does what a rule says, and records how that went, also what was refused.
func (run *ruleRun) fire(tx *storage.Tx, r storage.Rule) (err error) {
	outcomes := make([]ActionOutcome, len(r.Then))
	for i, action := range r.Then {
		var why string
		if why, err = run.do(tx, r, i); err != nil {
			return err
		}

		outcomes[i] = ActionOutcome{Action: rules.KindsOf(*action)[0], Outcome: "done"}
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
		RuleID: r.ID, AccountID: run.c.AccountID, ConversationID: run.c.ID, MessageID: run.message.ID, Scope: run.scope(r), Actions: text,
	})
}

// ActionOutcome is how an action of a rule went.
type ActionOutcome struct {
	Action  string  `json:"action"`
	Outcome string  `json:"outcome"` // done, refused
	Reason  *string `json:"reason"`
}

// RuleTrace is what a rule did because of a message, or why it did nothing.
type RuleTrace struct {
	ID      string          `json:"id"`
	Name    *string         `json:"name"` // nil for one that was deleted
	Fired   bool            `json:"fired"`
	Unmet   *string         `json:"unmet"`   // the condition that does not hold, opt_out, once_per or stop; as of now
	Actions []ActionOutcome `json:"actions"` // of one that fired
	At      storage.Time    `json:"-"`
}

// TraceRules says what the rules of a number did because of a message of a person, and of those
// that did nothing why, by what is known now.
func TraceRules(rx *storage.Rx, m storage.Message) (all []RuleTrace, err error) {
	fired, err := rx.FiringsOfMessage(m.ID)
	if err != nil {
		return nil, err
	}
	n, err := rx.NumberRules(m.AccountID)
	if err != nil {
		return nil, storage.IgnoreNotFound(err)
	}

	done, stoppedAt := make(map[string]bool), math.MaxInt
	for _, f := range fired {
		one := RuleTrace{ID: f.RuleID, Fired: true, At: f.CreatedAt}
		r, err := rx.Rule(0, f.RuleID)
		if storage.IgnoreNotFound(err) != nil {
			return nil, err
		}
		if err == nil {
			one.Name = &r.Name
		}
		if r.Stop {
			stoppedAt = r.Position
		}
		if err := json.Unmarshal(f.Actions, &one.Actions); err != nil {
			return nil, err
		}
		all, done[f.RuleID] = append(all, one), true
	}
	if m.Direction != storage.Inbound || m.Type == "reaction" {
		return all, nil
	}

	for _, r := range n.Rules {
		if done[r.ID] {
			continue
		}
		unmet, err := unmetBy(rx, r, m, n)
		if err != nil {
			return nil, err
		}
		if unmet == "once_per" && r.Position > stoppedAt {
			unmet = "stop" // which an earlier one said
		}
		all = append(all, RuleTrace{ID: r.ID, Name: &r.Name, Unmet: &unmet, Actions: []ActionOutcome{}, At: m.CreatedAt})
	}
	return all, nil
}

// unmetBy is the condition because of which a rule did not fire.
func unmetBy(rx *storage.Rx, r storage.Rule, m storage.Message, n storage.NumberRules) (string, error) {
	if rules.Meaning(n.OptOut, rules.TextOf(m)) != "" {
		return "opt_out", nil
	}
	f, err := StoredFacts(rx, m, n.Hours)
	if err != nil {
		return "", err
	}
	unmet, err := rules.Unmet(rx, r, f)
	if unmet == "" {
		unmet = "once_per" // it fired before, or it is newer than the message
	}
	return unmet, err
}
