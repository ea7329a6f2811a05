package simulator

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

	code := &signupCode{Code: "AQ" + newSecret(32), Account: n.Account, Expires: s.now().Add(codeLife).UnixMilli()}
	s.world.Codes[code.Code] = code

	// The app gets this callback although it is not subscribed to the account yet.
	if s.world.Hook.URL != "" {
		now := s.nowMS()
		s.enqueueNew(&change{Account: n.Account, Field: fieldAccountUpdate, First: now, Time: now / 1000, content: object{
			"event": "PARTNER_ADDED", "waba_info": object{"waba_id": n.Account, "owner_business_id": s.world.Accounts[n.Account].Business},
		}})
	}

	s.markDirty()
	return Signup{code.Code, n.Account, n.ID}, nil
}
