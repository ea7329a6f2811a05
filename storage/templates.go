package storage

import "confab/storage/sqlite"

// Template is a message template as last seen at the provider.
type Template struct {
	ID                 string `db:"id"`
	AccountID          int64  `db:"account_id"`
	Name               string `db:"name"`
	Language           string `db:"language"`
	Status             string `db:"status"`
	ProviderStatus     string `db:"provider_status"`      // the provider's word, "" if never reported
	ProviderTemplateID string `db:"provider_template_id"` // "" if never reported
	Category           string `db:"category"`             // "" if never reported
	ParameterFormat    string `db:"parameter_format"`
	Content            string `db:"content"`
	Components         JSON   `db:"components"`
	Reason             string `db:"reason"`      // why it was rejected or paused, "" for no reason
	ReviewedAt         Time   `db:"reviewed_at"` // when a callback last reported its verdict
	CreatedAt          Time   `db:"created_at"`
	UpdatedAt          Time   `db:"updated_at"`
	CategoryChangeTo   string `db:"category_change_to"` // the category that the provider has announced, "" for none
	CategoryChangeAt   Time   `db:"category_change_at"`
}

// States of a template.
const (
	TemplatePending  = "pending"
	TemplateApproved = "approved"
	TemplateRejected = "rejected"
)

const (
	templateColumns = `id, account_id, name, language, status, coalesce(provider_status, '') AS provider_status,
		coalesce(provider_template_id, '') AS provider_template_id, coalesce(category, '') AS category,
		parameter_format, content, components, coalesce(reason, '') AS reason, reviewed_at, created_at, updated_at,
		coalesce(category_change_to, '') AS category_change_to, category_change_at`
	selectTemplates = `SELECT ` + templateColumns + ` FROM templates `
)

// Template finds a template of an account.
func (rx *Rx) Template(account int64, name, language string) (Template, error) {
	return get[Template](rx, selectTemplates+`WHERE account_id = ? AND name = ? AND language = ?`, account, name, language)
}

// TemplateByID finds a template of any live account of an organization.
func (rx *Rx) TemplateByID(organization int64, id string) (Template, error) {
	return get[Template](rx, selectTemplates+`
		WHERE id = ? AND account_id IN (SELECT id FROM accounts WHERE organization_id = ? AND deleted_at = 0)`, id, organization)
}

// NewestTemplate finds, of the languages of a name, the template made last.
func (rx *Rx) NewestTemplate(account int64, name string) (Template, error) {
	return get[Template](rx, selectTemplates+`
		WHERE account_id = ? AND name = ?
		ORDER BY created_at DESC, id DESC
		LIMIT 1`, account, name)
}

// TemplateFilter narrows a list of templates; an empty field does not.
type TemplateFilter struct {
	Status   string
	Language string
}

// Templates lists an account's templates, newest first, as sqlite.FindPage does.
func (rx *Rx) Templates(account int64, f TemplateFilter, after After, limit int) ([]Template, After, error) {
	q := sqlite.ListQuery{Columns: templateColumns, Table: "templates", Index: "templates_of_account", Key: "created_at", ID: "id"}
	if f.Status != "" {
		q.Index = "templates_by_status"
	}

	q.ByIndex("account_id = ?", true, account)
	q.ByIndex("status = ?", f.Status != "", f.Status)
	q.Filter("language = ?", f.Language != "", f.Language)
	return sqlite.FindPage[Template](&rx.Rx, q, after, limit)
}

// AllTemplates lists all of an account's templates.
func (rx *Rx) AllTemplates(account int64) ([]Template, error) {
	return list[Template](rx, selectTemplates+`WHERE account_id = ?`, account)
}

// TemplatesAtProvider finds a template by the provider's id, in each live account
// that shares the provider's account; where that id was never reported, by its name.
func (rx *Rx) TemplatesAtProvider(wabaID, providerID, name, language string) ([]Template, error) {
	return list[Template](rx, selectTemplates+`
		WHERE account_id IN (SELECT id FROM accounts WHERE waba_id = ? AND deleted_at = 0)
			AND (provider_template_id = ? OR provider_template_id IS NULL AND name = ? AND language = ?)
		ORDER BY account_id`, wabaID, providerID, name, language)
}

// InsertTemplate stores a template. ErrConflict: the account has one of that name and language.
func (tx *Tx) InsertTemplate(t *Template) error {
	t.ID = tx.NewID(PrefixTemplate)
	t.CreatedAt, t.UpdatedAt = tx.Order, tx.Order

	_, err := tx.Exec(`
		INSERT INTO templates (id, account_id, name, language, status, provider_status, provider_template_id, category,
			parameter_format, content, components, reason, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, nullif(?, ''), nullif(?, ''), nullif(?, ''), ?, ?, ?, nullif(?, ''), ?, ?)`,
		t.ID, t.AccountID, t.Name, t.Language, t.Status, t.ProviderStatus, t.ProviderTemplateID, t.Category,
		t.ParameterFormat, t.Content, t.Components, t.Reason, t.CreatedAt, t.UpdatedAt)
	return tx.hint(err, HintTemplate, Scope{Account: t.AccountID}, t.ID)
}

// UpdateTemplate stores every changeable field of t but when it was reviewed.
func (tx *Tx) UpdateTemplate(t *Template) error {
	t.UpdatedAt = tx.Order
	err := tx.ExecOne(`
		UPDATE templates
		SET status = ?, provider_status = nullif(?, ''), provider_template_id = nullif(?, ''), category = nullif(?, ''),
			parameter_format = ?,
			content = ?, components = ?, reason = nullif(?, ''), updated_at = ?,
			category_change_to = nullif(?, ''), category_change_at = ?
		WHERE id = ? AND account_id = ?`,
		t.Status, t.ProviderStatus, t.ProviderTemplateID, t.Category, t.ParameterFormat,
		t.Content, t.Components, t.Reason, t.UpdatedAt, t.CategoryChangeTo, t.CategoryChangeAt, t.ID, t.AccountID)
	return tx.hint(err, HintTemplate, Scope{Account: t.AccountID}, t.ID)
}

// MarkTemplateReviewed records that a callback reported a verdict, the same as before or another.
func (tx *Tx) MarkTemplateReviewed(account int64, id string) error {
	return tx.ExecOne(`
		UPDATE templates
		SET reviewed_at = ?
		WHERE id = ? AND account_id = ?`, tx.Now, id, account)
}

// DeleteTemplate deletes a template that the provider no longer has.
func (tx *Tx) DeleteTemplate(account int64, id string) error {
	err := tx.ExecOne(`
		DELETE FROM templates
		WHERE id = ? AND account_id = ?`, id, account)
	return tx.hint(err, HintTemplate, Scope{Account: account}, id)
}
