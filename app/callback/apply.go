package callback

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"confab/jobs/provider"
	"confab/storage"
)

// step writes one item of a callback. It is prepared before the transaction, to
// keep that short.
type step func(*storage.Tx) error

// piece is a step and the change that it comes from.
type piece struct {
	news  provider.CallbackChange
	apply step
}

// piecesPerTx is the most pieces in one transaction.
const piecesPerTx = 50

// apply writes all pieces of a callback, in several transactions if it is large.
// If one fails, the provider sends the whole callback again; the pieces that were
// committed before are recognized then and change nothing.
func (s *Server) apply(ctx context.Context, body []byte) error {
	for pieces := range slices.Chunk(s.pieces(body), piecesPerTx) {
		err := s.DB.Update(ctx, func(tx *storage.Tx) error {
			for _, p := range pieces {
				if err := p.apply(tx); err != nil {
					return err
				}
			}
			return nil
		})

		// A transient error is left to the provider, which sends the callback
		// again. Any other error would come back each time: the bad piece must be
		// separated from the others.
		if err != nil && !isTransient(err) {
			err = s.applyOneByOne(ctx, pieces)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isTransient reports whether the same callback may succeed when it comes again.
func isTransient(err error) bool {
	return errors.Is(err, storage.ErrUnavailable) ||
		errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// applyOneByOne writes pieces in a transaction each, after one of them failed. A
// piece that the database refuses is kept as it came: otherwise the provider
// would repeat it for a week.
func (s *Server) applyOneByOne(ctx context.Context, pieces []piece) error {
	for _, p := range pieces {
		err := s.DB.Update(ctx, p.apply)
		if err != nil && !isTransient(err) {
			s.Log.Error("a callback could not be applied", "field", p.news.Field, "error", err)
			err = s.DB.Update(ctx, s.keepRaw(wholeChange(p.news), "failed"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pieces splits a callback. A change that cannot be read is kept as it came, and
// does not stop the others.
func (s *Server) pieces(body []byte) (all []piece) {
	// JSON must be UTF-8: what is not would be stored, and sent on to customers.
	text := body
	if !utf8.Valid(body) {
		text = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}

	changes, err := provider.ParseCallback(text)
	if err != nil {
		unread := provider.CallbackChange{Change: provider.Change{Value: body}}
		return []piece{{unread, s.keepRaw(item{Change: unread.Change}, "unreadable")}}
	}

	for _, n := range changes {
		for _, apply := range s.prepareChange(n) {
			all = append(all, piece{n, apply})
		}
	}
	return all
}

// prepareChange returns the steps of a change, by its field.
func (s *Server) prepareChange(n provider.CallbackChange) []step {
	switch n.Field {
	case "messages":
		return s.prepareMessages(n)
	case "smb_message_echoes":
		return s.prepareEchoes(n)
	case "user_id_update":
		return s.prepareIdentities(n)
	case "user_preferences":
		return s.preparePreferences(n)
	case "history", "smb_app_state_sync":
		return s.keepChange(n, "not used")
	case "message_template_status_update", "message_template_quality_update",
		"message_template_components_update", "template_category_update":
		return s.prepareTemplate(n)
	case "account_update", "account_review_update", "account_alerts", "business_capability_update",
		"phone_number_quality_update", "phone_number_name_update", "security":
		return s.prepareAccount(n)
	default:
		return s.keepChange(n, "not handled")
	}
}

// keepChange returns the step for a change that is only kept.
func (s *Server) keepChange(n provider.CallbackChange, reason string) []step {
	return []step{s.keepRaw(wholeChange(n), reason)}
}

// item is a change, or one item of its value, with the phone number id and the
// business account that it is about: "" for none.
type item struct {
	provider.Change
	number, waba string
}

// wholeChange is a change as one item. Its value may be of any shape.
func wholeChange(n provider.CallbackChange) item {
	var number provider.ID
	if raw := provider.GetMember(provider.GetMember(n.Value, "metadata"), "phone_number_id"); raw != nil {
		_ = json.Unmarshal(raw, &number) // stays empty if it is no id
	}
	return item{n.Change, string(number), n.WABA}
}

// keepRaw stores an item as it came, for an operator to look at, and counts it.
// It belongs to the account of its number, and is deleted with it. An item of an
// account that was removed is dropped.
func (s *Server) keepRaw(what item, reason string) step {
	return func(tx *storage.Tx) error {
		raw := storage.RawCallback{
			PhoneNumberID: what.number,
			WABAID:        what.waba,
			Field:         what.Field,
			Reason:        reason,
			Payload:       what.Value,
		}
		if raw.Payload == nil {
			raw.Payload = []byte("null")
		}

		switch account, err := tx.AccountByNumber(what.number); {
		case err == nil:
			raw.AccountID = &account.ID
		case !errors.Is(err, storage.ErrNotFound):
			return err
		default:
			if removed, err := tx.WasRemoved(what.number, what.waba); err != nil || removed {
				return err
			}
		}

		if s.OnKept != nil {
			tx.AfterCommit(func() { s.OnKept(metricLabel(what.Field), reason) })
		}
		return tx.InsertRawCallback(raw)
	}
}

// metricLabel is the name of a field for metrics, or "other" if it does not look
// like one: the name comes from outside.
func metricLabel(field string) string {
	invalid := func(c rune) bool { return c != '_' && (c < 'a' || c > 'z') }
	if field == "" || len(field) > 40 || strings.ContainsFunc(field, invalid) {
		return "other"
	}
	return field
}
