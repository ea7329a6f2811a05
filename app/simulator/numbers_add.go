package simulator

import (
	"slices"
	"strings"
)

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
			Name: "Test Number", Status: statusConnected, CodeStatus: verified, Onboarded: w.People.nowMS(),
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

// numberOf finds the number with these digits.
func (w *world) numberOf(phone string) *number {
	for _, n := range w.Numbers {
		if phone != "" && n.Phone == phone {
			return n
		}
	}
	return nil
}
