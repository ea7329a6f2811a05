package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

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
	Then    []*storage.RuleAction  `json:"then"`
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
		checkOn(b.On),
		checkConditions(b.On, &b.If),
		rest.Count("then", b.Then, maxActions),
		rest.Each("then", b.Then, checkAction),
		checkOncePer(b.OncePer),
	)
}

func checkOn(on *string) error {
	return rest.OneOf("on", on, storage.OnMessageReceived, storage.OnConversationOpened, storage.OnConversationIdle)
}

func checkOncePer(often *string) error {
	return rest.OneOf("once_per", often, storage.OncePerSpell, storage.OncePerDay, storage.OncePerMessage)
}

// rule is the rule that a valid body describes.
func (b *newRule) rule(organization int64) storage.Rule {
	return storage.Rule{
		OrganizationID: organization,
		Name:           *b.Name,
		Enabled:        b.Enabled == nil || *b.Enabled,
		On:             *b.On,
		If:             b.If,
		Then:           ruleActions(b.Then),
		OncePer:        *b.OncePer,
		Stop:           b.Stop != nil && *b.Stop,
	}
}

func ruleActions(all []*storage.RuleAction) storage.RuleActions {
	actions := make(storage.RuleActions, len(all))
	for i, a := range all {
		actions[i] = *a
	}
	return actions
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
	case c.LabelID != nil && !storage.ValidID(storage.PrefixLabel, *c.LabelID):
		return rest.Invalid("if.label_id", "must be an id that starts with "+storage.PrefixLabel)
	}

	var err error
	if c.Hours != nil {
		err = rest.OneOf("hours", c.Hours, "open", "closed")
	}
	if c.Holder != nil {
		err = cmp.Or(err, rest.OneOf("holder", c.Holder, storage.HolderNone, storage.HolderUser, storage.HolderAgent))
	}
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

// checkAction checks one thing that a rule does.
func checkAction(a *storage.RuleAction) error {
	switch given := rules.KindsOf(*a); {
	case len(given) == 0:
		return rest.Missing("reply")
	case len(given) > 1:
		return rest.Invalid("reply", "must be the only action here: give each an item of its own")

	case a.Resolve != nil && !*a.Resolve:
		return rest.Invalid("resolve", "must be true")
	case a.AddLabel != nil:
		return checkLabelID("add_label", *a.AddLabel)
	case a.RemoveLabel != nil:
		return checkLabelID("remove_label", *a.RemoveLabel)
	case a.Assign != nil && !storage.ValidID("", *a.Assign):
		return rest.Invalid("assign", "must be the id of a user")

	case a.Note != nil:
		return rest.Optional("note", a.Note, maxNote)
	case a.HandOver != nil:
		return rest.Within("hand_over", checkHolder("to", a.HandOver.To))
	case a.Reply != nil:
		return rest.Within("reply", checkReply(a.Reply))
	}

	return nil
}

func checkReply(r *storage.RuleReply) error {
	if rest.Absent(r.Template) {
		r.Template = nil
	}
	given := 0
	for _, is := range []bool{r.Text != nil, r.QuickReplyID != nil, r.Template != nil} {
		if is {
			given++
		}
	}

	switch {
	case given == 0:
		return rest.Missing("text")
	case given > 1:
		return rest.Invalid("text", "must be the only one of text, quick_reply_id and template")
	case r.QuickReplyID != nil && !storage.ValidID(storage.PrefixQuickReply, *r.QuickReplyID):
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
	Then    rest.Patch[[]*storage.RuleAction]  `json:"then"`
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
	then := make([]*storage.RuleAction, len(r.Then))
	for i := range r.Then {
		then[i] = &r.Then[i]
	}
	all := newRule{Name: &r.Name, Enabled: &r.Enabled, On: &r.On, If: r.If, Then: then, OncePer: &r.OncePer, Stop: &r.Stop}
	set(&all.Name, c.Name)
	set(&all.Enabled, c.Enabled)
	set(&all.On, c.On)
	set(&all.OncePer, c.OncePer)
	set(&all.Stop, c.Stop)
	if c.If.Set {
		all.If = c.If.Value
	}
	if c.Then.Set {
		all.Then = c.Then.Value
	}
	if err := all.Validate(); err != nil {
		return err
	}

	changed := all.rule(r.OrganizationID)
	r.Name, r.Enabled, r.On, r.If, r.OncePer, r.Stop = changed.Name, changed.Enabled, changed.On, changed.If, changed.OncePer, changed.Stop
	if c.Then.Set {
		r.Then, r.Templates = changed.Then, make(storage.RuleTemplates, len(changed.Then))
	}
	if r.Enabled {
		r.DisabledReason = nil
	}
	return nil
}

func set[T any](to **T, p rest.Patch[T]) {
	if p.Set {
		*to = &p.Value
	}
}

// checkRuleReferences checks that all that a rule names is there, and prepares its templates.
func checkRuleReferences(rx *storage.Rx, r *storage.Rule, allowHTTP content.PlainHTTP) error {
	if len(r.If.PhoneNumberIDs) > 0 {
		foreign, err := rx.ForeignNumber(r.OrganizationID, r.If.PhoneNumberIDs)
		if storage.IgnoreNotFound(err) != nil {
			return err
		}
		if foreign != "" {
			param := rest.ItemPath("if.phone_number_ids", slices.Index(r.If.PhoneNumberIDs, foreign))
			return rest.Invalid(param, "is not the id of one of this organization's numbers")
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
	if errors.Is(err, storage.ErrNotFound) {
		return rest.Invalid(param, "must be a label of this organization")
	}
	return err
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
		if errors.Is(err, storage.ErrNotFound) {
			return rest.Invalid("reply.quick_reply_id", "must be a quick reply of this organization")
		}
		return err

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
	var missing error = &rest.Error{
		Code: rest.InvalidTemplateName, Param: "template.name",
		Message: "No number of this rule has a template with that name and language.",
	}
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
