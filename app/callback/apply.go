package callback

import (
	"bytes"
	"context"
	"errors"
	"unicode/utf8"

	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/storage"
)

// step writes one item of a callback. It is prepared before the transaction, to
// keep that short.
type step func(*storage.Tx) error

// piece is one item of a callback and the step that writes it.
type piece struct {
	item
	apply step

	from   *sourceCallback // the callback; nil if that cannot be read
	change int             // which of its changes the item is of
	at     provider.Place
}

// sourceCallback is a callback as it came, and its changes.
type sourceCallback struct {
	text    []byte
	changes []provider.CallbackChange
	items   []map[provider.Place]bool // of each change those that are pieces of their own
}

const (
	// piecesPerTx is the most pieces in one transaction.
	piecesPerTx = 50
	// nativePieces is the same where native webhooks get the callback: what one transaction
	// writes goes out in one envelope, and the provider puts no more into one callback.
	nativePieces = 1000
)

// apply writes all pieces of a callback, in several transactions if it is large.
// If one fails, the provider sends the whole callback again; the pieces that were
// committed before are recognized then and change nothing.
func (s *Server) apply(ctx context.Context, body []byte) error {
	for left := s.pieces(body); len(left) > 0; {
		done, err := s.applySome(ctx, left)

		// A transient error is left to the provider, which sends the callback
		// again. Any other error would come back each time: the bad piece must be
		// separated from the others.
		if err != nil && !isTransient(err) {
			done = min(done+1, len(left)) // up to the bad one
			err = s.applyOneByOne(ctx, left[:done])
		}
		if err != nil {
			return err
		}
		left = left[done:]
	}
	return nil
}

// applySome writes the first of some pieces in one transaction, and returns how many:
// each may make a delivery for many subscriptions, and the writer is not held long. What native
// webhooks get is written with them.
func (s *Server) applySome(ctx context.Context, pieces []piece) (done int, err error) {
	err = s.DB.Update(ctx, func(tx *storage.Tx) error {
		native, err := tx.HasNativeSubscribers()
		if err != nil {
			return err
		}
		most := piecesPerTx
		if native {
			most = nativePieces
		}

		var fresh []piece
		done = 0
		for _, p := range pieces[:min(most, len(pieces))] {
			if done > 0 && tx.Full() && !native {
				break
			}
			switch err := p.apply(tx); {
			case err == nil:
				fresh = append(fresh, p)
			case !errors.Is(err, messaging.ErrRepeat):
				return err
			}
			done++
		}

		if !native {
			return nil
		}
		return forward(tx, fresh)
	})
	return done, err
}

// isTransient reports whether the same callback may succeed when it comes again.
func isTransient(err error) bool {
	return errors.Is(err, storage.ErrUnavailable) ||
		errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// applyOneByOne writes pieces in a transaction each, after one of them failed. A
// piece that the database refuses is kept as it came: otherwise the provider
// would repeat it for a week. Only its own item is kept, so that a callback of
// which everything is refused is not stored many times over.
func (s *Server) applyOneByOne(ctx context.Context, pieces []piece) error {
	for _, p := range pieces {
		_, err := s.applySome(ctx, []piece{p})
		if err != nil && !isTransient(err) {
			s.Log.Error("could not apply a callback", "field", metricLabel(p.Field), "error", err)
			p.apply = s.keepRaw(p.item, "failed")
			_, err = s.applySome(ctx, []piece{p})
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
	// JSON must be UTF-8: other bytes would be stored, and sent on to customers.
	text := body
	if !utf8.Valid(body) {
		text = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}

	changes, err := provider.ParseCallback(text)
	if err != nil {
		unread := item{Change: provider.Change{Value: body}}
		return []piece{{item: unread, apply: s.keepRaw(unread, "unreadable")}}
	}

	from := &sourceCallback{text: text, changes: changes}
	for i, n := range changes {
		prepare := preparerOf(n.Field)
		if prepare == nil {
			prepare = func(s *Server, n provider.CallbackChange) []piece { return s.keepChange(n, "not handled") }
		}

		items := make(map[provider.Place]bool)
		for _, p := range prepare(s, n) {
			p.from, p.change = from, i
			all = append(all, p)
			if p.at.List != "" {
				items[p.at] = true
			}
		}
		from.items = append(from.items, items)
	}
	return all
}

// preparerOf returns what splits a change with this field into pieces, nil if the
// field is none that we know.
func preparerOf(field string) func(*Server, provider.CallbackChange) []piece {
	switch field {
	case "messages":
		return (*Server).prepareMessages
	case "smb_message_echoes":
		return (*Server).prepareEchoes
	case "user_id_update":
		return (*Server).prepareIdentities
	case "user_preferences":
		return (*Server).preparePreferences

	case "history", "smb_app_state_sync", "standby", "messaging_handovers":
		return func(s *Server, n provider.CallbackChange) []piece { return s.keepChange(n, "not used") }

	case "message_template_status_update", "message_template_quality_update",
		"message_template_components_update", "template_category_update":
		return (*Server).prepareTemplate
	case "account_update", "account_review_update", "account_alerts", "business_capability_update",
		"phone_number_quality_update", "phone_number_name_update", "security":
		return (*Server).prepareAccount
	}

	return nil
}

// keepChange returns the piece for a change that is only kept.
func (s *Server) keepChange(n provider.CallbackChange, reason string) []piece {
	whole := wholeChange(n)
	return []piece{{item: whole, apply: s.keepRaw(whole, reason)}}
}

// item is a change, or one item of its value, with the phone number id and the
// business account that it is about: "" for none.
type item struct {
	provider.Change
	number, waba string
}

// wholeChange is a change as one item. Its value may be of any shape.
func wholeChange(n provider.CallbackChange) item {
	return item{n.Change, n.PhoneNumberID(), n.WABA}
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

// metricLabel is the name of a field for metrics and logs, or "other" if we do not
// know it: the name comes from outside, and each new one would be a new series.
func metricLabel(field string) string {
	if preparerOf(field) == nil {
		return "other"
	}
	return field
}
