package simulator

import (
	"crypto/sha256"
	"encoding/binary"
	"regexp"
	"strconv"
	"strings"
	"time"
)

type person struct {
	Phone      string `json:"phone,omitempty"` // as waID writes it; empty when a username hides it
	BSUID      string `json:"bsuid"`
	Name       string `json:"name,omitempty"`
	Username   string `json:"username,omitempty"`
	Stopped    bool   `json:"stopped,omitempty"`  // wants no marketing
	Blocked    bool   `json:"blocked,omitempty"`  // takes nothing from businesses
	NoReceipts bool   `json:"discreet,omitempty"` // sends no read receipts, and sees none
	// Wrote is when the person last wrote to each business number.
	Wrote map[string]int64 `json:"wrote,omitempty"`
	// FreeUntil is until when each business number writes for free, 3 days after a message from an ad.
	FreeUntil map[string]int64 `json:"free_until,omitempty"`

	// Since is when the person got this number and id, if others came before.
	Since  int64            `json:"since,omitempty"`
	Former []formerIdentity `json:"former,omitempty"`
}

// formerIdentity is a number and an id that a person had: what was written under them is
// still on the person's phone.
type formerIdentity struct {
	Phone string `json:"phone,omitempty"`
	BSUID string `json:"bsuid"`
	Until int64  `json:"until"`
}

const maxFormer = 20

// people holds the users, indexed by number and by id.
type people struct {
	all     []*person
	byPhone map[string]*person
	byBSUID map[string]*person
	free    map[string]int64 // since when a number has had no owner, if it had one
	nowMS   func() int64
}

func newPeople(nowMS func() int64) people {
	return people{nowMS: nowMS, byPhone: map[string]*person{}, byBSUID: map[string]*person{}, free: map[string]int64{}}
}

// add stores a person, also one that an earlier release has written.
func (p *people) add(user *person) {
	user.Phone = waID(user.Phone)
	p.all = append(p.all, user)
	for _, f := range user.Former {
		if f.Phone != "" {
			p.free[f.Phone] = max(p.free[f.Phone], f.Until+1)
		}
	}
	p.index(user)
}

func (p *people) index(user *person) {
	if user.Phone != "" {
		p.byPhone[user.Phone] = user
	}
	p.byBSUID[user.BSUID] = user
}

func (p *people) find(party string) *person {
	if bsuidPattern.MatchString(party) {
		return p.byBSUID[party]
	}
	return p.byPhone[waID(party)]
}

// describe finds a person by number or BSUID; one without a record is made up, and not kept.
func (p *people) describe(party string) *person {
	if user := p.find(party); user != nil {
		return user
	}
	if bsuidPattern.MatchString(party) {
		return &person{BSUID: party}
	}
	phone := waID(party)
	return &person{Phone: phone, BSUID: bsuidFor(phone), Since: p.free[phone]}
}

// party is the person's number, or the BSUID where there is no number.
func (user *person) party() string { return firstOf(user.Phone, user.BSUID) }

// displayName is what callbacks call the person.
func (user *person) displayName() string { return firstOf(user.Name, user.Username, user.party()) }

// normalizeParty writes a phone number as the provider does, however it is given.
// A BSUID stays as it is.
func normalizeParty(name string) string {
	if d := waID(name); d != "" && !bsuidPattern.MatchString(name) {
		return d
	}
	return name
}

// ensure finds or makes the person that a phone number or a BSUID belongs to.
func (p *people) ensure(phone, bsuid string) *person {
	user := p.byPhone[phone]
	if user == nil || phone == "" {
		user = p.byBSUID[bsuid]
	}

	if user == nil {
		// The new owner of a number does not see what was written to the former one.
		user = &person{Phone: phone, BSUID: firstOf(bsuid, bsuidFor(phone)), Since: p.free[phone]}
		p.add(user)
		return user
	}

	// The last value wins: a user may have a new number or a new id.
	if bsuid != "" && bsuid != user.BSUID || phone != "" && phone != user.Phone {
		p.change(user, firstOf(phone, user.Phone), firstOf(bsuid, user.BSUID))
	}
	return user
}

// change gives a person another number or BSUID. A person who had that number keeps only the id.
func (p *people) change(user *person, phone, bsuid string) {
	now := p.nowMS()
	if other := p.byPhone[phone]; phone != "" && other != nil && other != user {
		p.remember(other, now)
		other.Phone = ""
	}

	p.remember(user, now)
	delete(p.byPhone, user.Phone)
	delete(p.byBSUID, user.BSUID)
	user.Phone, user.BSUID = phone, bsuid
	p.index(user)
}

// remember keeps the identity of a person that is about to get another.
func (p *people) remember(user *person, now int64) {
	user.Former = append(user.Former, formerIdentity{user.Phone, user.BSUID, now})
	user.Former = user.Former[max(0, len(user.Former)-maxFormer):]
	user.Since = now
	if user.Phone != "" {
		p.free[user.Phone] = now + 1
	}
}

// owns reports whether a message was written by the person, or to it.
func (user *person) owns(m *message) bool {
	if m.belongsTo(user.Phone, user.BSUID) && m.At >= user.Since {
		return true
	}
	for _, f := range user.Former {
		if m.belongsTo(f.Phone, f.BSUID) && m.At <= f.Until {
			return true
		}
	}
	return false
}

// setWrote records that a person wrote to a number, which opens the service
// window.
func (user *person) setWrote(numberID string, at int64) {
	if user.Wrote == nil {
		user.Wrote = map[string]int64{}
	}
	user.Wrote[numberID] = max(at, user.Wrote[numberID])
}

const serviceWindow = 24 * time.Hour

// windowOpen reports whether free-form messages may be sent to the person.
func (user *person) windowOpen(numberID string, now int64) bool {
	return user != nil && user.Wrote[numberID] != 0 && now-user.Wrote[numberID] < serviceWindow.Milliseconds()
}

// ServiceWindowOpen reports whether a person, named by number or BSUID, has written
// to a business number within the last 24 hours.
func (s *Server) ServiceWindowOpen(phoneNumberID, party string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.People.find(party).windowOpen(phoneNumberID, s.nowMS())
}

var bsuidPattern = regexp.MustCompile(`^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$`)

// ownAndParent separates the id of a user from that of a parent portfolio, which has a field of
// its own in callbacks. A person addressed by the latter is known by nothing else.
func ownAndParent(bsuid string) (own, parent string) {
	if strings.Contains(bsuid, ".ENT.") {
		return "", bsuid
	}
	return bsuid, ""
}

// addUser names a user in a part of a callback: the ids, whose prefixes distinguish senders
// and receivers, and, under a key of its own if any, the number where it is not hidden.
func (o object) addUser(prefix, phoneKey string, user *person) {
	own, parent := ownAndParent(user.BSUID)
	o.put(prefix+"user_id", own)
	o.put(prefix+"parent_user_id", parent)
	if phoneKey != "" {
		o.put(phoneKey, user.Phone)
	}
}

// bsuidFor makes up the id of a number's owner. It is computed rather than
// random, so that a user without a record keeps the same id.
func bsuidFor(phone string) string {
	sum := sha256.Sum256([]byte("bsuid " + phone))
	n := binary.BigEndian.Uint64(sum[:]) % 9_000_000_000_000_000
	return countryOf(phone) + "." + strconv.FormatUint(1_000_000_000_000_000+n, 10)
}

// dialCodes maps some country codes to the countries that begin a BSUID.
var dialCodes = map[string]string{
	"1": "US", "20": "EG", "27": "ZA", "31": "NL", "33": "FR", "34": "ES", "39": "IT", "41": "CH", "43": "AT",
	"44": "GB", "49": "DE", "52": "MX", "54": "AR", "55": "BR", "57": "CO", "61": "AU", "62": "ID", "65": "SG",
	"81": "JP", "91": "IN", "92": "PK", "234": "NG", "254": "KE", "351": "PT", "971": "AE", "972": "IL",
}

func countryOf(phone string) string {
	for n := min(3, len(phone)); n > 0; n-- {
		if country := dialCodes[phone[:n]]; country != "" {
			return country
		}
	}
	return "US"
}

// digits strips everything but digits from a number, as the provider does.
func digits(number string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
}

var phonePattern = regexp.MustCompile(`^\+?[0-9 ().-]+$`)

// validPhone reports whether a recipient looks like a phone number.
func validPhone(number string) bool {
	n := len(digits(number))
	return phonePattern.MatchString(strings.TrimSpace(number)) && n >= 7 && n <= 15
}

// waID is how the provider writes a person's number: digits only. Where a country
// has added a digit to its mobile numbers, people knew each other by the shorter or
// longer form before, and the provider kept to one of them. Both can be written to;
// answers and callbacks always have the provider's form:
//
//   - Brazil: mobile numbers got a 9 after the area code. The provider writes it in
//     the areas that got it first, and nowhere else.
//   - Mexico: a mobile number has had a 1 after the country code, which is no longer
//     dialed. The provider still writes it.
func waID(number string) string {
	n := digits(number)
	switch {
	case strings.HasPrefix(n, "55"):
		return brazilianID(n)
	case strings.HasPrefix(n, "52") && len(n) == len("525512345678") && n[2] != '1':
		return "521" + n[2:]
	}
	return n
}

// ninthDigitAreas are the Brazilian areas in which the provider writes the ninth digit:
// São Paulo, Rio de Janeiro and Espírito Santo.
const ninthDigitAreas = "11 12 13 14 15 16 17 18 19 21 22 24 27 28"

// brazilianID is waID for a number of Brazil. A landline's local number begins with a
// digit from 2 to 5, and has eight digits.
func brazilianID(n string) string {
	const local = len("55") + len("11") // where the local number begins
	if len(n) <= local {
		return n
	}

	hasNinth := strings.Contains(ninthDigitAreas, n[2:local])
	switch rest := n[local:]; {
	case len(rest) == 9 && rest[0] == '9' && !hasNinth:
		return n[:local] + rest[1:]
	case len(rest) == 8 && rest[0] >= '6' && hasNinth:
		return n[:local] + "9" + rest
	}
	return n
}
