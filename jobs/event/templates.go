package event

import "confab/storage"

type categoryChanging struct {
	Template templateData `json:"template"`
	To       string       `json:"to"`
	At       storage.Time `json:"at"`
}

type templateData struct {
	ID            string `json:"id"`
	Object        string `json:"object"`
	Name          string `json:"name"`
	Language      string `json:"language"`
	Status        string `json:"status"`
	Category      string `json:"category"`
	PhoneNumberID string `json:"phone_number_id"`
}

// TemplateCategoryChanging says that the provider will move a template to another category,
// and thereby to another price.
func TemplateCategoryChanging(s Subject, t storage.Template) Event {
	return Event{subject: s, kind: TypeTemplateCategory, data: categoryChanging{
		Template: templateData{
			ID:            t.ID,
			Object:        "template",
			Name:          t.Name,
			Language:      t.Language,
			Status:        t.Status,
			Category:      t.Category,
			PhoneNumberID: s.PhoneNumberID,
		},
		To: t.CategoryChangeTo,
		At: t.CategoryChangeAt,
	}}
}
