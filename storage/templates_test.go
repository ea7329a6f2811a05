package storage_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// templateOf is a template of an account, approved and in English.
func templateOf(a storage.Account, name string) storage.Template {
	return storage.Template{AccountID: a.ID, Name: name, Language: "en_US", Status: storage.TemplateApproved, ProviderStatus: "APPROVED", ProviderTemplateID: "7" + name,
		Category: "UTILITY", ParameterFormat: "POSITIONAL", Content: "Hi", Components: storage.JSON(`[{"type":"BODY","text":"Hi"}]`)}
}

// putTemplate stores templates, in their order.
func putTemplate(t *testing.T, db *storage.DB, all ...*storage.Template) {
	t.Helper()
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		for _, one := range all {
			if err := tx.InsertTemplate(one); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestATemplateIsReadBackAsItWasStored(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	db := storagetest.OpenDir(t, dir)
	tenant := storagetest.Seed(t, db, "Acme")
	a := storagetest.Connect(t, db, tenant, "100001")
	one := templateOf(a, "welcome")
	one.Status, one.ProviderStatus, one.Reason = storage.TemplateRejected, "REJECTED", "SCAM"
	putTemplate(t, db, &one)
	is.True(storage.ValidID(storage.PrefixTemplate, one.ID))
	is.Equal(view(t, db, func(rx *storage.Rx) (storage.Template, error) { return rx.Template(a.ID, "welcome", "en_US") }), one)

	err := db.Update(t.Context(), func(tx *storage.Tx) error { again := one; return tx.InsertTemplate(&again) })
	is.True(errors.Is(err, storage.ErrConflict)) // one of a name and language

	one.Status, one.ProviderStatus, one.Reason, one.Category, one.ProviderTemplateID = storage.TemplatePending, "", "", "", ""
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.UpdateTemplate(&one) })
	is.Equal(view(t, db, func(rx *storage.Rx) (storage.Template, error) { return rx.Template(a.ID, "welcome", "en_US") }), one)
	is.Equal(column(t, storage.DatabaseFile(dir), `SELECT count(*) FROM templates WHERE provider_status IS NULL AND reason IS NULL AND category IS NULL AND provider_template_id IS NULL`), []string{"1"})

	other := storagetest.Connect(t, db, tenant, "100002")
	for _, fn := range []func(*storage.Tx) error{
		func(tx *storage.Tx) error { return tx.DeleteTemplate(other.ID, one.ID) },
		func(tx *storage.Tx) error {
			foreign := one
			foreign.AccountID = other.ID
			return tx.UpdateTemplate(&foreign)
		},
		func(tx *storage.Tx) error { _, err := tx.Template(other.ID, "welcome", "en_US"); return err },
		func(tx *storage.Tx) error { _, err := tx.NewestTemplate(other.ID, "welcome"); return err },
	} {
		is.True(errors.Is(db.Update(t.Context(), fn), storage.ErrNotFound)) // another account's
	}
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DeleteTemplate(a.ID, one.ID) })
	is.Equal(len(view(t, db, func(rx *storage.Rx) ([]storage.Template, error) { return rx.AllTemplates(a.ID) })), 0)
}

func TestTemplatesAreListedByStatusAndLanguage(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	a, other := storagetest.Connect(t, db, tenant, "100001"), storagetest.Connect(t, db, tenant, "100002")
	for i := range 6 {
		one := templateOf(a, fmt.Sprint("t", i))
		if i%2 == 1 {
			one.Status = storage.TemplatePending
		}
		if i >= 3 {
			one.Language = "de"
		}
		putTemplate(t, db, &one)
	}
	foreign := templateOf(other, "t9")
	putTemplate(t, db, &foreign)
	for _, c := range []struct {
		filter storage.TemplateFilter
		want   string
	}{
		{storage.TemplateFilter{}, "t5 t4 t3 t2 t1 t0"},
		{storage.TemplateFilter{Status: storage.TemplateApproved}, "t4 t2 t0"},
		{storage.TemplateFilter{Language: "de"}, "t5 t4 t3"},
		{storage.TemplateFilter{Status: storage.TemplatePending, Language: "de"}, "t5 t3"},
		{storage.TemplateFilter{Language: "fr"}, ""},
	} {
		got, after := "", storage.First
		for { // in pages of two
			page := view(t, db, func(rx *storage.Rx) ([]storage.Template, error) {
				page, _, err := rx.Templates(a.ID, c.filter, after, 2)
				return page, err
			})
			for _, one := range page {
				got += " " + one.Name
				after = storage.After{Key: one.CreatedAt, ID: one.ID}
			}
			if len(page) < 2 {
				break
			}
		}
		if got != "" {
			got = got[1:]
		}
		is.Equal(got, c.want)
	}
	one := templateOf(a, "t0")
	one.Language = "fr"
	putTemplate(t, db, &one)
	is.Equal(view(t, db, func(rx *storage.Rx) (storage.Template, error) { return rx.NewestTemplate(a.ID, "t0") }).Language, "fr")
}

func TestATemplateAtTheProviderIsOneInEachAccountThatSharesIt(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	db := storagetest.OpenDir(t, dir)
	tenant := storagetest.Seed(t, db, "Acme")
	a, b, c := storagetest.Connect(t, db, tenant, "100001"), storagetest.Connect(t, db, tenant, "100002"), storagetest.Connect(t, db, tenant, "100003")
	alter(t, storage.DatabaseFile(dir), `UPDATE accounts SET waba_id = 'shared' WHERE phone_number_id <> '100003'`)
	named := templateOf(b, "welcome")
	named.ProviderTemplateID = "" // it was never reported
	of := []storage.Template{templateOf(a, "welcome"), named, templateOf(c, "welcome"), templateOf(a, "other")}
	for i := range of {
		putTemplate(t, db, &of[i])
	}
	found := view(t, db, func(rx *storage.Rx) ([]storage.Template, error) {
		return rx.TemplatesAtProvider("shared", "7welcome", "welcome", "en_US")
	})
	is.Equal(found, []storage.Template{of[0], of[1]})
	alter(t, storage.DatabaseFile(dir), `UPDATE accounts SET deleted_at = 1 WHERE id = 1`)
	is.Equal(len(view(t, db, func(rx *storage.Rx) ([]storage.Template, error) {
		return rx.TemplatesAtProvider("shared", "7welcome", "welcome", "en_US")
	})), 1)
}
