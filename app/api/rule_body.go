package api

import (
	"cmp"
	"encoding/json"
	"errors"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/jobs/rules"
	"confab/storage"
)

const (
	maxRuleName = 100
	maxWords    = 50 // of a condition, and of each list of opt-out words
	maxWord     = 200
	maxActions  = 5

	minIdle, maxIdle = 5, 43_200 // minutes
)

// newRule is the body of POST /v1/rules.
type newRule struct {
	Name    *string                `json:"name"`
	Enabled *bool                  `json:"enabled"`
	On      *string                `json:"on"`
	If      storage.RuleConditions `json:"if"`
	Then    storage.RuleActions    `json:"then"`
	OncePer *string                `json:"once_per"`
	Stop    *bool                  `json:"stop"`
}

func (b *newRule) Validate() error {
	rest.Trim(b.Name)
	if b.OncePer == nil {
		b.OncePer = new(storage.OncePerSpell)
	}
	return cmp.Or(
		rest.Required("name", b.Name, maxRuleName),
		rest.OneOf("on", b.On, storage.OnMessageReceived, storage.OnConversationOpened, storage.OnConversationIdle),
		checkConditions(b.On, &b.If),
		rest.Count("then", b.Then, maxActions),
		rest.Each("then", b.Then, checkAction),
		rest.OneOf("once_per", b.OncePer, storage.OncePerSpell, storage.OncePerDay, storage.OncePerMessage),
	)
}

// applyTo makes a rule the one that a valid body describes.
func (b *newRule) applyTo(r *storage.Rule) {
	r.Name, r.On, r.If, r.Then, r.OncePer = *b.Name, *b.On, b.If, b.Then, *b.OncePer
	r.Enabled, r.Stop = b.Enabled == nil || *b.Enabled, b.Stop != nil && *b.Stop
}

// checkConditions checks what a rule demands.
func checkConditions(on *string, c *storage.RuleConditions) error {
	idle := storage.OrEmpty(on) == storage.OnConversationIdle
	switch {
	case idle && c.IdleMinutes == nil:
		return rest.Missing("if.idle_minutes")
	case !idle && c.IdleMinutes != nil:
		return rest.Invalid("if.idle_minutes", "is only for rules on "+storage.OnConversationIdle)
	case idle && (*c.IdleMinutes < minIdle || *c.IdleMinutes > maxIdle):
		return rest.Invalid("if.idle_minutes", "must be from 5 to 43200")
	}

	err := cmp.Or(
		rest.OptionalOneOf("hours", c.Hours, "open", "closed"),
		rest.OptionalOneOf("holder", c.Holder, storage.HolderNone, storage.HolderUser, storage.HolderAgent),
	)
	if c.Text != nil {
		err = cmp.Or(err, rest.Within("text", cmp.Or(
			rest.OneOf("match", c.Text.Match, "equals", "contains", "starts_with"), checkWords("any", c.Text.Any))))
	}
	return rest.Within("if", cmp.Or(err, rest.AtMost("phone_number_ids", c.PhoneNumberIDs, maxRules)))
}

// checkWords checks a list of words: from 1 to 50, none of them blank.
func checkWords(name string, words []string) error {
	if err := rest.Count(name, words, maxWords); err != nil {
		return err
	}
	for i := range words {
		rest.Trim(&words[i])
		if err := rest.Optional(rest.ItemPath(name, i), &words[i], maxWord); err != nil {
			return err
		}
	}
	return nil
}

// checkAction checks one thing that a rule does. That what it names is there is seen later.
func checkAction(a *storage.RuleAction) error {
	switch given := rules.KindsOf(*a); {
	case len(given) == 0:
		return rest.Missing("reply")
	case len(given) > 1:
		return rest.Invalid("reply", "must be the only action here: give each an item of its own")

	case a.Resolve != nil && !*a.Resolve:
		return rest.Invalid("resolve", "must be true")
	case a.AddLabel != nil:
		return checkLabelID("add_label", a.AddLabel)
	case a.RemoveLabel != nil:
		return checkLabelID("remove_label", a.RemoveLabel)
	case a.Assign != nil && !storage.ValidID("", *a.Assign):
		return rest.Invalid("assign", "must be the id of a user")
	case a.Note != nil:
		return rest.Optional("note", a.Note, maxNote)
	case a.HandOver != nil:
		return rest.Within("hand_over", rest.Object("to", a.HandOver.To, checkHolder))
	case a.Reply != nil:
		return rest.Within("reply", checkReply(a.Reply))
	}
	return nil
}

func checkReply(r *storage.RuleReply) error {
	if rest.Absent(r.Template) {
		r.Template = nil
	}
	switch text, saved, template := r.Text != nil, r.QuickReplyID != nil, r.Template != nil; {
	case !text && !saved && !template:
		return rest.Missing("text")
	case text && saved || text && template || saved && template:
		return rest.Invalid("text", "must be the only one of text, quick_reply_id and template")
	case saved && !storage.ValidID(storage.PrefixQuickReply, *r.QuickReplyID):
		return rest.Invalid("quick_reply_id", "must be an id that starts with "+storage.PrefixQuickReply)
	}
	return rest.Optional("text", r.Text, maxQuickReply)
}

// ruleChanges is the body of PATCH /v1/rules/:id.
type ruleChanges struct {
	Name    rest.Patch[string]                 `json:"name"`
	Enabled rest.Patch[bool]                   `json:"enabled"`
	On      rest.Patch[string]                 `json:"on"`
	If      rest.Patch[storage.RuleConditions] `json:"if"`
	Then    rest.Patch[storage.RuleActions]    `json:"then"`
	OncePer rest.Patch[string]                 `json:"once_per"`
	Stop    rest.Patch[bool]                   `json:"stop"`
}

func (c *ruleChanges) Validate() error {
	if !c.Name.Set && !c.Enabled.Set && !c.On.Set && !c.If.Set && !c.Then.Set && !c.OncePer.Set && !c.Stop.Set {
		return rest.NoneGiven("name", "Provide at least one of name, enabled, on, if, then, once_per and stop.")
	}
	return cmp.Or(
		c.Name.NotNull("name"), c.Enabled.NotNull("enabled"), c.On.NotNull("on"), c.Then.NotNull("then"),
		c.OncePer.NotNull("once_per"), c.Stop.NotNull("stop"),
	)
}

// applyTo makes the changes, and checks the rule as a new one.
func (c *ruleChanges) applyTo(r *storage.Rule) error {
	all := newRule{
		Name:    cmp.Or(c.Name.IfSet(), &r.Name),
		Enabled: cmp.Or(c.Enabled.IfSet(), &r.Enabled),
		On:      cmp.Or(c.On.IfSet(), &r.On),
		If:      *cmp.Or(c.If.IfSet(), &r.If),
		Then:    *cmp.Or(c.Then.IfSet(), &r.Then),
		OncePer: cmp.Or(c.OncePer.IfSet(), &r.OncePer),
		Stop:    cmp.Or(c.Stop.IfSet(), &r.Stop),
	}
	if err := all.Validate(); err != nil {
		return err
	}

	all.applyTo(r)
	if r.Enabled {
		r.DisabledReason = nil
	}
	return nil
}

// checkRuleReferences checks that all that a rule names is there, and prepares its templates.
func checkRuleReferences(rx *storage.Rx, r *storage.Rule, allowHTTP content.PlainHTTP) error {
	if len(r.If.PhoneNumberIDs) > 0 {
		if err := rest.Within("if", checkOwnNumbers(rx, r.OrganizationID, r.If.PhoneNumberIDs)); err != nil {
			return err
		}
	}
	if r.If.LabelID != nil {
		if err := checkLabel(rx, r.OrganizationID, "if.label_id", *r.If.LabelID); err != nil {
			return err
		}
	}

	r.Templates = make(storage.RuleTemplates, len(r.Then))
	for i := range r.Then {
		err := checkActionReferences(rx, r, i, allowHTTP)
		if err != nil {
			return rest.Within(rest.ItemPath("then", i), err)
		}
	}
	return nil
}

func checkLabel(rx *storage.Rx, organization int64, param, id string) error {
	_, err := rx.Label(organization, id)
	return rest.InvalidIf(err, storage.ErrNotFound, param, "must be a label of this organization")
}

func checkActionReferences(rx *storage.Rx, r *storage.Rule, i int, allowHTTP content.PlainHTTP) error {
	switch a := r.Then[i]; {
	case a.AddLabel != nil:
		return checkLabel(rx, r.OrganizationID, "add_label", *a.AddLabel)
	case a.RemoveLabel != nil:
		return checkLabel(rx, r.OrganizationID, "remove_label", *a.RemoveLabel)
	case a.Assign != nil:
		return checkUser(rx, r.OrganizationID, "assign", *a.Assign)
	case a.HandOver != nil:
		return checkHolderExists(rx, r.OrganizationID, "hand_over.to.id", *a.HandOver.To)

	case a.Reply != nil && a.Reply.QuickReplyID != nil:
		_, err := rx.QuickReply(r.OrganizationID, *a.Reply.QuickReplyID)
		return rest.InvalidIf(err, storage.ErrNotFound, "reply.quick_reply_id", "must be a quick reply of this organization")

	case a.Reply != nil && a.Reply.Template != nil:
		t, err := prepareTemplate(rx, r, a.Reply.Template, allowHTTP)
		r.Templates[i] = t
		return rest.Within("reply", err)
	}
	return nil
}

// prepareTemplate checks the template of a reply by the numbers that have it: all that the rule
// names, or at least one.
func prepareTemplate(
	rx *storage.Rx, r *storage.Rule, raw json.RawMessage, allowHTTP content.PlainHTTP,
) (*storage.RuleTemplate, error) {
	var t content.TemplateBody
	if err := rest.ReadObject("template", raw, &t); err != nil {
		return nil, err
	}
	if err := rest.Within("template", t.Check(allowHTTP)); err != nil {
		return nil, err
	}
	wire, err := json.Marshal(&t)
	if err != nil {
		return nil, err
	}

	accounts, err := rx.NumbersOf(*r)
	if err != nil {
		return nil, err
	}
	var prepared *storage.RuleTemplate
	const none = "template.name must be a template of a number of this rule, in that language."
	var missing error = rest.FailAt(rest.InvalidTemplateName, "template.name", none)
	for _, a := range accounts {
		var out content.OutgoingMessage
		t.Describe(&out)
		err := resolveTemplate(rx, &out, storage.Sender{Account: a})
		if e, ok := errors.AsType[*rest.Error](err); ok && e.Code == rest.InvalidTemplateName && len(r.If.PhoneNumberIDs) == 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		prepared, missing = &storage.RuleTemplate{Name: out.Template.Name, Language: out.Template.Language, Wire: wire, Body: out.Body}, nil
	}
	return prepared, missing
}
