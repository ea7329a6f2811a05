package storage

import "confab/storage/sqlite"

// The kinds of jobs that finish what one transaction cannot do without holding
// the writer for too long; their arguments are SubscriptionArgs.
const (
	KindFailDeliveries     = "webhook.fail_deliveries" // the outstanding deliveries of a disabled subscription
	KindDeleteSubscription = "webhook.delete"          // a deleted subscription with its deliveries
)

// SubscriptionArgs name the subscription that a job is about.
type SubscriptionArgs struct {
	AboutNoAccount
	Subscription string `json:"subscription"`
}

// DeliveriesPerStep is how many deliveries one transaction ends or removes, with their jobs.
const DeliveriesPerStep = sqlite.MaxRows / 2

// deliveryLane is the lane of a subscription's deliveries, closed unless that is active.
func deliveryLane(subscription string) string { return deliveryLanes + subscription }

const deliveryLanes = KindDeliver + ":"

// hintSubscription notes that a subscription was changed, which shows with its deliveries.
func (tx *Tx) hintSubscription(err error, id string) error {
	return tx.hint(err, HintDelivery, Scope{Subscription: id}, "")
}

// PauseSubscription makes the deliveries of an active subscription wait, and all retries.
func (tx *Tx) PauseSubscription(id string) error {
	err := tx.ExecOne(`
		UPDATE subscriptions
		SET status = 'paused', updated_at = ?
		WHERE id = ? AND status = 'active'`, tx.Order, id)
	if err := tx.hintSubscription(err, id); err != nil {
		return err
	}

	tx.closeLane(deliveryLane(id))
	return nil
}

// ResumeSubscription makes a paused or disabled subscription active. Deliveries
// that waited go out, oldest first; dead ones stay dead. The count of failures
// starts anew after it was disabled, but not after a pause, which proves nothing.
func (tx *Tx) ResumeSubscription(id string) error {
	err := tx.ExecOne(`
		UPDATE subscriptions
		SET status = 'active', disabled_reason = NULL, updated_at = ?,
			consecutive_failures = iif(status = 'disabled', 0, consecutive_failures),
			failing_since = iif(status = 'disabled', 0, failing_since)
		WHERE id = ? AND deleted_at = 0`, tx.Order, id)
	if err := tx.hintSubscription(err, id); err != nil {
		return err
	}

	tx.openLane(deliveryLane(id))
	return nil
}

// DisableSubscription stops a subscription, unless it is, and makes its outstanding deliveries dead: the
// first ones at once, more than that by a job.
func (tx *Tx) DisableSubscription(id, reason string) error {
	n, err := tx.Exec(`
		UPDATE subscriptions
		SET status = 'disabled', disabled_reason = ?, updated_at = ?
		WHERE id = ? AND status <> 'disabled'`, reason, tx.Order, id)
	if err != nil || n == 0 {
		return err
	}

	tx.closeLane(deliveryLane(id))
	organization, err := tx.SubscriptionOrganization(id)
	if err := tx.hintSubscription(err, id); err != nil {
		return err
	}
	if err := tx.Audit(organization, System, "webhook.disabled", "webhook_subscription", id); err != nil {
		return err
	}

	// A full step may have left some: they are the job's.
	buried, err := tx.FailOutstandingDeliveries(id)
	if err != nil || buried < DeliveriesPerStep {
		return err
	}
	_, err = tx.Enqueue(NewJob{Kind: KindFailDeliveries, Args: SubscriptionArgs{Subscription: id}})
	return err
}

// SubscriptionOrganization is the organization of a subscription.
func (rx *Rx) SubscriptionOrganization(id string) (organization int64, err error) {
	return get[int64](rx, `SELECT organization_id FROM subscriptions WHERE id = ?`, id)
}

// outstandingOf lists the oldest deliveries of a subscription that are still to be made: their ids and jobs.
func (rx *Rx) outstandingOf(subscription string, limit int) (all []Delivery, err error) {
	for _, status := range []string{DeliveryFailed, DeliveryPending} {
		some, err := list[Delivery](rx, `
			SELECT id, job_id
			FROM deliveries
			WHERE subscription_id = ? AND status = ?
			ORDER BY created_at, id
			LIMIT ?`, subscription, status, limit-len(all))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}

	return all, nil
}

// FailOutstandingDeliveries makes up to DeliveriesPerStep outstanding deliveries of a
// disabled subscription dead, takes their jobs off the queue, and returns how
// many there were: none of one that was enabled meanwhile.
func (tx *Tx) FailOutstandingDeliveries(subscription string) (int, error) {
	disabled, err := get[int](&tx.Rx, `SELECT count(*) FROM subscriptions WHERE id = ? AND status = 'disabled'`, subscription)
	if err != nil || disabled == 0 {
		return 0, err
	}

	all, err := tx.outstandingOf(subscription, DeliveriesPerStep)
	if err != nil {
		return 0, err
	}

	for _, d := range all {
		if err := tx.MarkDeliveryDisabled(d.ID); err != nil {
			return 0, err
		}
		// Its lane is closed and it will not run, so nothing else would remove it. A worker that has it finds
		// its lease lost.
		if err := tx.Run(`DELETE FROM jobs WHERE id = ? AND kind = 'deliver'`, d.JobID); err != nil {
			return 0, err
		}
	}

	return len(all), tx.hintSubscription(nil, subscription)
}

// DeleteSubscription removes a subscription at once; its deliveries, if many, by a job.
func (tx *Tx) DeleteSubscription(organization int64, id string) error {
	err := tx.ExecOne(`
		UPDATE subscriptions
		SET deleted_at = ?, status = 'disabled', custom_headers = NULL, verify_token = NULL
		WHERE id = ? AND organization_id = ? AND deleted_at = 0`, tx.Now, id, organization)
	if err := tx.hint(err, HintDelivery, Scope{Organization: organization}, ""); err != nil {
		return err
	}
	tx.closeLane(deliveryLane(id))

	if err := tx.Run(`DELETE FROM signing_secrets WHERE subscription_id = ?`, id); err != nil {
		return err
	}

	if gone, err := tx.DeleteSubscriptionStep(id); err != nil || gone {
		return err
	}

	_, err = tx.Enqueue(NewJob{Kind: KindDeleteSubscription, Args: SubscriptionArgs{Subscription: id}})
	return err
}

// DeleteSubscriptionStep removes up to DeliveriesPerStep deliveries of a deleted subscription, with envelopes
// of theirs alone, and at last itself; then it returns true.
func (tx *Tx) DeleteSubscriptionStep(id string) (gone bool, err error) {
	const some = `FROM deliveries WHERE subscription_id = ? ORDER BY status, created_at, id LIMIT ?`
	var events []string
	if err := tx.List(&events, `SELECT event `+some, id, DeliveriesPerStep); err != nil {
		return false, err
	}
	n, err := tx.deleteDeliveries(`id IN (SELECT id `+some+`)`, id, DeliveriesPerStep)
	if err == nil {
		_, err = tx.Exec(`
			DELETE FROM events
			WHERE id IN (SELECT value FROM json_each(?)) AND organization_id < 0
				AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event = events.id)`, jsonList(events))
	}
	if err != nil || n == DeliveriesPerStep {
		return false, err
	}

	tx.openLane(deliveryLane(id)) // it is empty: the runner need not remember it
	if err := tx.Run(`DELETE FROM delivery_hours WHERE subscription_id = ?`, id); err != nil {
		return false, err
	}
	_, err = tx.Exec(`DELETE FROM subscriptions WHERE id = ? AND deleted_at <> 0`, id)
	return true, err
}
