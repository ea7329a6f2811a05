package api

import (
	"confab/app/api"
	"confab/app/api/rest"
	"confab/jobs/event"
	"confab/storage"
)

// restoreCustomer handles POST /console/api/customers/:id/restore.
func (s *Server) restoreCustomer(r *rest.Request) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		c, err := api.CustomerIn(&tx.Rx, r)
		if err != nil || c.Status != storage.CustomerArchived {
			rep := rest.OK(event.ViewCustomer(c))
			rep.Unchanged = true
			return rep, err
		}

		if err := tx.RestoreCustomer(&c); err != nil {
			return rest.Reply{}, err
		}

		return rest.OK(event.ViewCustomer(c)), event.Customer(event.TypeCustomerUpdated, c).Emit(tx)
	})
}
