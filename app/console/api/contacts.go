package api

import (
	"confab/app/api/rest"
	"confab/storage"
)

// contactByID finds the contact in the path, of any number of the organization.
func contactByID(rx *storage.Rx, r *rest.Request) (storage.Contact, error) {
	return rest.InPath(r, "id", storage.PrefixContact, r.Org.ID, rx.ContactOfOrganization)
}
