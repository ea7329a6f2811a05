package storage

// Names finds what things of an organization are called, by their public ids: people, keys,
// numbers, webhooks and so on. What has no name, or is gone, is left out.
func (rx *Rx) Names(organization int64, ids []string) (map[string]string, error) {
	const among = `IN (SELECT value FROM json_each(?2))`
	var all []struct {
		ID   string `db:"id"`
		Name string `db:"name"`
	}
	err := rx.List(&all, `
		SELECT id, name FROM users WHERE id `+among+` AND organization_id = ?1
		UNION ALL SELECT id, coalesce(label, '…' || last4) FROM api_keys WHERE id `+among+` AND organization_id = ?1
		UNION ALL SELECT public_id, name FROM teams WHERE public_id `+among+` AND organization_id = ?1
		UNION ALL SELECT phone_number_id, coalesce(name, phone_number, phone_number_id) FROM accounts
			WHERE phone_number_id `+among+` AND organization_id = ?1 AND deleted_at = 0
		UNION ALL SELECT id, name FROM customers WHERE id `+among+` AND organization_id = ?1
		UNION ALL SELECT l.id, c.name FROM setup_links l JOIN customers c ON c.id = l.customer_id
			WHERE l.id `+among+` AND c.organization_id = ?1
		UNION ALL SELECT id, coalesce(description, url) FROM subscriptions WHERE id `+among+` AND organization_id = ?1 AND deleted_at = 0
		UNION ALL SELECT x.id, coalesce(s.description, s.url) FROM signing_secrets x JOIN subscriptions s ON s.id = x.subscription_id
			WHERE x.id `+among+` AND s.organization_id = ?1 AND s.deleted_at = 0
		UNION ALL SELECT id, event_type FROM deliveries WHERE id `+among+` AND organization_id = ?1
		UNION ALL SELECT id, name FROM labels WHERE id `+among+` AND organization_id = ?1 AND deleted_at = 0
		UNION ALL SELECT id, '/' || shortcut FROM quick_replies WHERE id `+among+` AND organization_id = ?1
		UNION ALL SELECT t.id, t.name FROM templates t JOIN accounts a ON a.id = t.account_id
			WHERE t.id `+among+` AND a.organization_id = ?1
		UNION ALL SELECT c.id, coalesce(c.name, c.phone_number, c.username, c.bsuid) FROM contacts c JOIN accounts a ON a.id = c.account_id
			WHERE c.id `+among+` AND a.organization_id = ?1
		UNION ALL SELECT b.id, b.name FROM broadcasts b JOIN accounts a ON a.id = b.account_id
			WHERE b.id `+among+` AND a.organization_id = ?1`, organization, jsonList(ids))

	names := make(map[string]string, len(all))
	for _, one := range all {
		names[one.ID] = one.Name
	}
	return names, err
}
