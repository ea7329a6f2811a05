package simulator

import (
	"slices"
	"time"
)

const (
	statusConnected    = "CONNECTED"
	statusDisconnected = "DISCONNECTED"

	verified    = "VERIFIED"
	notVerified = "NOT_VERIFIED"
)

// numberStatuses is what a number's status may be.
var numberStatuses = []string{
	statusPending, "DELETED", "MIGRATED", "BANNED", "RESTRICTED", "RATE_LIMITED", "FLAGGED",
	statusConnected, statusDisconnected, "UNKNOWN", "UNVERIFIED",
}

// number is a business phone number.
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

// countService counts a service message in the month of a time, and returns how many there
// are.
func (n *number) countService(at int64) int64 {
	if month := time.UnixMilli(at).UTC().Format("2006-01"); n.Month != month {
		n.Month, n.Service = month, 0
	}
	n.Service++
	return n.Service
}

// display writes a number as the provider shows it.
func display(phone string) string {
	if len(phone) == 11 && phone[0] == '1' {
		return "+1 " + phone[1:4] + "-" + phone[4:7] + "-" + phone[7:]
	}
	return "+" + phone
}

// numberFields are the fields of a number when the request names none. Strict
// clients refuse more.
var numberFields = []string{"id", "display_phone_number", "verified_name", "quality_rating", "code_verification_status"}

func (n *number) node(app string, settings *Settings) object {
	canSend, level := "BLOCKED", "NOT_APPLICABLE"
	if n.Status == statusConnected {
		canSend, level = "AVAILABLE", "STANDARD"
	}

	account := object{"entity_type": "WABA", "id": n.Account, "can_send_message": "AVAILABLE"}
	if !settings.PaymentMethod {
		account["can_send_message"] = "LIMITED"
		account["errors"] = []object{{
			"error_code": 141006, "error_description": "There is no valid payment method.",
			"possible_solution": "Add a payment method to the account.",
		}}
	}

	hooks := object{}
	hooks.put("application", app)
	hooks.put("phone_number", n.Override.URL)

	return object{
		"id": n.ID, "display_phone_number": display(n.Phone), "verified_name": n.Name,
		"quality_rating": "GREEN", "quality_score": object{"score": "GREEN"},
		"status": n.Status, "code_verification_status": n.CodeStatus,
		"name_status": settings.NameStatus, "new_name_status": "NONE", "account_mode": "LIVE",
		"platform_type": "CLOUD_API", "throughput": object{"level": level},
		"is_on_biz_app": n.OnBizApp, "is_official_business_account": false, "is_pin_enabled": n.PIN != "",
		"messaging_limit_tier": settings.MessagingLimit, "whatsapp_business_manager_messaging_limit": settings.MessagingLimit,
		"last_onboarded_time":   time.UnixMilli(n.Onboarded).UTC().Format("2006-01-02T15:04:05+0000"),
		"webhook_configuration": hooks,
		"health_status": object{"can_send_message": canSend, "entities": []object{
			{"entity_type": "PHONE_NUMBER", "id": n.ID, "can_send_message": canSend},
			account,
		}},
	}
}

// numbersOf lists the numbers of an account, or of all, in the order of creation.
func (w *world) numbersOf(account string) []*number {
	all := inOrder(w.Numbers, func(n *number) int64 { return n.Order })
	return slices.DeleteFunc(all, func(n *number) bool { return account != "" && n.Account != account })
}

// listNumbers handles GET /{waba_id}/phone_numbers.
func (s *Server) listNumbers(c *call) (any, error) {
	var items []object
	for _, n := range s.world.numbersOf(c.id) {
		items = append(items, project(n.node(s.world.Hook.URL, &s.settings), c.params.text("fields"), numberFields...))
	}

	return c.page(items)
}

// getNumber handles GET /{phone_number_id}.
func (s *Server) getNumber(c *call) (any, error) {
	return project(s.world.Numbers[c.id].node(s.world.Hook.URL, &s.settings), c.params.text("fields"), numberFields...), nil
}

type createdID struct {
	ID string `json:"id"`
}

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
	return createdID{n.PhoneNumberID}, nil
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
	return success{true}, nil
}
