package simulator

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Number is a business phone number as the control surface shows it. What is
// empty when one is added is made up.
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
	shown := []Number{}
	for _, n := range s.world.numbersOf("") {
		shown = append(shown, n.view())
	}
	return shown
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

// ensureNumber finds or makes a number and its account.
func (w *world) ensureNumber(in Number) (*number, error) {
	phone := digits(in.DisplayPhoneNumber)
	for _, other := range w.Numbers {
		if phone != "" && other.Phone == phone && other.ID != in.PhoneNumberID {
			return nil, invalid("display_phone_number", "belongs to number "+other.ID)
		}
	}

	n := w.Numbers[in.PhoneNumberID]
	if n == nil {
		if kind, _ := w.kindOf(in.PhoneNumberID); kind != kindNone {
			return nil, invalid("phone_number_id", "is the id of something else")
		}
		n = &number{
			ID: firstOf(in.PhoneNumberID, w.newID()), Order: w.order(), Phone: "1555" + randomDigits(7),
			Name: "Test Number", Status: statusConnected, CodeStatus: verified, Onboarded: nowMS(),
			Profile: profile{About: "Hello! I am using WhatsApp.", Vertical: "UNDEFINED"},
		}
	}

	// A new account is one that the app is subscribed to.
	if in.WABAID != "" || n.Account == "" {
		if kind, _ := w.kindOf(in.WABAID); kind != kindNone && kind != kindAccount {
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
	n.OnBizApp = n.OnBizApp || in.IsOnBizApp
	w.Numbers[n.ID] = n
	return n, nil
}

// Template is a message template to add, with the provider's own names.
type Template struct {
	Name, Language, Category string
	ParameterFormat          string // NAMED or POSITIONAL, which is the default
	Status                   string // APPROVED when empty
	Components               []map[string]any
}

// AddTemplate adds a template to an account without a review and returns its
// id. One that exists is left unchanged.
func (s *Server) AddTemplate(wabaID string, in Template) (id string, err error) {
	list := make([]any, len(in.Components))
	for i, comp := range in.Components {
		list[i] = comp
	}

	// A round trip through JSON gives the types that a request body would have.
	var plain any
	if b, err := marshal(list); err != nil {
		return "", err
	} else if err := decodeJSON(b, &plain); err != nil {
		return "", err
	}

	t, err := readTemplate(object{
		"name": in.Name, "language": in.Language, "category": in.Category,
		"parameter_format": in.ParameterFormat, "components": plain,
	})
	if err != nil {
		return "", fmt.Errorf("template %s: %w", in.Name, err)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.world.Accounts[wabaID] == nil {
		return "", fmt.Errorf("template %s: there is no account %s", in.Name, wabaID)
	}
	if there := s.world.findTemplate(wabaID, in.Name, in.Language); there != nil {
		return there.ID, nil
	}

	t.Account, t.Status = wabaID, firstOf(in.Status, statusApproved)
	s.insertTemplate(t)
	return t.ID, nil
}

// Signup is what a hosted signup hands to the browser.
type Signup struct {
	Code          string `json:"code"`
	WABAID        string `json:"waba_id"`
	PhoneNumberID string `json:"phone_number_id"`
}

// Signup plays a business that signs up through the hosted page: a new account
// with one number, verified but not registered, and a code for its token. The
// app gets a callback about it, and must subscribe to the account itself. A
// number that exists is signed up with its account, without changes.
func (s *Server) Signup(name, phone string) (Signup, error) {
	if phone != "" && !validPhone(phone) {
		return Signup{}, invalid("phone_number", "is no phone number")
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.world.numberOf(digits(phone))
	if n == nil {
		name = firstOf(name, "Test Business")
		a := s.world.addAccount("", name, false)

		var err error
		n, err = s.world.ensureNumber(Number{
			WABAID: a.ID, DisplayPhoneNumber: phone, VerifiedName: name, Status: statusPending,
		})
		if err != nil {
			delete(s.world.Accounts, a.ID)
			return Signup{}, err
		}
	}

	code := &signupCode{Code: "AQ" + newSecret(32), Account: n.Account, Expires: time.Now().Add(codeLife).UnixMilli()}
	s.world.Codes[code.Code] = code

	// The app gets this callback although it is not subscribed to the account yet.
	if s.world.Hook.URL != "" {
		now := nowMS()
		s.enqueue(&change{Account: n.Account, Field: fieldAccountUpdate, First: now, Time: now / 1000, content: object{
			"event": "PARTNER_ADDED", "waba_info": object{"waba_id": n.Account, "owner_business_id": s.world.Accounts[n.Account].Business},
		}})
		s.outbox.pending++
	}

	s.markDirty()
	return Signup{code.Code, n.Account, n.ID}, nil
}

// numberOf finds the number with these digits.
func (w *world) numberOf(phone string) *number {
	for _, n := range w.Numbers {
		if phone != "" && n.Phone == phone {
			return n
		}
	}
	return nil
}
