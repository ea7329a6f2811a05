package jobs

import (
	"fmt"

	"confab/jobs/event"
	"confab/storage"
)

// RestoreCustomer gives an archived customer its earlier status back, and emits
// customer.updated.
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
