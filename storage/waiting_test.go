package storage_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// modelMessage is a message as far as waiting goes.
type modelMessage struct {
	row     storage.Message
	place   string
	waits   bool // of the person, and no reaction
	answers bool
	failed  bool
}

// modelThread is a conversation as the model has it: what happened to it, and nothing derived.
type modelThread struct {
	contact, id string
	status      string
	assignee    *string
	snoozed     storage.Time
	said        []*modelMessage
	later       []*modelMessage // sends whose time has not come
	from        string          // places before it do not wait
	notes       int
	mentions    map[string]bool // users with an unread one
	labels      map[string]bool
	spell       *modelSpell // nil while it is resolved
}

// answer is the place of the newest answer that has not failed.
func (m *modelThread) answer() (place string) {
	for _, s := range m.said {
		if s.answers && !s.failed {
			place = max(place, s.place)
		}
	}
	return place
}

// first is the oldest message that waits after a place.
func (m *modelThread) first(after string) (oldest *modelMessage) {
	for _, s := range m.said {
		if s.waits && s.place > after && s.place >= m.from && (oldest == nil || s.place < oldest.place) {
			oldest = s
		}
	}
	return oldest
}

func (m *modelThread) waitingSince() storage.Time {
	if oldest := m.first(m.answer()); oldest != nil {
		return oldest.row.CreatedAt
	}
	return 0
}

// history makes up what happens in the conversations of a number, in the database and in the model.
type history struct {
	t       *testing.T
	db      *storage.DB
	clock   *storagetest.Clock
	random  *rand.Rand
	account storage.Account
	users   []string
	threads []*modelThread
	spells  []*modelSpell // all that ever began, but those that were merged into others
	labels  []string
	now     storage.Time // of the last transaction
	step    int
	wamid   int
	done    string // the last step, for whoever reads a failure
}

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{t: t, clock: new(storagetest.Clock), random: rand.New(rand.NewPCG(seed, 0))}
	o := storagetest.Options(t, t.TempDir())
	o.Now = h.clock.Now
	h.db = storagetest.OpenWith(t, o)
	tenant := storagetest.Seed(t, h.db, "Acme")
	h.account = storagetest.Connect(t, h.db, tenant, "100200300")
	for _, name := range []string{"Ada", "Ben"} {
		u := storage.User{OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, Name: name}
		h.update(func(tx *storage.Tx) error { return tx.InsertUser(&u) })
		h.users = append(h.users, u.ID)
	}
	for _, name := range []string{"VIP", "late"} {
		l := storage.Label{OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, Name: name, Color: "#ff0000"}
		h.update(func(tx *storage.Tx) error { return tx.InsertLabel(&l) })
		h.labels = append(h.labels, l.ID)
	}
	return h
}

// update is one transaction, at a time of its own.
func (h *history) update(fn func(*storage.Tx) error) {
	h.t.Helper()
	h.step++
	h.clock.Set(time.Duration(h.step) * time.Second)
	storagetest.Update(h.t, h.db, func(tx *storage.Tx) error {
		h.now = tx.Order
		return fn(tx)
	})
}

func (h *history) pick() *modelThread { return h.threads[h.random.IntN(len(h.threads))] }

// person makes somebody with whom nothing was said.
func (h *history) person() {
	c := storage.Contact{AccountID: h.account.ID, PhoneNumber: new(fmt.Sprintf("+1555%07d", h.step))}
	thread := storage.Thread{}
	h.update(func(tx *storage.Tx) error {
		if err := tx.InsertContact(&c); err != nil {
			return err
		}
		thread = storage.Thread{Contact: c}
		return tx.InsertThreadConversation(&thread)
	})
	m := &modelThread{contact: c.ID, id: thread.ConversationID, status: "open", mentions: map[string]bool{}, labels: map[string]bool{}}
	h.threads = append(h.threads, m)
	h.beginSpell(m)
}

func (h *history) message(m *modelThread, direction, kind, source, status string) *modelMessage {
	h.wamid++
	return &modelMessage{row: storage.Message{
		AccountID: h.account.ID, ConversationID: m.id, ContactID: m.contact, Direction: direction, Type: kind, Status: status, Source: source,
		ProviderID: new(fmt.Sprint("wamid.", h.wamid)), Content: storage.JSON(`{}`),
	}}
}

func (h *history) receive(m *modelThread, kind string) {
	in := h.message(m, storage.Inbound, kind, storage.SourceApp, storage.MessageDelivered)
	h.update(func(tx *storage.Tx) error {
		t, err := tx.Thread(h.account.ID, m.contact)
		if err != nil {
			return err
		}
		if err := tx.InsertMessage(&in.row); err != nil {
			return err
		}
		if kind == "reaction" {
			return tx.MarkReactionReceived(t, tx.Now)
		}
		return tx.MarkMessageReceived(&t, tx.Now)
	})
	in.place, in.waits = in.row.ID, kind != "reaction"
	m.said = append(m.said, in)
	if in.waits {
		m.snoozed = 0
		if m.status == storage.ConversationResolved {
			m.status = storage.ConversationOpen
			h.beginSpell(m)
		}
		m.spell.receive(h.now)
	}
}

func (h *history) send(m *modelThread, kind, source string, later bool) {
	out := h.message(m, storage.Outbound, kind, source, storage.MessageQueued)
	h.update(func(tx *storage.Tx) error {
		switch {
		case later:
			out.row.ScheduledAt = tx.Now.Add(time.Hour)
		case source == storage.SourceBroadcast:
			out.row.Broadcast, out.row.RecipientNumber = new(int64(1)), new(int64(1))
			t, err := tx.Thread(h.account.ID, m.contact)
			if err == nil {
				err = tx.EnsureResolvedThread(&t)
			}
			if err != nil {
				return err
			}
		case source == storage.SourceRule:
			if err := tx.TouchConversation(m.id); err != nil {
				return err
			}
		default:
			if err := tx.MarkMessageWritten(m.id, kind, source); err != nil {
				return err
			}
		}
		return tx.InsertMessage(&out.row)
	})
	out.place, out.answers = out.row.ID, source != storage.SourceBroadcast && source != storage.SourceRule && kind != "reaction"
	if later {
		m.later = append(m.later, out)
		return
	}
	m.said = append(m.said, out)
	m.spell.send(out, h.now)
}

// release lets the time of a later send come, or cancels it before.
func (h *history) release(m *modelThread) {
	if len(m.later) == 0 {
		return
	}
	out := m.later[0]
	m.later = m.later[1:]
	if h.random.IntN(3) == 0 {
		h.fail(out)
		return
	}
	h.update(func(tx *storage.Tx) error {
		_, err := tx.ReleaseMessage(&out.row)
		return err
	})
	storagetest.View(h.t, h.db, func(rx *storage.Rx) error {
		return rx.Get(&out.place, `SELECT place FROM messages WHERE id = ?`, out.row.ID)
	})
	m.said = append(m.said, out)
	m.spell.send(out, h.now)
}

func (h *history) fail(out *modelMessage) {
	h.update(func(tx *storage.Tx) error { return tx.MarkFailed(&out.row, "upstream_error", "no", nil) })
	out.failed = true
}

// report lets the provider report a send.
func (h *history) report(m *modelThread) {
	for _, out := range m.said {
		if out.row.Direction != storage.Outbound || out.failed || h.random.IntN(2) == 0 {
			continue
		}
		status := []string{storage.MessageSent, storage.MessageDelivered, storage.MessageRead, storage.MessageFailed}[h.random.IntN(4)]
		h.update(func(tx *storage.Tx) error {
			first, err := tx.MarkStatus(&out.row, status, tx.Now, nil)
			if err != nil || !first || status != storage.MessageFailed {
				return err
			}
			return tx.MarkFailed(&out.row, "undeliverable", "no", nil)
		})
		out.failed = out.failed || status == storage.MessageFailed
		return
	}
}

// change patches a conversation as the API does.
func (h *history) change(m *modelThread, status string, assignee *string, snooze time.Duration) {
	h.update(func(tx *storage.Tx) error {
		c, err := tx.ConversationOf(m.contact)
		if err != nil {
			return err
		}
		c.Status, c.AssigneeID = status, assignee
		if status == storage.ConversationResolved {
			snooze = 0
		}
		if snooze == 0 {
			m.snoozed = 0
		} else {
			m.snoozed = tx.Now.Add(snooze)
		}
		if err := tx.Snooze(&c, m.snoozed); err != nil {
			return err
		}
		return tx.UpdateConversation(&c, "somebody")
	})
	wasResolved := m.status == storage.ConversationResolved
	m.status, m.assignee = status, assignee
	switch isResolved := status == storage.ConversationResolved; {
	case isResolved:
		h.endSpell(m, h.now)
	case wasResolved:
		h.beginSpell(m)
	}
	if status == storage.ConversationResolved {
		m.from = h.db.NewID(storage.PrefixMessage) // later than all, and earlier than all that follow
	}
}

// wake runs the jobs that end snoozes, or would if they were due.
func (h *history) wake(m *modelThread) {
	var now storage.Time
	h.update(func(tx *storage.Tx) error {
		now = tx.Now
		_, err := tx.WakeConversation(h.account.ID, m.id)
		return err
	})
	if m.snoozed <= now {
		m.snoozed = 0
	}
}

func (h *history) note(m *modelThread) {
	who := h.users[h.random.IntN(len(h.users))]
	h.update(func(tx *storage.Tx) error {
		return tx.InsertNote(&storage.Note{
			AccountID: h.account.ID, ConversationID: m.id, Text: "look", Mentions: storage.Strings{who},
			NoteAuthor: storage.NoteAuthor{Type: storage.NoteByKey, ID: "key_1"},
		})
	})
	m.notes++
	m.mentions[who] = true
}

func (h *history) open(m *modelThread) {
	who := h.users[h.random.IntN(len(h.users))]
	h.update(func(tx *storage.Tx) error {
		return tx.MarkMentionsRead(who, storage.Conversation{ID: m.id, AccountID: h.account.ID})
	})
	delete(m.mentions, who)
}

// merge makes one person of two.
func (h *history) merge(into, from *modelThread) {
	if into == from {
		return
	}
	h.update(func(tx *storage.Tx) error {
		a, err := tx.Thread(h.account.ID, into.contact)
		if err != nil {
			return err
		}
		b, err := tx.Thread(h.account.ID, from.contact)
		if err != nil {
			return err
		}
		_, err = tx.MergeThreads(&a, b)
		return err
	})

	answer := max(into.answer(), from.answer())
	latest := max(into.from, from.from)
	for _, m := range []*modelThread{into, from} {
		if first := m.first(answer); first != nil {
			latest = min(latest, first.place)
		}
	}
	into.from = latest
	for _, s := range append(slices.Clone(from.said), from.later...) {
		s.row.ConversationID, s.row.ContactID = into.id, into.contact
	}
	into.said, into.later = append(into.said, from.said...), append(into.later, from.later...)

	resolved := storage.ConversationResolved
	switch {
	case into.status == resolved && from.status == resolved:
		into.snoozed = 0
	case into.status == resolved:
		into.snoozed = from.snoozed
	case from.status != resolved:
		into.snoozed = min(into.snoozed, from.snoozed)
	}
	if into.status == resolved || from.status == storage.ConversationOpen {
		into.status = from.status
	}
	if into.assignee == nil {
		into.assignee = from.assignee
	}
	into.notes += from.notes
	for user := range from.mentions {
		into.mentions[user] = true
	}
	maps.Copy(into.labels, from.labels)
	h.mergeSpells(into, from)
	h.threads = slices.DeleteFunc(h.threads, func(m *modelThread) bool { return m == from })
}

// forget deletes the oldest messages of somebody, as retention does.
func (h *history) forget(m *modelThread) {
	if len(m.said) == 0 || len(m.later) > 0 {
		return
	}
	slices.SortFunc(m.said, func(a, b *modelMessage) int { return strings.Compare(a.place, b.place) })
	n := 1 + h.random.IntN(len(m.said))
	var rows []storage.Row
	for _, s := range m.said[:n] {
		rows = append(rows, storage.Row{At: s.row.CreatedAt, ID: s.row.ID})
	}
	h.update(func(tx *storage.Tx) error {
		_, err := tx.ForgetMessages(h.account.ID, rows, nil)
		return err
	})
	m.said = m.said[n:]
}

// delete deletes somebody with all that was said.
func (h *history) delete(m *modelThread) {
	h.update(func(tx *storage.Tx) error { return tx.DeleteContact(h.account.ID, m.contact) })
	h.endSpell(m, 0)
	for _, s := range h.spells {
		if s.thread == m {
			s.isBlank = true
		}
	}
	h.threads = slices.DeleteFunc(h.threads, func(other *modelThread) bool { return other == m })
}

// next is one step.
func (h *history) next() {
	if len(h.threads) < 3 {
		h.done = "person"
		h.person()
		return
	}

	m := h.pick()
	someone := []*string{nil, &h.users[0], &h.users[1]}[h.random.IntN(3)]
	steps := []struct {
		weight int
		name   string
		do     func()
	}{
		{5, "receive", func() { h.receive(m, "text") }},
		{1, "reaction of the person", func() { h.receive(m, "reaction") }},
		{3, "send", func() { h.send(m, "text", storage.SourceConsole, false) }},
		{1, "echo", func() { h.send(m, "text", storage.SourceApp, false) }},
		{1, "gateway", func() { h.send(m, "text", storage.SourceGateway, false) }},
		{2, "rule", func() { h.send(m, "text", storage.SourceRule, false) }},
		{1, "reaction of ours", func() { h.send(m, "reaction", storage.SourceAPI, false) }},
		{2, "campaign", func() { h.send(m, "template", storage.SourceBroadcast, false) }},
		{1, "later", func() { h.send(m, "text", storage.SourceAPI, true) }},
		{2, "release or cancel", func() { h.release(m) }},
		{4, "report", func() { h.report(m) }},
		{1, "resolve", func() { h.change(m, storage.ConversationResolved, m.assignee, 0) }},
		{1, "assign and reopen", func() { h.change(m, storage.ConversationOpen, someone, 0) }},
		{1, "pending", func() { h.change(m, storage.ConversationPending, someone, 0) }},
		{2, "snooze", func() { h.change(m, storage.ConversationOpen, someone, time.Duration(h.random.IntN(20)+1)*time.Second) }},
		{2, "wake", func() { h.wake(m) }},
		{2, "note", func() { h.note(m) }},
		{1, "open", func() { h.open(m) }},
		{1, "label", func() { h.label(m) }},
		{1, "merge", func() { h.merge(m, h.pick()) }},
		{1, "retention", func() { h.forget(m) }},
		{1, "delete", func() { h.delete(m) }},
		{1, "person", func() {
			if len(h.threads) < 6 { // few, so that much happens to each
				h.person()
			}
		}},
	}
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	n := h.random.IntN(total)
	for _, s := range steps {
		if n -= s.weight; n < 0 {
			h.done = s.name
			s.do()
			return
		}
	}
}

// check holds the database against the model: each conversation, the counts of the tabs, and
// the lists that they count.
func (h *history) check() {
	h.t.Helper()
	var want storage.ConversationCounts
	user := h.users[0]
	waiting := make(map[string]storage.Time)
	for _, m := range h.threads {
		want.All++
		if since := m.waitingSince(); since != 0 {
			waiting[m.id] = since
			want.Waiting++
		}
		if m.mentions[user] {
			want.Mentions++
		}
		if m.snoozed != 0 {
			want.Snoozed++
		}
		switch {
		case m.status == storage.ConversationResolved:
			want.Resolved++
		case m.snoozed == 0:
			want.Open++
			if m.assignee == nil {
				want.Unassigned++
			} else if *m.assignee == user {
				want.Mine++
			}
		}
	}

	storagetest.View(h.t, h.db, func(rx *storage.Rx) error {
		got, err := rx.CountConversations(h.account.ID, user)
		if err != nil {
			return err
		}
		got.Unread = 0 // TestUnread… have it
		if got != want {
			h.t.Fatalf("step %d, %s: counts %+v, want %+v", h.step, h.done, got, want)
		}

		for _, m := range h.threads {
			c, err := rx.ConversationOf(m.contact)
			if err != nil {
				return err
			}
			if c.WaitingSince != waiting[m.id] || c.SnoozedUntil != m.snoozed || c.Status != m.status {
				h.t.Fatalf("step %d, %s: %s waits since %d, sleeps until %d, is %s; want %d, %d, %s",
					h.step, h.done, m.id, c.WaitingSince, c.SnoozedUntil, c.Status, waiting[m.id], m.snoozed, m.status)
			}
			if notes, _, err := rx.Notes(m.id, storage.NoteFilter{}, storage.First, math.MaxInt32); err != nil || len(notes) != m.notes {
				h.t.Fatalf("step %d, %s: %s has %d notes, want %d (%v)", h.step, h.done, m.id, len(notes), m.notes, err)
			}
		}

		rows, _, err := rx.Conversations(h.account.ID, storage.ConversationFilter{ByWaiting: true}, storage.First, math.MaxInt32)
		if err != nil {
			return err
		}
		if len(rows) != len(waiting) || !slices.IsSortedFunc(rows, func(a, b storage.FullConversation) int { return int(a.WaitingSince - b.WaitingSince) }) {
			h.t.Fatalf("step %d, %s: %d wait in the list, not the longest first, of %d", h.step, h.done, len(rows), len(waiting))
		}
		for filter, n := range map[string]int{"mentions": want.Mentions, "snoozed": want.Snoozed, "waiting": want.Waiting, "open": want.Open} {
			f := map[string]storage.ConversationFilter{
				"mentions": {MentionedID: user}, "snoozed": {Snoozed: true}, "waiting": {Waiting: true},
				"open": {Statuses: []string{storage.ConversationOpen, storage.ConversationPending}, Awake: true},
			}[filter]
			if rows, _, err := rx.Conversations(h.account.ID, f, storage.First, math.MaxInt32); err != nil || len(rows) != n {
				h.t.Fatalf("step %d, %s: the list %s has %d, want %d (%v)", h.step, h.done, filter, len(rows), n, err)
			}
		}
		return nil
	})
}

// Whatever happens in whatever order, since when each conversation waits is what its rows say,
// the tabs count what their lists hold, and reports what happened.
func TestWaitingTabsAndReportsAgreeWithAnyHistory(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			h := newHistory(t, seed)
			for i := range 600 {
				h.next()
				h.check()
				if i%5 == 4 { // what is wrong with a spell stays
					h.checkSpells()
				}
			}
		})
	}
}
