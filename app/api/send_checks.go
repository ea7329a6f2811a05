package api

import (
	"errors"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/app/api/template"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/storage"
)

// findRecipient finds the contact that a message goes to, or returns a new one that is
// not stored yet.
func findRecipient(tx *storage.Tx, account int64, out content.OutgoingMessage) (to storage.Recipient, isNew bool, err error) {
	switch {
	case out.To != "":
		to, err = tx.RecipientByPhone(account, out.To)
	case provider.IsParentBSUID(out.Recipient):
		to, err = tx.RecipientByParent(account, out.Recipient)
	default:
		to, err = tx.RecipientByBSUID(account, out.Recipient)
	}

	if !errors.Is(err, storage.ErrNotFound) {
		return to, false, err
	}
	switch {
	case out.To != "":
		to.PhoneNumber = &out.To
	case provider.IsParentBSUID(out.Recipient):
		to.ParentBSUID = &out.Recipient
	default:
		to.BSUID = &out.Recipient
	}
	return to, true, nil
}

// checkSendAllowed refuses a message that billing, the account, the customer or the
// recipient does not allow. The order of the checks is part of the contract.
func (s *Server) checkSendAllowed(
	tx *storage.Tx, r *rest.Request, sender storage.Sender, to storage.Recipient, out content.OutgoingMessage,
) error {
	used := func() (int64, error) { return tx.MessagesThisMonth(r.Org.ID) }
	if err := CheckSender(r, sender, used); err != nil {
		return err
	}

	if out.Template != nil {
		if err := refusalError(messaging.RefusalFor(sender, to.Contact, out.Marketing)); err != nil {
			return err
		}
	}
	if to.ConversationID != nil {
		if err := checkBotMayAct(tx, r, *to.ConversationID); err != nil {
			return err
		}
	}
	return out.MissingMedia
}

// refusalError is the client's error of a refusal, if there is one.
func refusalError(why *messaging.Refusal) error {
	if why == nil {
		return nil
	}
	return rest.Fail(rest.CodeNamed(string(why.Code)), why.Text)
}

// CheckSender refuses any send from an account while billing, the customer or the
// provider do not let it send. used counts the messages of this month.
func CheckSender(r *rest.Request, sender storage.Sender, used func() (int64, error)) error {
	if sender.Subscription == storage.SubscriptionInactive {
		return rest.Fail(rest.SubscriptionInactive, "The organization's subscription is inactive.")
	}

	if quota := r.Plan.MonthlyMessages; quota > 0 {
		n, err := used()
		if err != nil {
			return err
		}
		if n >= int64(quota) {
			return rest.Fail(rest.QuotaExceeded, "The plan's messages for this month are used up.")
		}
	}

	return refusalError(messaging.RefusalOf(sender)) // as again when the message is sent
}

// checkReceiptAllowed refuses a read receipt of a number that may not send.
func checkReceiptAllowed(rx *storage.Rx, account int64) error {
	sender, err := rx.Sender(account)
	if err != nil {
		return err
	}
	return refusalError(messaging.ReceiptRefusalOf(sender))
}

// resolveTemplate checks a template message against the stored template, and sets what
// follows from it: the rendered text, and whether it is marketing.
func resolveTemplate(rx *storage.Rx, out *content.OutgoingMessage, sender storage.Sender) error {
	if out.Template == nil {
		return nil
	}

	t, err := rx.Template(sender.ID, out.Template.Name, out.Template.Language)
	if errors.Is(err, storage.ErrNotFound) && out.AnyTemplate {
		return nil
	}
	if errors.Is(err, storage.ErrNotFound) {
		return rest.FailAt(rest.InvalidTemplateName, "template.name", "This number has no template with that name and language.")
	}
	if err != nil {
		return err
	}

	stored, err := template.Parse(t)
	out.Marketing = messaging.IsMarketing(t)
	isPassed := out.Source == storage.SourceGateway
	if err == nil && !isPassed && out.Recipient != "" && !stored.SupportsBSUID() {
		return rest.Invalid("recipient", "cannot be used for an authentication template, which can only be sent to a phone number")
	}
	if err == nil {
		err = stored.CheckParameters(out.Template.Components)
	}
	if err == nil {
		out.Body, err = stored.Render(out.Template.Components)
	} else if isPassed {
		return nil // it is the provider's to judge
	}
	return err
}
