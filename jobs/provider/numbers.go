package provider

import (
	"context"
	"encoding/json"
	"net/url"

	"confab/jobs/errorcode"
)

// numberFields are the fields that every supported version of the API has: one
// unknown field would fail the whole call.
const numberFields = "id,display_phone_number,verified_name,status,platform_type,is_on_biz_app,health_status"

// Number is a business phone number.
type Number struct {
	ID                 ID              `json:"id"`
	DisplayPhoneNumber string          `json:"display_phone_number"` // +1 631-555-5555
	VerifiedName       string          `json:"verified_name"`
	Status             string          `json:"status"` // only CONNECTED can send
	PlatformType       string          `json:"platform_type"`
	IsOnBizApp         bool            `json:"is_on_biz_app"`
	Health             json.RawMessage `json:"health_status"`
}

// Coexists reports whether the phone app uses the number too. It must not be registered then.
func (n Number) Coexists() bool { return n.IsOnBizApp && n.PlatformType == "CLOUD_API" }

// Number reads a number.
func (c *Client) Number(ctx context.Context, tok Token, phoneNumberID string) (Number, error) {
	rq := get("get number", phoneNumberID, "")
	rq.query = url.Values{"fields": {numberFields}}

	var a struct {
		envelope
		Number
	}
	rq.check = func() error { return requireKey("id", a.ID != "") }
	err := c.do(ctx, tok, rq, &a)
	return a.Number, err
}

// NumberHealth is what may keep a number from sending, or from sending much.
type NumberHealth struct {
	NameStatus string `json:"name_status"`
	Limit      string `json:"whatsapp_business_manager_messaging_limit"` // such as TIER_250
	Health     struct {
		Entities []struct { // the number, and what it depends on
			Type   string `json:"entity_type"`
			Errors []struct {
				Code        int    `json:"error_code"`
				Description string `json:"error_description"`
				Solution    string `json:"possible_solution"`
			} `json:"errors"`
		} `json:"entities"`
	} `json:"health_status"`
}

// NumberHealth reads what may keep a number from sending, as far as the version of the API has it.
func (c *Client) NumberHealth(ctx context.Context, tok Token, phoneNumberID string) (NumberHealth, error) {
	rq := get("get number health", phoneNumberID, "")
	rq.query = url.Values{"fields": {"id,name_status,whatsapp_business_manager_messaging_limit,health_status"}}

	var a struct {
		envelope
		NumberHealth
	}
	err := c.do(ctx, tok, rq, &a)
	return a.NumberHealth, err
}

// Numbers lists the numbers of an account.
func (c *Client) Numbers(ctx context.Context, tok Token, wabaID string) ([]Number, error) {
	rq := get("list numbers", wabaID, "phone_numbers")
	rq.query = url.Values{"fields": {numberFields}}
	return list[Number](ctx, c, tok, rq)
}

// Register makes a number able to send. The PIN must match where the number has
// one, and becomes its PIN where it has none. The provider allows ten calls in
// 72 hours.
func (c *Client) Register(ctx context.Context, tok Token, phoneNumberID, pin string) error {
	rq := post("register number", phoneNumberID, "register", encode(map[string]string{"messaging_product": theirProduct, "pin": pin}))
	rq.reclassify = func(_ Fault, usual Class) Class {
		// That is how the provider also reports a wrong PIN, and then the account is not locked at all.
		if usual.Code == errorcode.AccountLocked {
			return Class{Code: errorcode.RegistrationFailed}
		}
		return usual
	}
	return c.order(ctx, tok, rq)
}
