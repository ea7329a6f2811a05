package api

import (
	"slices"
	"strconv"

	"confab/app/api/rest"
	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/storage"
)

// labelChoice is the body that attaches a label.
type labelChoice struct {
	LabelID *string `json:"label_id"`
}

func (c *labelChoice) Validate() error { return checkLabelID("label_id", c.LabelID) }

// checkLabelID checks that a label's id is there, and its form.
func checkLabelID(param string, id *string) error {
	switch {
	case id == nil:
		return rest.Missing(param)
	case !storage.ValidID(storage.PrefixLabel, *id):
		return rest.Invalid(param, "must be an id that starts with "+storage.PrefixLabel)
	}
	return nil
}

// contactLabelView is the reply to attaching or detaching a contact's label.
type contactLabelView struct {
	ContactID string `json:"contact_id"`
	LabelID   string `json:"label_id"`
	Attached  bool   `json:"attached"`
}

// conversationLabelView is the same for a conversation.
type conversationLabelView struct {
	ConversationID string `json:"conversation_id"`
	LabelID        string `json:"label_id"`
	Attached       bool   `json:"attached"`
}

// labelToAttach finds the label that a body names. It must belong to the number's
// team.
func labelToAttach(rx *storage.Rx, account storage.AccountKey, id string) (storage.Label, error) {
	l, err := rx.Label(account.OrganizationID, id)
	if err == nil && l.TeamID != account.TeamID {
		return l, rest.Invalid("label_id", "belongs to a different team than this number")
	}
	return l, err
}

// setContactLabel attaches a label to a contact, or detaches it, and emits contact.updated
// if that changed anything.
func setContactLabel(tx *storage.Tx, r *rest.Request, c storage.Contact, label string, attached bool) (changed bool, err error) {
	changed, err = tx.SetContactLabel(c.ID, label, attached)
	if err != nil || !changed {
		return false, err
	}

	c.UpdatedAt = tx.Order
	return true, event.ContactUpdated(subject(r), c, []string{"labels"}).Emit(tx)
}

// chooseLabel finds the label that a request is about, and says whether it is to be attached: the one
// that a body names is, one in the path is detached.
func chooseLabel(rx *storage.Rx, r *rest.Request, in labelChoice) (l storage.Label, attached bool, err error) {
	if in.LabelID != nil {
		l, err = labelToAttach(rx, r.Account, *in.LabelID)
		return l, true, err
	}
	l, err = rest.InPath(r, "label_id", storage.PrefixLabel, r.Org.ID, rx.Label)
	return l, false, err
}

// detach makes the handler that detaches a label of the one that attaches it.
func detach(attach func(*rest.Request, labelChoice) (rest.Reply, error)) rest.Handler {
	return func(r *rest.Request) (rest.Reply, error) { return attach(r, labelChoice{}) }
}

// labelContact handles POST /v1/:phone_number_id/contacts/:id/labels, and DELETE of one of them.
func (s *Server) labelContact(r *rest.Request, in labelChoice) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, contactIn, func(tx *storage.Tx, c storage.Contact) (rest.Reply, error) {
		l, attached, err := chooseLabel(&tx.Rx, r, in)
		if err == nil {
			_, err = setContactLabel(tx, r, c, l.ID, attached)
		}
		return rest.OK(contactLabelView{c.ID, l.ID, attached}), err
	})
}

// labelConversation handles POST /v1/:phone_number_id/conversations/:id/labels, and DELETE of one
// of them.
func (s *Server) labelConversation(r *rest.Request, in labelChoice) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, ConversationIn, func(tx *storage.Tx, c storage.FullConversation) (rest.Reply, error) {
		l, attached, err := chooseLabel(&tx.Rx, r, in)
		if err == nil {
			err = messaging.SetConversationLabel(tx, byRequest(r), c.Conversation, l, attached)
		}
		return rest.OK(conversationLabelView{c.ID, l.ID, attached}), err
	})
}

const maxBulk = 1000

// bulkLabel is the body of POST /v1/:phone_number_id/contacts/bulk_label.
type bulkLabel struct {
	ContactIDs []string `json:"contact_ids"`
	LabelID    *string  `json:"label_id"`
	Operation  *string  `json:"operation"`
}

func (b *bulkLabel) Validate() error {
	bad := slices.IndexFunc(b.ContactIDs, func(id string) bool { return !storage.ValidID(storage.PrefixContact, id) })

	switch {
	case b.ContactIDs == nil:
		return rest.Missing("contact_ids")
	case len(b.ContactIDs) < 1 || len(b.ContactIDs) > maxBulk:
		return rest.Invalid("contact_ids", "must have 1 to "+strconv.Itoa(maxBulk)+" ids")
	case bad >= 0:
		return rest.Invalid(rest.ItemPath("contact_ids", bad), "must be an id that starts with "+storage.PrefixContact)
	}

	switch err := checkLabelID("label_id", b.LabelID); {
	case err != nil:
		return err
	case b.Operation == nil:
		return rest.Missing("operation")
	case *b.Operation != "attach" && *b.Operation != "detach":
		return rest.Invalid("operation", "must be attach or detach")
	}
	return nil
}

// bulkLabelView counts the contacts by the result.
type bulkLabelView struct {
	Applied             int `json:"applied"`   // that now are as wanted
	Unchanged           int `json:"unchanged"` // of them, those that were so before
	SkippedCrossOrg     int `json:"skipped_cross_org"`
	SkippedTeamMismatch int `json:"skipped_team_mismatch"`
}

// bulkLabelContacts handles POST /v1/:phone_number_id/contacts/bulk_label.
func (s *Server) bulkLabelContacts(r *rest.Request, in bulkLabel) (rest.Reply, error) {
	// A contact that is named twice counts once.
	slices.Sort(in.ContactIDs)
	left := slices.Compact(in.ContactIDs)

	step := func(tx *storage.Tx, p labelProgress) (labelProgress, *rest.Reply, error) {
		p, err := applyBulkLabel(tx, r, in, p)
		if err != nil || len(p.left) > 0 {
			return p, nil, err
		}
		return p, new(rest.OK(p.counts)), nil
	}
	return rest.UpdateInSteps(s.Server, r, labelProgress{left: left}, step)
}

// labelProgress is how far a bulk change of labels came.
type labelProgress struct {
	left   []string // the contacts that were not looked at, in order
	counts bulkLabelView
}

// contactsPerStep is how many contacts one step of a bulk change reads.
const contactsPerStep = 250

// applyBulkLabel makes the change that the body asks for, for as many contacts as one
// transaction should hold, and counts them by the result.
func applyBulkLabel(tx *storage.Tx, r *rest.Request, in bulkLabel, p labelProgress) (labelProgress, error) {
	l, err := tx.Label(r.Org.ID, *in.LabelID)
	if err != nil {
		return p, err
	}

	some := p.left[:min(contactsPerStep, len(p.left))]
	own, err := tx.ContactsByID(r.Account.ID, some)
	if err != nil {
		return p, err
	}

	byID := make(map[string]storage.Contact, len(own))
	for _, c := range own {
		byID[c.ID] = c
	}

	for i, id := range some {
		if tx.Full() {
			some = some[:i]
			break
		}

		c, known := byID[id]
		switch {
		case !known:
			p.counts.SkippedCrossOrg++
		case l.TeamID != r.Account.TeamID:
			p.counts.SkippedTeamMismatch++
		default:
			changed, err := setContactLabel(tx, r, c, *in.LabelID, *in.Operation == "attach")
			if err != nil {
				return p, err
			}
			p.counts.Applied++
			if !changed {
				p.counts.Unchanged++
			}
		}
	}

	p.left = p.left[len(some):]
	return p, nil
}
