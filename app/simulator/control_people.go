package simulator

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

const (
	maxPeople     = 100_000
	maxPeopleList = 1000
	maxPersonName = 200
)

// personView is a person as the control surface shows it.
type personView struct {
	PhoneNumber  any               `json:"phone_number"` // null while a username hides it
	BSUID        string            `json:"bsuid"`
	Name         any               `json:"name"`
	Username     any               `json:"username"` // null, like the name, when there is none
	Blocked      bool              `json:"blocked"`
	ReadReceipts bool              `json:"read_receipts"`
	Marketing    string            `json:"marketing"` // resume or stop
	Windows      map[string]string `json:"windows"`   // phone_number_id → when its open 24-hour window closes
}

func (user *person) view(now int64) personView {
	v := personView{
		PhoneNumber: displayed(user.Phone), BSUID: user.BSUID, Blocked: user.Blocked,
		ReadReceipts: !user.NoReceipts, Marketing: "resume", Windows: map[string]string{},
	}
	if user.Name != "" {
		v.Name = user.Name
	}
	if user.Username != "" {
		v.Username = user.Username
	}
	if user.Stopped {
		v.Marketing = "stop"
	}

	for number, at := range user.Wrote {
		if user.windowOpen(number, now) {
			v.Windows[number] = rfc3339(at + serviceWindow.Milliseconds())
		}
	}
	return v
}

func (s *Server) publishPerson(user *person) {
	s.publish("person", func() any { return user.view(s.nowMS()) })
}

func (c *controlCall) listLimit(usual, most int) (int, error) {
	given := c.r.URL.Query().Get("limit")
	if given == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 1 || n > most {
		return 0, invalid("limit", fmt.Sprintf("must be a number from 1 to %d", most))
	}
	return n, nil
}

// controlPeople handles GET /_sim/people: the people who were made last, in that order.
func (s *Server) controlPeople(c *controlCall) (any, error) {
	limit, err := c.listLimit(maxPeopleList, maxPeopleList)
	if err != nil {
		return nil, err
	}

	all := s.world.People.all
	view := func(user *person) personView { return user.view(s.nowMS()) }
	return object{"data": viewsOf(all[max(0, len(all)-limit):], view)}, nil
}

// controlAddPerson handles POST /_sim/people. A number or an id that a person has already
// is that person, as for a message; without either a number is made up.
func (s *Server) controlAddPerson(c *controlCall) (any, error) {
	phone, bsuid := firstOf(c.in.text("phone_number"), c.in.text("number")), c.in.text("bsuid")
	switch {
	case phone != "" && !validPhone(phone):
		return nil, invalid("phone_number", "is no phone number")
	case bsuid != "" && !bsuidPattern.MatchString(bsuid):
		return nil, invalid("bsuid", "is no business-scoped user id")
	}
	if err := checkPerson(c.in); err != nil {
		return nil, err
	}

	if len(s.world.People.all) >= maxPeople {
		return nil, refused(http.StatusConflict, fmt.Sprintf("There are %d people, which is the most.", maxPeople))
	}
	if phone == "" && bsuid == "" {
		phone = "1555" + randomDigits(7) // reserved for fiction
	}

	user := s.world.People.ensure(waID(phone), bsuid)
	s.applyPerson(user, c.in)
	return user.view(s.nowMS()), nil
}

// The fields of a person that can be changed.
var (
	personTexts = []string{"name", "username"}
	personFlags = []string{"blocked", "read_receipts"}
)

// controlPatchPerson handles PATCH /_sim/people/{number}. null clears a name.
func (s *Server) controlPatchPerson(c *controlCall) (any, error) {
	if err := checkPerson(c.in); err != nil {
		return nil, err
	}
	named := func(key string) bool { _, given := c.in[key]; return given }
	if !slices.ContainsFunc(slices.Concat(personTexts, personFlags), named) {
		return nil, refused(http.StatusBadRequest, "The body names none of name, username, blocked and read_receipts.")
	}

	user := s.world.People.find(c.key())
	if user == nil {
		return nil, notFound("There is no person " + c.key() + ".")
	}
	s.applyPerson(user, c.in)
	return user.view(s.nowMS()), nil
}

func checkPerson(in object) error {
	for _, key := range personTexts {
		if in.has(key) && !in.isText(key) {
			return invalid(key, "must be a text")
		}
	}
	for _, key := range personFlags {
		if _, isBoolean := in[key].(bool); in.has(key) && !isBoolean {
			return invalid(key, "must be true or false")
		}
	}

	switch name := in.text("username"); {
	case chars(in.text("name")) > maxPersonName:
		return invalid("name", fmt.Sprintf("has at most %d characters", maxPersonName))
	case name != "" && !validUsername(name):
		return invalid("username", "has 3 to 35 letters, digits, dots and underscores")
	}
	return nil
}

func (s *Server) applyPerson(user *person, in object) {
	if _, given := in["name"]; given {
		user.Name = in.text("name")
	}
	if _, given := in["username"]; given {
		user.Username = in.text("username")
	}
	if in.has("blocked") {
		user.Blocked = in.boolean("blocked")
	}
	if in.has("read_receipts") {
		user.NoReceipts = !in.boolean("read_receipts")
	}

	s.publishPerson(user)
}

// findOwner finds the person of the path. A number without a person yet is
// that of a phone with what was sent to it.
func (s *Server) findOwner(party string) (*person, error) {
	if s.world.People.find(party) == nil && !bsuidPattern.MatchString(party) && !validPhone(party) {
		return nil, notFound("There is no person " + party + ".")
	}
	return s.world.People.describe(party), nil
}

// controlPhone handles GET /_sim/people/{number}/messages: what that phone shows, oldest
// first.
func (s *Server) controlPhone(c *controlCall) (any, error) {
	limit, err := c.listLimit(shownByDefault, shownAtMost)
	if err != nil {
		return nil, err
	}
	user, err := s.findOwner(c.key())
	if err != nil {
		return nil, err
	}
	found := s.phoneMessages(user, c.r.URL.Query().Get("phone_number_id"), limit)
	return object{"data": s.showMessages(user, found)}, nil
}

// controlReadAll handles POST /_sim/people/{number}/read: the person opens the chat, and
// reads what arrived. Without receipts there is no callback.
func (s *Server) controlReadAll(c *controlCall) (any, error) {
	user, err := s.findOwner(c.key())
	if err != nil {
		return nil, err
	}

	read := 0
	for _, m := range s.phoneMessages(user, c.in.text("phone_number_id"), shownAtMost) {
		if m.Dir == outbound && m.Status == "delivered" && m.Type != "reaction" && !user.NoReceipts {
			s.reportStatus(m, "read", 0)
			read++
		}
	}
	return object{"read": read}, nil
}

// controlWindow handles POST /_sim/contacts/{number}/window: it opens or closes the
// 24-hour window of a person, for one business number or for all, here and, in a sandbox,
// in the server.
func (s *Server) controlWindow(c *controlCall) (any, error) {
	open, isBoolean := c.in["open"].(bool)
	switch {
	case !c.in.has("open"):
		return nil, missing("open")
	case !isBoolean:
		return nil, invalid("open", "must be true or false")
	}

	view, windows, err := s.setWindow(c.key(), c.in.text("phone_number_id"), open)
	if err != nil {
		return nil, err
	}

	// The server's side is not ours, and may take its time.
	for _, w := range windows {
		if s.opt.SetWindow == nil {
			break
		}
		if err := s.opt.SetWindow(c.r.Context(), w); err != nil {
			return nil, err
		}
	}
	return view, nil
}

// setWindow sets when a person last wrote, and returns the person and what was set.
func (s *Server) setWindow(party, numberID string, open bool) (view personView, windows []Window, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if numberID != "" && s.world.Numbers[numberID] == nil {
		return view, nil, notFound("There is no number " + numberID + ".")
	}
	user, err := s.personFor(party)
	if err != nil {
		return view, nil, err
	}

	at := s.now()
	if !open {
		at = at.Add(-serviceWindow)
	}
	for _, n := range s.world.numbersOf("") {
		if numberID != "" && n.ID != numberID || !open && user.Wrote[n.ID] == 0 {
			continue
		}
		user.setWrote(n.ID, 0) // makes the map
		user.Wrote[n.ID] = at.UnixMilli()
		windows = append(windows, Window{PhoneNumberID: n.ID, Phone: user.Phone, BSUID: user.BSUID, At: at})
	}

	s.markDirty()
	s.publishPerson(user)
	return user.view(s.nowMS()), windows, nil
}
