package callback

import (
	"bytes"
	"context"
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

// piece is a step and the change that it comes from.
type piece struct {
	change provider.Change
	take   step
}

// piecesAtOnce bounds the pieces of one transaction.
const piecesAtOnce = 50

// apply takes a callback piece by piece, in several transactions if it is large.
// Should one fail, the provider sends all of it again, and what was taken is
// known by then.
func (s *Server) apply(ctx context.Context, body []byte) error {
	for pieces := range slices.Chunk(s.pieces(body), piecesAtOnce) {
		err := s.DB.Update(ctx, func(tx *storage.Tx) error {
			for _, p := range pieces {
				if err := p.take(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && !passing(err) {
			err = s.applySingly(ctx, pieces)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// passing tells whether the same callback may succeed when it comes again.
func passing(err error) bool {
	return errors.Is(err, storage.ErrUnavailable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// applySingly takes pieces of which one does what the database will not have:
// that one is kept as it came, because it would come again for a week.
func (s *Server) applySingly(ctx context.Context, pieces []piece) error {
	for _, p := range pieces {
		err := s.DB.Update(ctx, p.take)
		if err != nil && !passing(err) {
			s.Log.Error("a callback could not be applied", "field", p.change.Field, "error", err)
			err = s.DB.Update(ctx, s.keep(p.change, "failed"))
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
		whole := provider.Change{Value: body}
		return []piece{{whole, s.keep(whole, "unreadable")}}
	}
	for _, n := range changes {
		for _, take := range s.takeChange(n) {
			all = append(all, piece{n.Change, take})
		}
	}
	return all
}

// takeChange names who takes each kind of change.
func (s *Server) takeChange(n provider.News) []step {
	switch n.Field {
	case "messages":
		return s.takeMessages(n)
	case "message_template_status_update", "message_template_quality_update", "message_template_components_update", "template_category_update":
		return s.takeTemplate(n)
	case "account_update", "account_review_update", "account_alerts", "business_capability_update", "phone_number_quality_update", "phone_number_name_update", "security":
		return s.takeAccount(n)
	default:
		return s.keeping(n, "not handled")
	}
}

// keeping is all there is to do with a change that nobody takes.
func (s *Server) keeping(n provider.News, reason string) []step {
	return []step{s.keep(n.Change, reason)}
}

// keep stores a change as it came, for somebody to look at, and counts it.
func (s *Server) keep(change provider.Change, reason string) step {
	return func(tx *storage.Tx) error {
		raw := storage.RawCallback{Field: change.Field, Reason: reason, Payload: change.Value}
		if raw.Payload == nil {
			raw.Payload = []byte("null")
		}
		if s.OnKept != nil {
			tx.AfterCommit(func() { s.OnKept(word(change.Field), reason) })
		}
		return tx.InsertRawCallback(raw)
	}
}

// word is a field by its name, if that could be one.
func word(field string) string {
	odd := func(c rune) bool { return c != '_' && (c < 'a' || c > 'z') }
	if field == "" || len(field) > 40 || strings.ContainsFunc(field, odd) {
		return "other"
	}
	return field
}
