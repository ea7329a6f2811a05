package content

import (
	"cmp"
	"encoding/json"

	"confab/app/api/rest"
	"confab/storage"
)

const (
	// MaxBodyText is the longest text of a template's body, and MaxFilledText the longest
	// that the provider sends, with the values in it.
	MaxBodyText   = 1024
	MaxFilledText = 32768
	MaxLanguage   = 20 // longer than the code of any language

	MaxCouponCode    = 20
	MaxParameters    = 256
	MaxParameterName = MaxBodyText // it is part of the text of the body
	maxPayload       = 1024
	maxFallback      = 1024
	maxCurrency      = 16
	maxPlace         = 1024
)

// ParameterBody is one value for a template. Its type says which field holds it.
type ParameterBody struct {
	Type          *string `json:"type,omitempty"`
	ParameterName *string `json:"parameter_name,omitempty"` // where variables have names

	Text             *string         `json:"text,omitempty"`
	Payload          *string         `json:"payload,omitempty"`
	CouponCode       *string         `json:"coupon_code,omitempty"`
	Currency         *currencyBody   `json:"currency,omitempty"`
	DateTime         *dateTimeBody   `json:"date_time,omitempty"`
	Location         *locationBody   `json:"location,omitempty"`
	LimitedTimeOffer *offerBody      `json:"limited_time_offer,omitempty"`
	Action           json.RawMessage `json:"action,omitempty"`
	Product          json.RawMessage `json:"product,omitempty"`
	attachment
}

// Check checks the field that the type names and drops the others. types are the types
// that are allowed here.
func (p *ParameterBody) Check(types []string, allowHTTP PlainHTTP) error {
	if err := rest.OneOf("type", p.Type, types...); err != nil {
		return err
	}

	given := *p
	*p = ParameterBody{Type: given.Type, ParameterName: given.ParameterName, attachment: given.only(*given.Type)}
	if err := rest.Short("parameter_name", p.ParameterName, MaxParameterName); err != nil {
		return err
	}

	switch kind := *p.Type; kind {
	case "text":
		p.Text = given.Text
		return rest.Required(kind, p.Text, MaxFilledText)
	case "payload":
		p.Payload = given.Payload
		return rest.Required(kind, p.Payload, maxPayload)
	case "coupon_code":
		p.CouponCode = given.CouponCode
		return rest.Required(kind, p.CouponCode, MaxCouponCode)
	case "currency":
		p.Currency = given.Currency
		return rest.Object(kind, p.Currency, (*currencyBody).Check)
	case "date_time":
		p.DateTime = given.DateTime
		return rest.Object(kind, p.DateTime, (*dateTimeBody).Check)
	case "location":
		p.Location = given.Location
		return rest.Object(kind, p.Location, (*locationBody).Check)
	case "limited_time_offer":
		p.LimitedTimeOffer = given.LimitedTimeOffer
		return rest.Object(kind, p.LimitedTimeOffer, (*offerBody).Check)
	case "action":
		p.Action = given.Action
		return rest.ReadOpaque(kind, p.Action)
	case "product":
		p.Product = given.Product
		return rest.ReadOpaque(kind, p.Product)
	default:
		return p.checkFile(kind, allowHTTP)
	}
}

// RenderedText is the text that replaces the variable.
func (p *ParameterBody) RenderedText() string {
	switch {
	case p.Currency != nil:
		return *p.Currency.FallbackValue
	case p.DateTime != nil:
		return *p.DateTime.FallbackValue
	}
	return storage.OrEmpty(p.Text)
}

type currencyBody struct {
	FallbackValue *string                  `json:"fallback_value,omitempty"`
	Code          *string                  `json:"code,omitempty"`
	Amount1000    *rest.LooseNumber[int64] `json:"amount_1000,omitempty"`
}

func (c *currencyBody) Check() error {
	err := cmp.Or(rest.Required("fallback_value", c.FallbackValue, maxFallback), rest.Required("code", c.Code, maxCurrency))
	if err == nil && c.Amount1000 == nil {
		err = rest.Missing("amount_1000")
	}
	return err
}

type dateTimeBody struct {
	FallbackValue *string `json:"fallback_value,omitempty"`
}

func (d *dateTimeBody) Check() error {
	return rest.Required("fallback_value", d.FallbackValue, maxFallback)
}

type locationBody struct {
	Latitude  *rest.LooseNumber[float64] `json:"latitude,omitempty"`
	Longitude *rest.LooseNumber[float64] `json:"longitude,omitempty"`
	Name      *string                    `json:"name,omitempty"`
	Address   *string                    `json:"address,omitempty"`
}

func (l *locationBody) Check() error {
	return cmp.Or(
		rest.InRange("latitude", l.Latitude, -90, 90),
		rest.InRange("longitude", l.Longitude, -180, 180),
		rest.Short("name", l.Name, maxPlace),
		rest.Short("address", l.Address, maxPlace),
	)
}

type offerBody struct {
	ExpirationTimeMS *rest.LooseNumber[int64] `json:"expiration_time_ms,omitempty"`
}

func (o *offerBody) Check() error {
	if o.ExpirationTimeMS == nil {
		return rest.Missing("expiration_time_ms")
	}
	return nil
}
