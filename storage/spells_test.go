package storage_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// modelSpell is a spell as the model of a history has it.
type modelSpell struct {
	thread            *modelThread
	opened, inbound   storage.Time
	replied, resolved storage.Time
	repliedBy         string
	in, out           int64
	isOver, isBlank   bool
	assignee, labels  string // once it is over
}

func (h *history) beginSpell(m *modelThread) {
	m.spell = &modelSpell{thread: m, opened: h.now}
	h.spells = append(h.spells, m.spell)
}

func (s *modelSpell) receive(at storage.Time) {
	s.in++
	if s.inbound == 0 {
		s.inbound = at
	}
}

func (s *modelSpell) send(out *modelMessage, at storage.Time) {
	if s == nil || !out.answers {
		return
	}
	s.out++
	if s.inbound != 0 && s.replied == 0 {
		s.replied, s.repliedBy = at, out.row.Source
	}
}

func (h *history) endSpell(m *modelThread, at storage.Time) {
	if s := m.spell; s != nil {
		s.isOver, s.resolved, s.assignee, s.labels = true, at, storage.OrEmpty(m.assignee), m.labelText()
	}
	m.spell = nil
}

func (m *modelThread) labelText() string {
	return strings.Join(slices.Sorted(maps.Keys(m.labels)), " ")
}

func (h *history) mergeSpells(into, from *modelThread) {
	for _, s := range h.spells {
		if s.thread == from {
			s.thread = into
		}
	}
	a, b := into.spell, from.spell
	switch {
	case b == nil:
	case a == nil:
		into.spell = b
	default:
		earlier := func(a, b storage.Time) storage.Time {
			if a == 0 || b != 0 && b < a {
				return b
			}
			return a
		}
		if b.replied != 0 && earlier(a.replied, b.replied) == b.replied {
			a.repliedBy = b.repliedBy
		}
		a.opened, a.inbound, a.replied = earlier(a.opened, b.opened), earlier(a.inbound, b.inbound), earlier(a.replied, b.replied)
		a.in, a.out = a.in+b.in, a.out+b.out
		h.spells = slices.DeleteFunc(h.spells, func(s *modelSpell) bool { return s == b })
	}
}

// label labels a conversation.
func (h *history) label(m *modelThread) {
	id := h.labels[h.random.IntN(len(h.labels))]
	h.update(func(tx *storage.Tx) error {
		return tx.Run(`INSERT OR IGNORE INTO conversation_labels VALUES (?, ?)`, m.id, id)
	})
	m.labels[id] = true
}

// checkSpells holds what reports read against the model.
func (h *history) checkSpells() {
	h.t.Helper()
	want := make(map[storage.SpellKey][]string)
	var exported []string
	for _, s := range h.spells {
		assignee, labels := s.assignee, s.labels
		if !s.isOver {
			assignee, labels = storage.OrEmpty(s.thread.assignee), s.thread.labelText()
		}
		reply, resolution := int64(-1), int64(-1)
		if s.replied != 0 {
			reply = int64(s.replied - s.inbound)
		}
		if s.resolved != 0 {
			resolution = int64(s.resolved - s.opened)
		}
		for by, key := range map[storage.SpellKey]string{storage.SpellsTogether: "", storage.SpellsByUser: assignee, storage.SpellsByLabel: labels} {
			want[by] = append(want[by], fmt.Sprint(storage.SpellFigures{Key: key, OpenedAt: s.opened, Reply: reply, Resolution: resolution, In: s.in, Out: s.out}))
		}
		conversation, contact, resolvedBy := s.thread.id, s.thread.contact, ""
		if s.isBlank {
			conversation, contact = "", ""
		}
		if s.resolved != 0 {
			resolvedBy = "somebody"
		}
		exported = append(exported, fmt.Sprint(s.opened, conversation, contact, s.replied, s.repliedBy, s.resolved, resolvedBy, assignee, labels, s.in, s.out))
	}

	storagetest.View(h.t, h.db, func(rx *storage.Rx) error {
		for by, figures := range want {
			var got []string
			err := rx.EachSpellInSteps(h.account.ID, 1, h.now+1, by, 1+h.random.IntN(100), func(s storage.SpellFigures) error {
				got = append(got, fmt.Sprint(s))
				return nil
			})
			if err != nil {
				return err
			}
			h.same(got, figures)
		}

		var got []string
		for next := storage.Time(1); next <= h.now; {
			rows, after, err := rx.Spells(h.account.ID, next, h.now+1, 2)
			if err != nil {
				return err
			}
			for _, s := range rows {
				got = append(got, fmt.Sprint(s.OpenedAt, storage.OrEmpty(s.ConversationID), storage.OrEmpty(s.ContactID), s.RepliedAt, storage.OrEmpty(s.RepliedBy),
					s.ResolvedAt, storage.OrEmpty(s.ResolvedBy), storage.OrEmpty(s.AssigneeID), s.Labels, s.MessagesIn, s.MessagesOut))
			}
			next = after
		}
		h.same(got, exported)
		return nil
	})
}

func (h *history) same(got, want []string) {
	h.t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		h.t.Fatalf("step %d, %s: the spells are\n%s\nwant\n%s", h.step, h.done, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A spell is read once, also one that ends while a report is between two steps: those that last
// and those that are over are read in one order.
func TestSpellsThatEndMeanwhileAreReadOnce(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	account, contacts := people(t, db, "100200300", make([]storage.Contact, 7)...)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		for i, c := range contacts {
			v, err := tx.EnsureConversation(account.ID, c.ID)
			if err != nil {
				return err
			}
			if err := tx.Run(`UPDATE conversations SET spell_opened_at = ? WHERE id = ?`, 100+i/2, v.ID); err != nil {
				return err
			}
		}
		return nil
	})

	counted := func() {
		t.Helper()
		for atOnce := 1; atOnce < 5; atOnce++ { // those of one instant are counted, however many a step reads
			n := 0
			storagetest.View(t, db, func(rx *storage.Rx) error {
				return rx.EachSpellInSteps(account.ID, 1, 200, storage.SpellsTogether, atOnce, func(storage.SpellFigures) error { n++; return nil })
			})
			is.Equal(n, len(contacts))
		}
	}
	counted()
	seen := 0
	for next := storage.Time(1); next < 200; {
		var rows []storage.Spell
		storagetest.View(t, db, func(rx *storage.Rx) (err error) {
			rows, next, err = rx.Spells(account.ID, next, 200, 1)
			return err
		})
		seen += len(rows)
		is.True(len(rows) <= 2) // those of one instant stay together
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			for _, c := range contacts {
				v, err := tx.ConversationOf(c.ID)
				if err != nil {
					return err
				}
				v.Status = storage.ConversationResolved
				if err := tx.UpdateConversation(&v, "somebody"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	is.Equal(seen, len(contacts))
	counted()
}

// An upgrade knows the spell that lasts from the changes and messages that are there.
func TestUpgradesFindTheSpellThatLasts(t *testing.T) {
	is := is.New(t)
	o := frozenFile(t, 11)
	alter(t, o.Path, "PRAGMA foreign_keys = OFF",
		`INSERT INTO conversation_changes (id, conversation_id, account_id, kind, actor, created_at) VALUES
			('chg_01KDYBMWFE0000000000000002', 'cnv_01KDYBMWFE00000000000000V1', 1, 'resolved', 'api', 1767323045780),
			('chg_01KDYBMWFE0000000000000003', 'cnv_01KDYBMWFE00000000000000V1', 1, 'reopened', 'contact', 1767323045790)`)
	db, err := storage.Open(o)
	check(t, err)
	defer db.Close()
	rows := view(t, db, func(rx *storage.Rx) ([]storage.Spell, error) {
		all, _, err := rx.Spells(1, 1, storage.At(time.Now()), 10)
		return all, err
	})
	is.Equal(len(rows), 1)
	is.Equal([]storage.Time{rows[0].OpenedAt, rows[0].RepliedAt, rows[0].ResolvedAt}, []storage.Time{1767323045790, 1767323045791, 0})
	is.Equal([]int64{rows[0].MessagesIn, rows[0].MessagesOut}, []int64{1, 1})
	is.Equal(*rows[0].RepliedBy, "01KDYBMWFE00000000000000U1")
}
