package simulator

import (
	"slices"
	"strings"
	"time"
)

const (
	statusConnected    = "CONNECTED"
	statusDisconnected = "DISCONNECTED"

	verified    = "VERIFIED"
	notVerified = "NOT_VERIFIED"
)

var numberStatuses = []string{
	statusPending, "DELETED", "MIGRATED", "BANNED", "RESTRICTED", "RATE_LIMITED", "FLAGGED",
	statusConnected, statusDisconnected, "UNKNOWN", "UNVERIFIED",
}

type number struct {
	ID         string   `json:"id"`
	Order      int64    `json:"order"`
	Account    string   `json:"account"`
	Phone      string   `json:"phone"` // digits
	Name       string   `json:"name"`
	Status     string   `json:"status"`
	CodeStatus string   `json:"code_status"`
	PIN        string   `json:"pin,omitempty"`
	OnBizApp   bool     `json:"on_biz_app,omitempty"`
	Onboarded  int64    `json:"onboarded"`
	Override   callback `json:"override"`
	Profile    profile  `json:"profile"`

	Code        string   `json:"code,omitempty"` // the verification code that was requested
	CodeExpires int64    `json:"code_expires,omitempty"`
	Attempts    []int64  `json:"attempts,omitempty"` // to register or deregister, last 72 h
	Guesses     int      `json:"guesses,omitempty"`  // wrong PINs in a row
	LockedUntil int64    `json:"locked_until,omitempty"`
	Synced      []string `json:"synced,omitempty"`

	Month   string `json:"month,omitempty"`   // the last one in which it sent a service message,
	Service int64  `json:"service,omitempty"` // and how many of those
}

// display writes a number as the provider shows it.
func display(phone string) string {
	if len(phone) == 11 && phone[0] == '1' {
		return "+1 " + phone[1:4] + "-" + phone[4:7] + "-" + phone[7:]
	}
	return "+" + phone
}

// viewNumber shows the fields of a number that a call names. Without names it shows few: strict
// clients refuse more.
func (s *Server) viewNumber(c *call, n *number) object {
	canSend, level := "BLOCKED", "NOT_APPLICABLE"
	if n.Status == statusConnected {
		canSend, level = "AVAILABLE", "STANDARD"
	}

	account := object{"entity_type": "WABA", "id": n.Account, "can_send_message": "AVAILABLE"}
	if !s.world.Settings.PaymentMethod {
		account["can_send_message"] = "LIMITED"
		account["errors"] = []object{{
			"error_code": 141006, "error_description": "There is no valid payment method.",
			"possible_solution": "Add a payment method to the account.",
		}}
	}

	hooks := object{}
	hooks.put("application", s.world.Hook.URL)
	hooks.put("phone_number", n.Override.URL)

	return project(object{
		"id": n.ID, "display_phone_number": display(n.Phone), "verified_name": n.Name,
		"quality_rating": "GREEN", "quality_score": object{"score": "GREEN"},
		"status": n.Status, "code_verification_status": n.CodeStatus,
		"name_status": s.world.Settings.NameStatus, "new_name_status": "NONE", "account_mode": "LIVE",
		"platform_type": "CLOUD_API", "throughput": object{"level": level},
		"is_on_biz_app": n.OnBizApp, "is_official_business_account": false, "is_pin_enabled": n.PIN != "",
		"messaging_limit_tier":                      s.world.Settings.MessagingLimit,
		"whatsapp_business_manager_messaging_limit": s.world.Settings.MessagingLimit,
		"last_onboarded_time":                       time.UnixMilli(n.Onboarded).UTC().Format("2006-01-02T15:04:05+0000"),
		"webhook_configuration":                     hooks,
		"health_status": object{"can_send_message": canSend, "entities": []object{
			{"entity_type": "PHONE_NUMBER", "id": n.ID, "can_send_message": canSend},
			account,
		}},
	}, c, "id", "display_phone_number", "verified_name", "quality_rating", "code_verification_status")
}

// numbersOf lists the numbers of an account, or of all, in the order of creation.
func (w *world) numbersOf(account string) []*number {
	all := inOrder(w.Numbers, func(n *number) int64 { return n.Order })
	return slices.DeleteFunc(all, func(n *number) bool { return account != "" && n.Account != account })
}

// listNumbers handles GET /{waba_id}/phone_numbers.
func (s *Server) listNumbers(c *call) (any, error) {
	return c.page(viewsOf(s.world.numbersOf(c.id), func(n *number) object { return s.viewNumber(c, n) }))
}

// getNumber handles GET /{phone_number_id}.
func (s *Server) getNumber(c *call) (any, error) { return s.viewNumber(c, s.world.Numbers[c.id]), nil }

// createNumber handles POST /{waba_id}/phone_numbers.
func (s *Server) createNumber(c *call) (any, error) {
	cc, local, name := digits(c.params.text("cc")), digits(c.params.text("phone_number")), c.params.text("verified_name")

	switch {
	case cc == "":
		return nil, requiredParameter("cc")
	case local == "":
		return nil, requiredParameter("phone_number")
	case name == "":
		return nil, requiredParameter("verified_name")
	case !validPhone(cc + local):
		return nil, badRequest(192, 0, "(#192) Invalid phone number")
	}

	n, err := s.AddNumber(Number{
		WABAID: c.id, DisplayPhoneNumber: cc + local, VerifiedName: name,
		Status: statusPending, CodeVerificationStatus: notVerified,
	})
	if err != nil {
		return nil, badParameter("%s", err)
	}
	return object{"id": n.PhoneNumberID}, nil
}

// updateNumber handles POST /{phone_number_id}: a new PIN, or an override of
// the callback URL.
func (s *Server) updateNumber(c *call) (any, error) {
	pin, hooks := c.params.text("pin"), c.params.child("webhook_configuration")

	switch {
	case c.params.has("pin"):
		if !pinPattern.MatchString(pin) {
			return nil, badPIN()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		n := s.world.Numbers[c.id]
		n.PIN, n.Guesses, n.LockedUntil = pin, 0, 0
	case hooks != nil:
		override, err := s.readOverride(c, hooks)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.world.Numbers[c.id].Override = override
	default:
		return nil, requiredParameter("pin")
	}

	s.markDirty()
	return object{"success": true}, nil
}

// Number is a business phone number as the control surface shows it. A field
// that is empty when one is added is made up.
type Number struct {
	PhoneNumberID          string `json:"phone_number_id"`
	WABAID                 string `json:"waba_id"`
	DisplayPhoneNumber     string `json:"display_phone_number"`
	VerifiedName           string `json:"verified_name"`
	Status                 string `json:"status"`
	PIN                    string `json:"pin"`
	CodeVerificationStatus string `json:"code_verification_status"`
	IsOnBizApp             bool   `json:"is_on_biz_app"`
	// VerificationCode is the code that request_code "sent", while it is good.
	VerificationCode string `json:"verification_code,omitempty"`
}

// Digits returns the number without anything but digits.
func (n Number) Digits() string { return digits(n.DisplayPhoneNumber) }

func (n *number) view() Number {
	return Number{
		PhoneNumberID: n.ID, WABAID: n.Account, DisplayPhoneNumber: display(n.Phone), VerifiedName: n.Name,
		Status: n.Status, PIN: n.PIN, CodeVerificationStatus: n.CodeStatus, IsOnBizApp: n.OnBizApp,
		VerificationCode: n.Code,
	}
}

// Numbers lists the business numbers, oldest first.
func (s *Server) Numbers() []Number {
	s.mu.Lock()
	defer s.mu.Unlock()
	return viewsOf(s.world.numbersOf(""), (*number).view)
}

func numericID(id string) bool {
	return id != "" && len(id) <= 20 && strings.Trim(id, "0123456789") == ""
}

// AddNumber adds a business number: connected and verified unless it says
// otherwise, in an account whose updates the app receives. One that exists is
// changed where the given one is not empty.
func (s *Server) AddNumber(in Number) (Number, error) {
	in.Status = strings.ToUpper(in.Status)
	in.CodeVerificationStatus = strings.ToUpper(in.CodeVerificationStatus)

	switch {
	case in.PhoneNumberID != "" && !numericID(in.PhoneNumberID):
		return Number{}, invalid("phone_number_id", "must be digits")
	case in.WABAID != "" && !numericID(in.WABAID):
		return Number{}, invalid("waba_id", "must be digits")
	case in.DisplayPhoneNumber != "" && !validPhone(in.DisplayPhoneNumber):
		return Number{}, invalid("display_phone_number", "is no phone number")
	case in.Status != "" && !slices.Contains(numberStatuses, in.Status):
		return Number{}, invalid("status", "must be one of "+strings.Join(numberStatuses, ", "))
	case in.PIN != "" && !pinPattern.MatchString(in.PIN):
		return Number{}, invalid("pin", "must have 6 digits")
	case !slices.Contains([]string{"", verified, notVerified, "EXPIRED"}, in.CodeVerificationStatus):
		return Number{}, invalid("code_verification_status", "must be VERIFIED, NOT_VERIFIED or EXPIRED")
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.world.ensureNumber(in)
	if err != nil {
		return Number{}, err
	}

	s.markDirty()
	return n.view(), nil
}

func (w *world) ensureNumber(in Number) (*number, error) {
	phone := digits(in.DisplayPhoneNumber)
	if other := w.numberOf(phone); other != nil && other.ID != in.PhoneNumberID {
		return nil, invalid("display_phone_number", "belongs to number "+other.ID)
	}

	n := w.Numbers[in.PhoneNumberID]
	if n == nil {
		if kind, _ := w.kindOf(in.PhoneNumberID); kind != "" {
			return nil, invalid("phone_number_id", "is the id of something else")
		}
		n = &number{
			ID: firstOf(in.PhoneNumberID, newID()), Order: w.order(), Phone: "1555" + randomDigits(7),
			Name: "Test Number", Status: statusConnected, CodeStatus: verified, Onboarded: w.People.nowMS(),
			Profile: profile{About: "Hello! I am using WhatsApp.", Vertical: "UNDEFINED"},
		}
	}

	// A new account is one that the app is subscribed to.
	if in.WABAID != "" || n.Account == "" {
		if kind, _ := w.kindOf(in.WABAID); kind != "" && kind != "account" {
			return nil, invalid("waba_id", "is the id of something else")
		}
		a := w.Accounts[in.WABAID]
		if a == nil {
			a = w.addAccount(in.WABAID, firstOf(in.VerifiedName, "Test Account"), true)
		}
		n.Account = a.ID
	}

	n.Phone, n.Name = firstOf(phone, n.Phone), firstOf(in.VerifiedName, n.Name)
	n.Status, n.PIN = firstOf(in.Status, n.Status), firstOf(in.PIN, n.PIN)
	n.CodeStatus = firstOf(in.CodeVerificationStatus, n.CodeStatus)
	if in.IsOnBizApp && !n.OnBizApp {
		n.OnBizApp, n.Onboarded = true, w.People.nowMS()
	}
	w.Numbers[n.ID] = n
	return n, nil
}

func (w *world) numberOf(phone string) *number {
	for _, n := range w.Numbers {
		if phone != "" && n.Phone == phone {
			return n
		}
	}
	return nil
}
