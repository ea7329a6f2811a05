package storage

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

const accountColumns = `id, public_id, organization_id, team_id, customer_id, phone_number_id, waba_id, phone_number, name, status, provider_status, onboarded_at, created_at, updated_at`

// AccountByNumber finds the live account of a provider's phone number id, which
// belongs to one in the whole installation.
func (rx *Rx) AccountByNumber(phoneNumberID string) (Account, error) {
	var a Account
	err := rx.get(&a, `
		SELECT `+accountColumns+`
		FROM accounts
		WHERE phone_number_id = ? AND deleted_at = 0`, phoneNumberID)
	return a, err
}

// InsertAccount stores a new account with its access token, sealed, and fills in
// ids and times. ErrConflict means that the number is connected already.
func (tx *Tx) InsertAccount(a *Account, accessToken string) error {
	a.PublicID = tx.NewID(PrefixAccount)
	a.CreatedAt, a.UpdatedAt = tx.Now, tx.Now
	var err error
	a.ID, err = tx.insert(`
		INSERT INTO accounts (public_id, organization_id, team_id, customer_id, phone_number_id, waba_id, phone_number, name, status, provider_status, access_token, onboarded_at, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		a.PublicID, a.OrganizationID, a.TeamID, a.CustomerID, a.PhoneNumberID, a.WABAID, a.PhoneNumber, a.Name, a.Status, a.ProviderStatus,
		tx.db.Seal(tokenPurpose(a.PublicID), []byte(accessToken)), a.OnboardedAt, a.CreatedAt, a.UpdatedAt)
	return err
}

// AccessToken opens the account's token for the provider.
func (rx *Rx) AccessToken(a Account) (string, error) {
	var sealed []byte
	if err := rx.get(&sealed, `SELECT access_token FROM accounts WHERE id = ?`, a.ID); err != nil {
		return "", err
	}
	token, err := rx.db.Unseal(tokenPurpose(a.PublicID), sealed)
	return string(token), err
}

// tokenPurpose binds a sealed token to its account.
func tokenPurpose(account string) string { return "access token of " + account }
