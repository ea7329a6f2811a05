package cli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"confab/jobs/event"
	"confab/storage"
)

// customerView is a customer as the API shows it, with its organization.
type customerView struct {
	event.CustomerData
	OrganizationID string `json:"organization_id"`
}

func viewCustomer(c storage.Customer, o storage.Organization, _ storage.Time) customerView {
	return customerView{CustomerData: event.ViewCustomer(c), OrganizationID: o.PublicID}
}

func (e *env) customersList() *cobra.Command {
	filter, limit := storage.CustomerFilter{Archived: true}, listLimit
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List end-customers, newest first, including archived ones",
		Example: "  confab customers list\n  confab customers list --org org_01J… --status archived --json",
	}

	parsedFlag(cmd, &filter.Status, "status", "only with this status: `pending|active|suspended|archived`",
		parseChoice(storage.CustomerPending, storage.CustomerActive, storage.CustomerSuspended, storage.CustomerArchived))
	limitFlag(cmd, &limit)

	columns := table[customerView]{
		heading: []string{"ID", "NAME", "EMAIL", "STATUS", "ORGANIZATION", "CREATED"},
		row: func(v customerView) []string {
			return []string{v.ID, v.Name, storage.OrEmpty(v.Email), v.Status, v.OrganizationID, v.CreatedAt.String()}
		},
	}
	ofEach := readEachOrganization(cmd, func(rx *storage.Rx, organization int64) ([]storage.Customer, error) {
		found, _, err := rx.Customers(organization, filter, storage.First, limit)
		return found, err
	}, viewCustomer)
	return listCommand(e, cmd, columns, func(rx *storage.Rx, args []string) ([]customerView, error) {
		all, err := ofEach(rx, args)
		slices.SortStableFunc(all, func(a, b customerView) int { return cmp.Compare(b.CreatedAt, a.CreatedAt) })
		return all[:min(len(all), limit)], err
	})
}

func (e *env) customersRestore() *cobra.Command {
	return &cobra.Command{
		Use:   "restore CUS",
		Short: "Restore an archived customer and print its status",
		Long: "Restore an archived customer to its previous status (pending, active or suspended) and print the status.\n" +
			"Its numbers and setup links work again. Webhook subscribers get customer.updated.",
		Example: "  confab customers restore cus_01J…",
		RunE: e.runWrite(func(tx *storage.Tx, args []string) (written, error) {
			c, err := restoreCustomer(tx, args[0])
			entry := auditEntry{c.OrganizationID, "customer.restored", "customer", c.ID}
			return written{entry: entry, text: c.Status}, notFound(err, "customer", args[0])
		}),
	}
}

// restoreCustomer gives an archived customer its earlier status back, and emits customer.updated.
func restoreCustomer(tx *storage.Tx, id string) (storage.Customer, error) {
	c, err := tx.AnyCustomer(id)
	if err != nil {
		return c, err
	}
	if c.Status != storage.CustomerArchived {
		return c, fmt.Errorf("customer %s is not archived: it is %s", c.ID, c.Status)
	}

	if err := tx.RestoreCustomer(&c); err != nil {
		return c, err
	}
	return c, event.Customer(event.TypeCustomerUpdated, c).Emit(tx)
}
