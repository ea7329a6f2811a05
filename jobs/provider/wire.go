package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ID is an id that the provider writes as a text or as a bare number.
type ID string

// UnmarshalJSON implements json.Unmarshaler.
func (id *ID) UnmarshalJSON(raw []byte) error {
	switch {
	case string(raw) == "null":
		*id = ""
		return nil
	case raw[0] == '"':
		return json.Unmarshal(raw, (*string)(id))
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		*id = ID(raw) // the literal itself: such an id may be too large for a float
		return nil
	default:
		return fmt.Errorf("not an id: %.20s", raw)
	}
}

// Int is a whole number that the provider writes bare or as a text.
type Int int64

// UnmarshalJSON implements json.Unmarshaler.
func (i *Int) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" || string(raw) == `""` {
		*i = 0
		return nil
	}
	literal := string(bytes.Trim(raw, `"`))
	n, err := strconv.ParseInt(literal, 10, 64)
	if err != nil {
		return fmt.Errorf("not a whole number: %.20s", literal)
	}
	*i = Int(n)
	return nil
}

// ErrForeign means that a callback is about an object of another product.
var ErrForeign = errors.New("not about a business account")

// Callback is what the provider posts to us: any number of entries, each with
// any number of changes. ParseCallback reads it.
type Callback struct {
	Entries []struct {
		Changes []Change `json:"changes"`
	} `json:"entry"`
}

// Change is one piece of news. Field says how to read Value: for messages,
// smb_message_echoes, user_id_update and user_preferences as a Value, for
// message_template_status_update as a TemplateUpdate, for account_update as an
// AccountUpdate.
type Change struct {
	Field string          `json:"field"`
	Value json.RawMessage `json:"value"`
}

// Value is the news of one number. Its items are read one by one.
type Value struct {
	Metadata    Metadata              `json:"metadata"`
	Contacts    List[json.RawMessage] `json:"contacts"`         // Profile
	Messages    List[json.RawMessage] `json:"messages"`         // Message
	Echoes      List[json.RawMessage] `json:"message_echoes"`   // Message
	Statuses    List[json.RawMessage] `json:"statuses"`         // Status
	Errors      List[Fault]           `json:"errors"`           // of the account or the app
	Identities  List[json.RawMessage] `json:"user_id_update"`   // Identity
	Preferences List[json.RawMessage] `json:"user_preferences"` // Preference
}

// List is a list, or else its only item: what somebody did not make a list of
// must not hold up what stands beside it.
type List[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (l *List[T]) UnmarshalJSON(raw []byte) error {
	switch {
	case string(raw) == "null":
		*l = nil
		return nil
	case raw[0] == '[':
		return json.Unmarshal(raw, (*[]T)(l))
	}
	*l = make(List[T], 1)
	return json.Unmarshal(raw, &(*l)[0])
}

// Metadata names the business number.
type Metadata struct {
	PhoneNumberID ID `json:"phone_number_id"`
}

// Read decodes a value, or one of its items, into the type that belongs to it.
func Read[T any](raw json.RawMessage) (T, error) {
	var item T
	if err := json.Unmarshal(raw, &item); err != nil {
		return item, fmt.Errorf("read %s: %w", strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", item), "provider.")), err)
	}
	return item, nil
}

// Profile is a person. WaID is empty for someone who is known by name only.
type Profile struct {
	Profile struct {
		Name     string `json:"name"`
		Username string `json:"username"`
	} `json:"profile"`
	WaID         string `json:"wa_id"`
	UserID       string `json:"user_id"`
	ParentUserID string `json:"parent_user_id"`
}

// Status is what became of a message that we sent.
type Status struct {
	ID                    string          `json:"id"`
	Status                string          `json:"status"`
	Timestamp             Int             `json:"timestamp"`
	RecipientID           string          `json:"recipient_id"`
	RecipientUserID       string          `json:"recipient_user_id"`
	RecipientParentUserID string          `json:"recipient_parent_user_id"`
	Tag                   string          `json:"biz_opaque_callback_data"` // what we gave the send along
	Conversation          json.RawMessage `json:"conversation"`
	Pricing               json.RawMessage `json:"pricing"`
	Errors                List[Fault]     `json:"errors"`
}

// Identity is the change of a person's ids.
type Identity struct {
	WaID         string   `json:"wa_id"`
	Detail       string   `json:"detail"`
	UserID       Replaced `json:"user_id"`
	ParentUserID Replaced `json:"parent_user_id"`
	Timestamp    Int      `json:"timestamp"`
}

// Replaced is an id before and after.
type Replaced struct {
	Previous string `json:"previous"`
	Current  string `json:"current"`
}

// Preference is a person's word on marketing messages.
type Preference struct {
	WaID         string `json:"wa_id"`
	UserID       string `json:"user_id"`
	ParentUserID string `json:"parent_user_id"`
	Category     string `json:"category"`
	Value        string `json:"value"` // stop, resume or signup
	Timestamp    Int    `json:"timestamp"`
}

// TemplateUpdate is a review's result, or another change of a template.
type TemplateUpdate struct {
	Event    string `json:"event"`
	ID       ID     `json:"message_template_id"`
	Name     string `json:"message_template_name"`
	Language string `json:"message_template_language"` // en_US or en-US
	Category string `json:"message_template_category"`
	Reason   string `json:"reason"`
	Other    struct {
		Title string `json:"title"` // such as FIRST_PAUSE
	} `json:"other_info"`

	// Of template_category_update. Without the category before it only tells
	// what is going to happen.
	NewCategory      string `json:"new_category"`
	PreviousCategory string `json:"previous_category"`
}

// AccountUpdate is news about a whole account, of any of the fields that tell
// such news; each has some of the keys.
type AccountUpdate struct {
	Event       string      `json:"event"`
	PhoneNumber ID          `json:"phone_number"`
	WABA        AccountInfo `json:"waba_info"`
	Ban         struct {
		State List[string] `json:"waba_ban_state"` // DISABLE, REINSTATE or SCHEDULE_FOR_DISABLE
	} `json:"ban_info"`
	Restrictions []struct {
		Type string `json:"restriction_type"`
	} `json:"restriction_info"`
	Disconnect struct {
		Reason string `json:"reason"`
	} `json:"disconnection_info"`

	Decision           string `json:"decision"`             // of a review, or of a name
	DisplayPhoneNumber string `json:"display_phone_number"` // digits, of what concerns one number
	RequestedName      string `json:"requested_verified_name"`
}

// AccountInfo names the account that an update is about, where it is not the
// entry's own.
type AccountInfo struct {
	ID    ID `json:"waba_id"`
	Owner ID `json:"owner_business_id"`
}
