package simulator

import (
	"regexp"
	"strings"
	"time"
)

const (
	attemptsAllowed  = 10
	attemptsSpan     = 72 * time.Hour
	guessesAllowed   = 5
	guessesLock      = time.Hour
	codeDigits       = 6
	verificationLife = 10 * time.Minute
)

var pinPattern = regexp.MustCompile(`^[0-9]{6}$`)

func badPIN() *graphError {
	return badParameter("Invalid PIN format. The PIN must have 6 digits.")
}

// attempt counts an attempt to register or deregister, and refuses too many.
func (n *number) attempt(now int64) error {
	n.Attempts = recent(n.Attempts, now, attemptsSpan)
	if len(n.Attempts) >= attemptsAllowed {
		return refuse(133016)
	}
	n.Attempts = append(n.Attempts, now)
	return nil
}

// register handles POST /{phone_number_id}/register. The first PIN becomes
// the number's; after that it must match.
func (s *Server) register(c *call) (any, error) {
	pin := c.params.text("pin")
	switch {
	case pin == "":
		return nil, requiredParameter("pin")
	case !pinPattern.MatchString(pin):
		return nil, badPIN()
	}

	n := s.world.Numbers[c.id]
	if n.OnBizApp {
		return nil, badParameter("A number that is used with the business app cannot be registered.")
	}
	if err := n.attempt(s.nowMS()); err != nil {
		return nil, err
	}
	if n.CodeStatus != verified {
		return nil, refuse(133006)
	}
	if err := n.checkPIN(pin, s.nowMS()); err != nil {
		return nil, err
	}

	n.PIN, n.Status, n.Onboarded = pin, statusConnected, s.nowMS()
	return object{"success": true}, nil
}

func (n *number) checkPIN(pin string, now int64) error {
	switch {
	case n.LockedUntil > now:
		return refuse(133008)
	case n.PIN == "" || n.PIN == pin:
		n.Guesses = 0
		return nil
	}

	// Too many wrong PINs in a row lock the number for a while.
	if n.Guesses++; n.Guesses >= guessesAllowed {
		n.Guesses, n.LockedUntil = 0, now+guessesLock.Milliseconds()
	}
	return refuse(133005)
}

// deregister handles POST /{phone_number_id}/deregister.
func (s *Server) deregister(c *call) (any, error) {
	n := s.world.Numbers[c.id]
	if n.OnBizApp {
		return nil, badParameter("A number that is used with the business app cannot be deregistered.")
	}
	if err := n.attempt(s.nowMS()); err != nil {
		return nil, err
	}

	n.Status = statusDisconnected
	return object{"success": true}, nil
}

// requestCode handles POST /{phone_number_id}/request_code. The code is shown
// by GET /_sim/numbers, since no phone will ring.
func (s *Server) requestCode(c *call) (any, error) {
	method := strings.ToUpper(c.params.text("code_method"))

	switch {
	case method != "SMS" && method != "VOICE":
		return nil, badParameter("Param code_method must be one of {SMS, VOICE} - got \"%s\".", c.params.text("code_method"))
	case c.params.text("language") == "":
		return nil, requiredParameter("language")
	}

	n := s.world.Numbers[c.id]
	if n.CodeStatus == verified {
		return nil, refuse(136024)
	}

	n.Code, n.CodeExpires = randomDigits(codeDigits), s.now().Add(verificationLife).UnixMilli()
	return object{"success": true}, nil
}

// verifyCode handles POST /{phone_number_id}/verify_code.
func (s *Server) verifyCode(c *call) (any, error) {
	code := digits(c.params.text("code"))
	if code == "" {
		return nil, requiredParameter("code")
	}

	n := s.world.Numbers[c.id]
	if n.Code == "" || n.Code != code || n.CodeExpires <= s.nowMS() {
		return nil, refuse(136025)
	}

	n.Code, n.CodeStatus = "", verified
	return object{"success": true}, nil
}
