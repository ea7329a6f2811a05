package event

import "confab/storage"

type contactData struct {
	ID            string       `json:"id"`
	Object        string       `json:"object"`
	PhoneNumber   *string      `json:"phone_number"`
	Name          *string      `json:"name"`
	Email         *string      `json:"email"`
	Metadata      storage.JSON `json:"metadata"`
	PhoneNumberID string       `json:"phone_number_id"`
	CreatedAt     storage.Time `json:"created_at"`
	UpdatedAt     storage.Time `json:"updated_at"`
}

func contactOf(s Subject, c storage.Contact) contactData {
	return contactData{
		ID: c.ID, Object: "contact", PhoneNumber: c.PhoneNumber, Name: c.Name, Email: c.Email, Metadata: c.Metadata,
		PhoneNumberID: s.PhoneNumberID, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}
}

// ContactCreated says that there is a new contact, however it was made.
func ContactCreated(s Subject, c storage.Contact) Event {
	return Event{subject: s, kind: TypeContactCreated, data: map[string]any{"contact": contactOf(s, c)}}
}

type contactUpdated struct {
	Contact contactData `json:"contact"`
	Fields  []string    `json:"changed_fields"`
}

// ContactUpdated says that fields of a contact changed.
func ContactUpdated(s Subject, c storage.Contact, fields []string) Event {
	return Event{subject: s, kind: TypeContactUpdated, data: contactUpdated{contactOf(s, c), fields}}
}

// Reasons for a contact's new identity.
const (
	BSUIDRotated       = "bsuid_rotated"
	PhoneNumberChanged = "phone_number_changed"
)

type identityUpdated struct {
	Contact       contactData  `json:"contact"`
	Previous      identityData `json:"previous"`
	Current       identityData `json:"current"`
	Reason        string       `json:"reason"`
	PhoneNumberID string       `json:"phone_number_id"`
	ChangedAt     storage.Time `json:"changed_at"`
}

type identityData struct {
	BSUID       *string `json:"bsuid"`
	ParentBSUID *string `json:"parent_bsuid"`
	PhoneNumber *string `json:"phone_number"`
	Username    *string `json:"username"`
}

func identityOf(c storage.Contact) identityData {
	return identityData{c.BSUID, c.ParentBSUID, c.PhoneNumber, c.Username}
}

// ContactIdentityUpdated says that a contact has another phone number or BSUID.
func ContactIdentityUpdated(s Subject, previous, current storage.Contact, at storage.Time) Event {
	moved := storage.OrEmpty(previous.PhoneNumber) != storage.OrEmpty(current.PhoneNumber)
	rotated := storage.OrEmpty(previous.BSUID) != storage.OrEmpty(current.BSUID)

	// A number that becomes known together with a new BSUID did not change.
	reason := BSUIDRotated
	if moved && (previous.PhoneNumber != nil || !rotated) {
		reason = PhoneNumberChanged
	}

	return Event{subject: s, kind: TypeContactIdentityUpdated, data: identityUpdated{
		contactOf(s, current), identityOf(previous), identityOf(current), reason, s.PhoneNumberID, at,
	}}
}

// How the consent of a contact can change.
const (
	ConsentByWord     = "word"     // of the person, see storage.OptOut
	ConsentByProvider = "provider" // its callback says so, or that two contacts are one
	ConsentByError    = "error"    // by which a message of marketing failed
	ConsentByAPI      = "api"
	ConsentByImport   = "import"
)

type consentChanged struct {
	ContactID         string  `json:"contact_id"`
	PhoneNumberID     string  `json:"phone_number_id"`
	MarketingOptedOut bool    `json:"marketing_opted_out"`
	OptedIn           bool    `json:"opted_in"`
	By                string  `json:"by"`
	MessageID         *string `json:"message_id"`
}

// ContactConsentChanged says that a contact takes marketing now or no longer, or has opted in.
func ContactConsentChanged(s Subject, c storage.Contact, by string, message *string) Event {
	return Event{subject: s, kind: TypeContactConsentChanged, data: consentChanged{
		c.ID, s.PhoneNumberID, c.MarketingOptedOut, c.OptedIn, by, message,
	}}
}
