package api

import (
	"cmp"
	"fmt"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/app/api/template"
	"confab/jobs/provisioning"
	"confab/storage"
)

type templateView struct {
	ID                 string          `json:"id"`
	Object             string          `json:"object"`
	Name               string          `json:"name"`
	Language           string          `json:"language"`
	Status             string          `json:"status"`
	ProviderStatus     *string         `json:"provider_status"`
	RejectedReason     *string         `json:"rejected_reason"`
	Category           *string         `json:"category"`
	ParameterFormat    string          `json:"parameter_format"`
	Content            string          `json:"content"`
	Variables          []string        `json:"variables"`
	Components         storage.JSON    `json:"components"`
	AccountSummary     chatAccountView `json:"chat_account"`
	ProviderTemplateID *string         `json:"provider_template_id"`
	CategoryChange     *categoryChange `json:"category_change"`
	CreatedAt          storage.Time    `json:"created_at"`
	UpdatedAt          storage.Time    `json:"updated_at"`
}

// categoryChange is a change of category that the provider has announced.
type categoryChange struct {
	To string       `json:"to"`
	At storage.Time `json:"at"`
}

func viewTemplate(a storage.AccountSummary, t storage.Template) templateView {
	v := templateView{
		ID:                 t.ID,
		Object:             "template",
		Name:               t.Name,
		Language:           t.Language,
		Status:             t.Status,
		ProviderStatus:     storage.OrNil(t.ProviderStatus),
		RejectedReason:     storage.OrNil(t.Reason),
		Category:           storage.OrNil(t.Category),
		ParameterFormat:    t.ParameterFormat,
		Content:            t.Content,
		Variables:          rest.OrEmpty(template.Variables(t.Content)),
		Components:         t.Components,
		AccountSummary:     chatAccountView(a),
		ProviderTemplateID: storage.OrNil(t.ProviderTemplateID),
		CreatedAt:          t.CreatedAt,
		UpdatedAt:          t.UpdatedAt,
	}

	if t.CategoryChangeTo != "" {
		v.CategoryChange = &categoryChange{t.CategoryChangeTo, t.CategoryChangeAt}
	}
	return v
}

// listTemplates handles GET /v1/:phone_number_id/templates.
func (s *Server) listTemplates(r *rest.Request) (rest.Reply, error) {
	q := rest.Filters{Values: r.Query()}
	f := storage.TemplateFilter{
		Status: cmp.Or(q.OneOf("status", storage.TemplateApproved, storage.TemplatePending, storage.TemplateRejected, "all"),
			storage.TemplateApproved),
		Language: provisioning.TemplateLanguage(q.Text("language", content.MaxLanguage)),
	}

	if f.Status == "all" {
		f.Status = ""
	}

	var account storage.AccountSummary
	return rest.ListOf(s.Server, r, rest.Lister[storage.Template, templateView]{
		Scope: fmt.Sprintf("templates %d %#v", r.Account.ID, f),
		Err:   q.Err,
		Read: func(rx *storage.Rx, q *rest.ListQuery) (rows []storage.Template, reached storage.After, err error) {
			if account, err = rx.AccountSummary(r.Account.ID); err == nil {
				rows, reached, err = rx.Within(q.Budget).Templates(r.Account.ID, f, q.After, q.Fetch())
			}
			return rows, reached, err
		},
		Key:  func(t storage.Template) storage.After { return storage.After{Key: t.CreatedAt, ID: t.ID} },
		View: func(t storage.Template) templateView { return viewTemplate(account, t) },
	})
}

// templateIn finds the template in the path: in the language of the query, without one
// the newest.
func templateIn(rx *storage.Rx, r *rest.Request) (storage.Template, error) {
	q := rest.Filters{Values: r.Query()}
	language := provisioning.TemplateLanguage(q.Text("language", content.MaxLanguage))

	switch {
	case q.Err != nil:
		return storage.Template{}, q.Err
	case language != "":
		return rx.Template(r.Account.ID, r.Param("name"), language)
	}
	return rx.NewestTemplate(r.Account.ID, r.Param("name"))
}

// ShowTemplate replies with a template.
func ShowTemplate(rx *storage.Rx, t storage.Template) (rest.Reply, error) {
	account, err := rx.AccountSummary(t.AccountID)
	return rest.OK(viewTemplate(account, t)), err
}

// createTemplate handles POST /v1/:phone_number_id/templates.
func (s *Server) createTemplate(r *rest.Request, in template.Draft) (rest.Reply, error) {
	if err := s.checkSubmitAllowed(r, &in); err != nil {
		return rest.Reply{}, err
	}
	if err := s.uploadExamples(r, in.Components); err != nil {
		return rest.Reply{}, err
	}

	// From here on the provider may have the template: the result must be stored.
	r.DetachContext()
	out, err := s.submitToProvider(r, &in)
	if err != nil {
		return rest.Reply{}, err
	}

	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		t, err := out.store(tx)
		if err != nil {
			return rest.Reply{}, err
		}

		rep, err := ShowTemplate(&tx.Rx, t)
		return rest.Created(rep.Data), err
	})
}

// checkSubmitAllowed refuses what can be known without the provider: a template that
// exists, an inactive subscription, a disconnected account.
func (s *Server) checkSubmitAllowed(r *rest.Request, in *template.Draft) error {
	err := s.View(r, func(rx *storage.Rx) error {
		t, err := rx.Template(r.Account.ID, *in.Name, *in.Language)
		if err == nil && t.ProviderStatus != TemplateDeleted {
			return errTemplateExists(nil)
		}
		return storage.IgnoreNotFound(err)
	})

	return cmp.Or(err, r.CheckBilling(), s.CheckConnected(r))
}

// TemplateDeleted is the provider's status of a deleted template.
const TemplateDeleted = "DELETED"

// CheckConnected refuses a call to the provider for a disconnected account.
func (s *Server) CheckConnected(r *rest.Request) error {
	sender, err := s.DB.Sender(r.HTTP.Context(), r.Account.ID)
	if err == nil && sender.Status == storage.AccountDisconnected {
		return rest.Fail(rest.UpstreamError, "The account is disconnected.")
	}
	return err
}

// updateTemplate handles PATCH /v1/:phone_number_id/templates/:name.
func (s *Server) updateTemplate(r *rest.Request, in template.Changes) (rest.Reply, error) {
	t, err := rest.Find(s.Server, r, templateIn)
	if err != nil {
		return rest.Reply{}, err
	}
	if err := cmp.Or(in.CheckFor(t, s.plainHTTP()), s.CheckConnected(r)); err != nil {
		return rest.Reply{}, err
	}
	if err := s.uploadExamples(r, in.Components.Value); err != nil {
		return rest.Reply{}, err
	}

	r.DetachContext()
	edited, err := s.editAtProvider(r, t, &in)
	if err != nil {
		return rest.Reply{}, err
	}

	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		t, err := storeEdited(tx, t, edited)
		if err != nil {
			return rest.Reply{}, err
		}
		return ShowTemplate(&tx.Rx, t)
	})
}

// syncTemplates handles POST /v1/:phone_number_id/templates/sync.
func (s *Server) syncTemplates(r *rest.Request) (rest.Reply, error) {
	if err := s.CheckConnected(r); err != nil {
		return rest.Reply{}, err
	}

	r.DetachContext()
	found, err := s.Accounts.SyncTemplates(r.HTTP.Context(), r.Account.ID)
	if err != nil {
		return rest.Reply{}, ProviderCallError(err, errUnexpectedRefusal)
	}

	return s.Update(r, func(*storage.Tx) (rest.Reply, error) { return rest.OK(found), nil })
}
