package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ID is an id that the provider writes as a string or as a number.
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
		*id = ID(raw) // the digits themselves: such an id may be too large for a float
		return nil
	default:
		return fmt.Errorf("not an id: %.20s", raw)
	}
}

// Int is an integer that the provider writes as a number or as a string.
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

// ErrOtherObject means that a callback is about an object of another product.
var ErrOtherObject = errors.New("not about a business account")

// Change is one thing that a callback reports. Field says how to read Value: for
// messages, smb_message_echoes, user_id_update and user_preferences as a Value,
// for changes of templates as a TemplateUpdate, for those of accounts and
// numbers as an AccountUpdate.
type Change struct {
	Field string          `json:"field"`
	Value json.RawMessage `json:"value"`
}

// PhoneNumberID is the number that a change, of any shape, is about; "" for none.
func (c Change) PhoneNumberID() string {
	var number ID
	if raw := GetMember(GetMember(c.Value, "metadata"), "phone_number_id"); raw != nil {
		_ = json.Unmarshal(raw, &number) // stays empty if it is no id
	}
	return string(number)
}

// Value is what a change reports about one number. Its items stay raw, to be
// read one by one: a bad one must not spoil the others.
type Value struct {
	Metadata struct {
		PhoneNumberID ID `json:"phone_number_id"`
	} `json:"metadata"`
	Contacts    List[json.RawMessage] `json:"contacts"`         // Profile
	Messages    List[json.RawMessage] `json:"messages"`         // Message
	Echoes      List[json.RawMessage] `json:"message_echoes"`   // Message
	Statuses    List[json.RawMessage] `json:"statuses"`         // Status
	Errors      List[Fault]           `json:"errors"`           // of the account or the app
	Identities  List[json.RawMessage] `json:"user_id_update"`   // Identity
	Preferences List[json.RawMessage] `json:"user_preferences"` // Preference
}

// List reads a JSON array, or a single item in its place.
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

// Read decodes a value, or one of its items, into the type that belongs to it.
func Read[T any](raw json.RawMessage) (T, error) {
	var item T
	if err := json.Unmarshal(raw, &item); err != nil {
		name := strings.TrimPrefix(fmt.Sprintf("%T", item), "provider.")
		return item, fmt.Errorf("read %s: %w", strings.ToLower(name), err)
	}
	return item, nil
}

// Profile is a person. WaID is empty for a person who hides the number.
type Profile struct {
	Profile struct {
		Name     string `json:"name"`
		Username string `json:"username"`
	} `json:"profile"`
	WaID         string `json:"wa_id"`
	UserID       string `json:"user_id"`
	ParentUserID string `json:"parent_user_id"`
}

// Status reports the delivery of a message that we sent.
type Status struct {
	ID                    string      `json:"id"`
	Status                string      `json:"status"`
	Timestamp             Int         `json:"timestamp"`
	RecipientID           string      `json:"recipient_id"`
	RecipientUserID       string      `json:"recipient_user_id"`
	RecipientParentUserID string      `json:"recipient_parent_user_id"`
	Tag                   string      `json:"biz_opaque_callback_data"` // our own message id, sent along with the message
	Errors                List[Fault] `json:"errors"`

	Pricing json.RawMessage `json:"pricing"` // ReadPricing understands it
}

// Identity reports that a person's ids have changed.
type Identity struct {
	WaID         string   `json:"wa_id"`
	UserID       IDChange `json:"user_id"`
	ParentUserID IDChange `json:"parent_user_id"`
	Timestamp    Int      `json:"timestamp"`
}

// IDChange is an id before and after a change.
type IDChange struct {
	Previous string `json:"previous"`
	Current  string `json:"current"`
}

// Preference reports whether a person wants marketing messages.
type Preference struct {
	WaID         string `json:"wa_id"`
	UserID       string `json:"user_id"`
	ParentUserID string `json:"parent_user_id"`
	Category     string `json:"category"`
	Value        string `json:"value"` // stop, resume or signup
	Timestamp    Int    `json:"timestamp"`
}

// TemplateUpdate reports a review, or another change of a template.
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

	// In template_category_update only. Without the previous category it only announces
	// a change: to the correct category, and when.
	NewCategory      string `json:"new_category"`
	PreviousCategory string `json:"previous_category"`
	CorrectCategory  string `json:"correct_category"`
	CategoryUpdateAt Int    `json:"category_update_timestamp"`
}

// AccountUpdate reports a change of a business account or one of its numbers.
// It serves several fields of a Change; each uses some of the keys.
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

// AccountInfo names the account of an update, if it is not that of the entry.
type AccountInfo struct {
	ID ID `json:"waba_id"`
}

// UnknownPricing stands in pricing for what we do not understand, or what is not said: a guess could
// be taken for a price.
const UnknownPricing = "unknown"

// Pricing is what a status says about the price of its message.
type Pricing struct {
	Billable *bool  `json:"billable"` // nil if it is not said
	Category string `json:"category"`
	Type     string `json:"type"`
	Model    string `json:"model"`
}

// maxPricing bounds the object that is kept with a message, in bytes.
const maxPricing = 4096

// PricingCategories are the categories that have a price.
func PricingCategories() []string {
	return []string{
		"authentication", "authentication-international", "marketing", "marketing_lite", "referral_conversion", "service", "utility",
	}
}

// ReadPricing reads the pricing of a status. It returns false if there is none.
func ReadPricing(raw json.RawMessage) (Pricing, bool) {
	var said struct {
		Billable any `json:"billable"`
		Model    any `json:"pricing_model"`
		Type     any `json:"type"`
		Category any `json:"category"`
	}
	if len(raw) == 0 || raw[0] != '{' || len(raw) > maxPricing || json.Unmarshal(raw, &said) != nil {
		return Pricing{}, false
	}

	p := Pricing{
		Category: knownWord(said.Category, PricingCategories()...),
		Type:     knownWord(said.Type, "regular", "free_customer_service", "free_entry_point"),
		Model:    knownWord(said.Model, "PMP", "CBP"),
	}
	if billable, ok := said.Billable.(bool); ok {
		p.Billable = &billable
	}
	return p, true
}

// knownWord returns which of some words a value is, regardless of case and hyphens.
func knownWord(value any, words ...string) string {
	text, _ := value.(string)
	i := slices.IndexFunc(words, func(word string) bool {
		return strings.EqualFold(strings.ReplaceAll(word, "-", "_"), strings.ReplaceAll(text, "-", "_"))
	})
	if i < 0 {
		return UnknownPricing
	}
	return words[i]
}
