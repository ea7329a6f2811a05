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

// step writes one piece of a callback. It is prepared before the transaction,
// which should be short.
type step func(*storage.Tx) error

// piece is a step and the news that it comes from.
type piece struct {
	news  provider.News
	apply step
}

// piecesPerTx bounds the pieces of one transaction.
const piecesPerTx = 50

// apply takes a callback piece by piece, in several transactions if it is large.
// Should one fail, the provider sends all of it again, and what was taken is
// known by then.
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
		if err != nil && !isTransient(err) {
			err = s.applyOneByOne(ctx, pieces)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isTransient tells whether the same callback may succeed when it comes again.
func isTransient(err error) bool {
	return errors.Is(err, storage.ErrUnavailable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// applyOneByOne takes pieces of which one does what the database will not have:
// that one is kept as it came, because it would come again for a week.
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

// pieces reads a callback. What cannot be read is kept as it came, and does not
// hold up the rest.
func (s *Server) pieces(body []byte) (all []piece) {
	text := body
	if !utf8.Valid(body) {
		text = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}
	changes, err := provider.ParseCallback(text)
	if err != nil {
		all := provider.News{Change: provider.Change{Value: body}}
		return []piece{{all, s.keepRaw(item{Change: all.Change}, "unreadable")}}
	}
	for _, n := range changes {
		for _, take := range s.prepareChange(n) {
			all = append(all, piece{n, take})
		}
	}
	return all
}

// prepareChange names who takes each kind of change.
func (s *Server) prepareChange(n provider.News) []step {
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
	case "message_template_status_update", "message_template_quality_update", "message_template_components_update", "template_category_update":
		return s.prepareTemplate(n)
	case "account_update", "account_review_update", "account_alerts", "business_capability_update", "phone_number_quality_update", "phone_number_name_update", "security":
		return s.prepareAccount(n)
	default:
		return s.keepChange(n, "not handled")
	}
}

// keepChange is all there is to do with a change that nobody takes.
func (s *Server) keepChange(n provider.News, reason string) []step {
	return []step{s.keepRaw(wholeChange(n), reason)}
}

// item is a change, or a part of one, and the number and the business account
// that it is about: "" for none.
type item struct {
	provider.Change
	number, waba string
}

// wholeChange is a change by itself.
func wholeChange(n provider.News) item {
	var number provider.ID
	if raw := provider.Member(provider.Member(n.Value, "metadata"), "phone_number_id"); raw != nil {
		_ = json.Unmarshal(raw, &number) // what is no id names no number
	}
	return item{n.Change, string(number), n.WABA}
}

// keepRaw stores an item as it came, for somebody to look at, and counts it. It
// belongs to the account of its number, and goes with it. What still comes for
// one that was removed is of no use to anyone.
func (s *Server) keepRaw(what item, reason string) step {
	return func(tx *storage.Tx) error {
		raw := storage.RawCallback{PhoneNumberID: what.number, WABAID: what.waba, Field: what.Field, Reason: reason, Payload: what.Value}
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

// metricLabel is a field by its name, if that could be one.
func metricLabel(field string) string {
	odd := func(c rune) bool { return c != '_' && (c < 'a' || c > 'z') }
	if field == "" || len(field) > 40 || strings.ContainsFunc(field, odd) {
		return "other"
	}
	return field
}
