package storage

// Template is a message template as last seen at the provider.
type Template struct {
	ID              string `db:"id"`
	AccountID       int64  `db:"account_id"`
	Name            string `db:"name"`
	Language        string `db:"language"`
	Status          string `db:"status"`
	Category        string `db:"category"` // "" if it was never told
	ParameterFormat string `db:"parameter_format"`
	Content         string `db:"content"`
	Components      JSON   `db:"components"`
	CreatedAt       Time   `db:"created_at"`
	UpdatedAt       Time   `db:"updated_at"`
}

const templateColumns = `id, account_id, name, language, status, coalesce(category, '') AS category, parameter_format, content, components, created_at, updated_at`

// Template finds a template of an account.
func (rx *Rx) Template(account int64, name, language string) (Template, error) {
	var t Template
	err := rx.get(&t, `
		SELECT `+templateColumns+`
		FROM templates
		WHERE account_id = ? AND name = ? AND language = ?`, account, name, language)
	return t, err
}

// InsertTemplate stores a new template and fills in its id and times.
func (tx *Tx) InsertTemplate(t *Template) error {
	t.ID = tx.NewID(PrefixTemplate)
	t.CreatedAt, t.UpdatedAt = tx.Now, tx.Now
	_, err := tx.exec(`
		INSERT INTO templates (id, account_id, name, language, status, category, parameter_format, content, components, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?)`,
		t.ID, t.AccountID, t.Name, t.Language, t.Status, t.Category, t.ParameterFormat, t.Content, t.Components, t.CreatedAt, t.UpdatedAt)
	return err
}
