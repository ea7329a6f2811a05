package jobs

import (
	"fmt"

	"confab/jobs/event"
	"confab/storage"
)

// RestoreCustomer makes an archived customer what it was before, and tells of
// it.
func RestoreCustomer(tx *storage.Tx, id string) (storage.Customer, error) {
	c, err := tx.AnyCustomer(id)
	if err != nil {
		return c, err
	}
	if c.Status != storage.CustomerArchived {
		return c, fmt.Errorf("customer %s is not archived, it is %s", c.ID, c.Status)
	}

	if err := tx.RestoreCustomer(&c); err != nil {
		return c, err
	}
	return c, event.CustomerUpdated(c).Emit(tx)
}
