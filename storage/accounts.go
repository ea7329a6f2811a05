package storage

import (
	"context"

	"confab/storage/sqlite"
)

// Account is a business number as an organization has connected it.
type Account struct {
	ID             int64   `db:"id"`
	PublicID       string  `db:"public_id"`
	OrganizationID int64   `db:"organization_id"`
	TeamID         int64   `db:"team_id"`
	CustomerID     *string `db:"customer_id"`
	PhoneNumberID  *string `db:"phone_number_id"`
	WABAID         *string `db:"waba_id"`
	PhoneNumber    *string `db:"phone_number"`
	Name           *string `db:"name"`
	Status         string  `db:"status"`
	ProviderStatus *string `db:"provider_status"`
	OnboardedAt    Time    `db:"onboarded_at"`
	CreatedAt      Time    `db:"created_at"`
	UpdatedAt      Time    `db:"updated_at"`
}

// States of an account.
const (
	AccountConnected    = "connected"
	AccountDisconnected = "disconnected"
	AccountDegraded     = "degraded"
	AccountOnboarding   = "onboarding"
)

const (
	accountColumns = `a.id, a.public_id, a.organization_id, a.team_id, a.customer_id, a.phone_number_id, a.waba_id,
		a.phone_number, a.name, a.status, a.provider_status, a.onboarded_at, a.created_at, a.updated_at`
	selectAccounts = `SELECT ` + accountColumns + ` FROM accounts a `
)

// AccountByNumber finds the live account of a phone number id, one in the whole installation.
func (rx *Rx) AccountByNumber(phoneNumberID string) (Account, error) {
	return rx.db.caches.numbers.find(rx, phoneNumberID)
}

func (rx *Rx) readAccountByNumber(phoneNumberID string) (Account, error) {
	return get[Account](rx, selectAccounts+`WHERE phone_number_id = ? AND deleted_at = 0`, phoneNumberID)
}

// AccountDetail is an account with all that its owner sees of it.
type AccountDetail struct {
	Account
	TeamPublicID  string  `db:"team_public_id"`
	StatusReason  *string `db:"status_reason"`
	Restricted    bool    `db:"restricted"`
	CooldownUntil Time    `db:"cooldown_until"`
}

const (
	accountDetailColumns = accountColumns + `, t.public_id AS team_public_id, a.status_reason, a.restricted, a.cooldown_until`
	accountDetailJoins   = `JOIN teams t ON t.id = a.team_id`
	selectAccountDetails = `SELECT ` + accountDetailColumns + ` FROM accounts a ` + accountDetailJoins + ` `
)

// AccountDetail finds the live account with a key.
func (rx *Rx) AccountDetail(account int64) (AccountDetail, error) {
	return get[AccountDetail](rx, selectAccountDetails+`WHERE a.id = ? AND a.deleted_at = 0`, account)
}

// AccountFilter narrows a list of accounts; an empty field does not.
type AccountFilter struct {
	Status     string
	CustomerID string
	Of         Accounts
}

// Accounts lists an organization's live accounts, newest first, as sqlite.FindPage does.
func (rx *Rx) Accounts(organization int64, f AccountFilter, after After, limit int) ([]AccountDetail, After, error) {
	q := sqlite.ListQuery{
		Columns: accountDetailColumns,
		Table:   "accounts a",
		Joins:   accountDetailJoins,
		Key:     "a.created_at",
		ID:      "a.public_id",
	}
	q.ByIndex("a.organization_id = ?", true, organization)
	q.PartialIndex("accounts_of_organization", "a.deleted_at = 0")
	q.Filter("a.status = ?", f.Status != "", f.Status)
	q.Filter("a.customer_id = ?", f.CustomerID != "", f.CustomerID)
	q.Filter(isAmong("a.id", "?"), f.Of.Bound(), idText(f.Of))
	return sqlite.FindPage[AccountDetail](&rx.Rx, q, after, limit)
}

// AccountsOfWABA lists the live accounts that share an account of the provider.
func (rx *Rx) AccountsOfWABA(wabaID string) ([]Account, error) {
	return list[Account](rx, selectAccounts+`WHERE waba_id = ? AND deleted_at = 0 ORDER BY id`, wabaID)
}

// AccountsToCheck lists the keys, after one, of the live accounts that the
// provider was not asked about since a time; to have been asked in the future, by a
// clock that was ahead, does not count. A number that was disconnected, on purpose or by the
// provider, is not asked about.
func (rx *Rx) AccountsToCheck(since Time, after int64, limit int) ([]int64, error) {
	return list[int64](rx, `
		SELECT id
		FROM accounts
		WHERE id > ? AND deleted_at = 0 AND phone_number_id IS NOT NULL AND status <> 'disconnected'
			AND max(created_at, checked_at) NOT BETWEEN ? AND ?
		ORDER BY id
		LIMIT ?`, after, since, rx.db.Now(), limit)
}

// AccountKey is what never changes of a live account.
type AccountKey struct {
	ID             int64  `db:"id"`
	OrganizationID int64  `db:"organization_id"`
	TeamID         int64  `db:"team_id"`
	PhoneNumberID  string `db:"phone_number_id"`
}

func (a Account) key(phoneNumberID string) AccountKey {
	return AccountKey{ID: a.ID, OrganizationID: a.OrganizationID, TeamID: a.TeamID, PhoneNumberID: phoneNumberID}
}

// AccountKey finds the live account of a phone number id, of any organization.
func (rx *Rx) AccountKey(phoneNumberID string) (AccountKey, error) {
	a, err := rx.AccountByNumber(phoneNumberID)
	return a.key(phoneNumberID), err
}

// AccountKey is Rx.AccountKey without a transaction: every request needs it.
func (db *DB) AccountKey(ctx context.Context, phoneNumberID string) (AccountKey, error) {
	a, err := db.caches.numbers.fetch(ctx, db, phoneNumberID)
	return a.key(phoneNumberID), err
}

// ForeignNumber finds the first of some phone number ids that the organization lacks; else ErrNotFound.
func (rx *Rx) ForeignNumber(organization int64, phoneNumberIDs []string) (string, error) {
	if len(phoneNumberIDs) == 0 {
		return "", ErrNotFound
	}

	return get[string](rx, `
		SELECT wanted.value
		FROM json_each(?) wanted
		WHERE NOT EXISTS (
			SELECT 1 FROM accounts a
			WHERE a.phone_number_id = wanted.value AND a.deleted_at = 0 AND a.organization_id = ?)
		ORDER BY wanted.key
		LIMIT 1`, jsonList(phoneNumberIDs), organization)
}

// AccountsOfNumbers are the live accounts of an organization with some phone number ids.
func (rx *Rx) AccountsOfNumbers(organization int64, phoneNumberIDs []string) (Accounts, error) {
	return list[int64](rx, `
		SELECT id
		FROM accounts
		WHERE phone_number_id IN (SELECT value FROM json_each(?)) AND deleted_at = 0 AND organization_id = ?
		ORDER BY id`, jsonList(phoneNumberIDs), organization)
}

// AccountSummary is what templates, contacts and conversations show of their account.
type AccountSummary struct {
	PhoneNumber   *string `db:"phone_number"`
	PhoneNumberID *string `db:"phone_number_id"`
	CustomerID    *string `db:"customer_id"`
	CustomerName  *string `db:"customer_name"`
}

// AccountSummary finds an account with the customer that owns it, if one does.
func (rx *Rx) AccountSummary(account int64) (AccountSummary, error) {
	return rx.db.caches.summaries.find(rx, account)
}

func (rx *Rx) readAccountSummary(account int64) (AccountSummary, error) {
	return get[AccountSummary](rx, `
		SELECT a.phone_number, a.phone_number_id, c.id AS customer_id, c.name AS customer_name
		FROM accounts a LEFT JOIN customers c ON c.id = a.customer_id
		WHERE a.id = ?`, account)
}

// InsertAccount stores a new account with its token, sealed. ErrConflict: the number is connected.
func (tx *Tx) InsertAccount(a *Account, accessToken string) error {
	a.PublicID = tx.NewID(PrefixAccount)
	a.CreatedAt, a.UpdatedAt = tx.Order, tx.Order

	var err error
	a.ID, err = tx.Insert(`
		INSERT INTO accounts (public_id, organization_id, team_id, customer_id, phone_number_id, waba_id, phone_number, name,
			status, provider_status, access_token, onboarded_at, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		a.PublicID, a.OrganizationID, a.TeamID, a.CustomerID, a.PhoneNumberID, a.WABAID, a.PhoneNumber, a.Name, a.Status, a.ProviderStatus,
		tx.db.Seal(tokenPurpose(a.PublicID), []byte(accessToken)), a.OnboardedAt, a.CreatedAt, a.UpdatedAt)
	return tx.hint(err, HintAccount, Scope{Organization: a.OrganizationID}, "")
}

// AccessToken opens the account's token for the provider.
func (rx *Rx) AccessToken(a Account) (string, error) { return rx.db.caches.tokens.find(rx, a.ID) }

// AccessToken is Rx.AccessToken for callers without a transaction.
func (db *DB) AccessToken(ctx context.Context, a Account) (string, error) {
	return db.caches.tokens.fetch(ctx, db, a.ID)
}

func (rx *Rx) readAccessToken(account int64) (string, error) {
	var (
		publicID string
		sealed   []byte
	)
	if err := rx.Scan([]any{&publicID, &sealed}, `SELECT public_id, access_token FROM accounts WHERE id = ?`, account); err != nil {
		return "", err
	}

	token, err := rx.db.Unseal(tokenPurpose(publicID), sealed)
	return string(token), err
}

func tokenPurpose(account string) string { return "access token of " + account }

// Sender is an account with all that decides whether it may send.
type Sender struct {
	Account
	Restricted     bool    `db:"restricted"`
	CooldownUntil  Time    `db:"cooldown_until"`
	CustomerStatus *string `db:"customer_status"`
	Subscription   string  `db:"subscription"`
	SuspendedAt    Time    `db:"suspended_at"`
	RequireOptIn   bool    `db:"require_opt_in"`
}

// Sender finds the live account with a key.
func (rx *Rx) Sender(account int64) (Sender, error) { return rx.db.caches.senders.find(rx, account) }

// Sender is Rx.Sender for callers without a transaction.
func (db *DB) Sender(ctx context.Context, account int64) (Sender, error) {
	return db.caches.senders.fetch(ctx, db, account)
}

func (rx *Rx) readSender(account int64) (Sender, error) {
	return get[Sender](rx, `
		SELECT `+accountColumns+`, a.restricted, a.cooldown_until, c.status AS customer_status,
			o.subscription, o.suspended_at, o.require_opt_in
		FROM accounts a
		JOIN organizations o ON o.id = a.organization_id
		LEFT JOIN customers c ON c.id = a.customer_id
		WHERE a.id = ? AND a.deleted_at = 0`, account)
}
