package api

import (
	"cmp"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"time"

	"confab/app/api/rest"
	"confab/storage"
)

// maxReportSpells is how many spells a report may count.
const maxReportSpells = 1_000_000

// conversationsView is how an organization's conversations went.
type conversationsView struct {
	reportView
	Groups []spellGroupView `json:"groups"`
	Totals spellsView       `json:"totals"`
}

type spellGroupView struct {
	Group *string `json:"group"` // null for spells that belong to none
	spellsView
}

// spellsView are figures of spells, which count where they were opened.
type spellsView struct {
	Opened            int64           `json:"opened"`
	Resolved          int64           `json:"resolved"`
	Replied           int64           `json:"replied"`
	MessagesIn        int64           `json:"messages_in"`
	MessagesOut       int64           `json:"messages_out"`
	FirstReplySeconds percentilesView `json:"first_reply_seconds"`
	ResolutionSeconds percentilesView `json:"resolution_seconds"`
}

// percentilesView are two percentiles in seconds; null without values.
type percentilesView struct {
	P50 *float64 `json:"p50"`
	P90 *float64 `json:"p90"`
}

type spellSum struct {
	opened, in, out      int64
	replies, resolutions []int64 // milliseconds
}

func (s *spellSum) add(f storage.SpellFigures) {
	s.opened++
	s.in += f.In
	s.out += f.Out
	if f.Reply >= 0 {
		s.replies = append(s.replies, f.Reply)
	}
	if f.Resolution >= 0 {
		s.resolutions = append(s.resolutions, f.Resolution)
	}
}

func (s *spellSum) view() spellsView {
	return spellsView{
		Opened:            s.opened,
		Resolved:          int64(len(s.resolutions)),
		Replied:           int64(len(s.replies)),
		MessagesIn:        s.in,
		MessagesOut:       s.out,
		FirstReplySeconds: percentilesOf(s.replies),
		ResolutionSeconds: percentilesOf(s.resolutions),
	}
}

// percentilesOf are percentiles of milliseconds by nearest rank, in seconds. It moves the values.
func percentilesOf(values []int64) percentilesView {
	if len(values) == 0 {
		return percentilesView{}
	}

	seconds := func(ms int64) *float64 { return new(float64(ms) / 1000) }
	p50, p90 := (len(values)+1)/2-1, (9*len(values)+9)/10-1
	middle := nthSmallest(values, p50) // none after it is smaller
	return percentilesView{seconds(middle), seconds(nthSmallest(values[p50:], p90-p50))}
}

// nthSmallest is the value that would be at a place if the values were sorted (Hoare's find). Sorting a
// million takes five times as long.
func nthSmallest(values []int64, n int) int64 {
	for low, high := 0, len(values)-1; low < high; {
		middle := values[(low+high)/2]
		i, j := low, high
		for i <= j {
			for values[i] < middle {
				i++
			}
			for values[j] > middle {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i, j = i+1, j-1
			}
		}

		if n <= j {
			high = j
		} else if n >= i {
			low = i
		} else {
			break // between them all are the same
		}
	}
	return values[n]
}

type conversationReport struct {
	groupBy string
	zone    *time.Location
	sums    map[string]*spellSum
	total   spellSum
	added   int // spells, each once for every label that it has

	// The day or the hour of the last spell. Most follow each other.
	begin, end storage.Time
	last       *spellSum
}

func (c *conversationReport) add(number string, f storage.SpellFigures) {
	c.total.add(f)
	switch c.groupBy {
	case "day", "hour":
		if f.OpenedAt < c.begin || f.OpenedAt >= c.end {
			c.last = c.group(c.span(f.OpenedAt))
		}
		c.last.add(f)
	case "label":
		for label := range strings.SplitSeq(f.Key, " ") {
			c.group(label).add(f)
		}
	case "number":
		c.group(number).add(f)
	default: // the user, or none
		c.group(f.Key).add(f)
	}
}

func (c *conversationReport) group(name string) *spellSum {
	sum := c.sums[name]
	if sum == nil {
		sum = new(spellSum)
		c.sums[name] = sum
	}
	return sum
}

// span finds the day or the hour of a time, and returns its name.
func (c *conversationReport) span(at storage.Time) string {
	t := at.Std().In(c.zone)
	begin := t.Truncate(time.Minute).Add(-time.Duration(t.Minute()) * time.Minute)
	end, layout := begin.Add(time.Hour), time.RFC3339
	if c.groupBy == "day" {
		begin, end, layout = startOfDay(t, c.zone), startOfDay(t.AddDate(0, 0, 1), c.zone), time.DateOnly
	}

	c.begin, c.end = storage.At(begin), storage.At(end)
	return begin.Format(layout)
}

func (c *conversationReport) view(head reportView) conversationsView {
	v := conversationsView{reportView: head, Groups: []spellGroupView{}}
	for name, sum := range c.sums {
		v.Groups = append(v.Groups, spellGroupView{storage.OrNil(name), sum.view()})
	}
	v.Totals = c.total.view()
	slices.SortFunc(v.Groups, func(a, b spellGroupView) int { return strings.Compare(a.order(), b.order()) })
	return v
}

// order is what groups are sorted by: by its name, the second of an hour that comes twice may be the first.
func (v spellGroupView) order() string {
	name := storage.OrEmpty(v.Group)
	if at, err := time.Parse(time.RFC3339, name); err == nil {
		return at.UTC().Format(time.RFC3339)
	}
	return name
}

// readConversationDays reads the days that a report on conversations is about.
func readConversationDays(q *rest.Filters, now storage.Time) reportDays {
	name := q.Values.Get("timezone")
	zone, err := time.LoadLocation(name)
	if q.Values.Has("timezone") && (err != nil || name == "" || name == "Local") {
		q.Refuse("timezone", "must be a time zone such as Europe/Madrid")
		zone = time.UTC
	}
	return readReportDays(q, zone, now)
}

// getConversationReport handles GET /v1/reports/conversations.
func (s *Server) getConversationReport(r *rest.Request) (rest.Reply, error) {
	q := rest.Filters{Values: r.Query()}
	days := readConversationDays(&q, r.Now)
	groupBy := cmp.Or(q.OneOf("group_by", "day", "hour", "user", "number", "label", "none"), "none")
	if q.Err != nil {
		return rest.Reply{}, q.Err
	}

	key := storage.SpellsTogether
	if groupBy == "user" || groupBy == "label" {
		key = storage.SpellKey(groupBy)
	}
	var sums *conversationReport
	err := s.List(r, func(rx *storage.Rx) error {
		sums = &conversationReport{groupBy: groupBy, zone: days.zone, sums: make(map[string]*spellSum)} // perhaps once more
		numbers, err := rx.ReportedNumbers(r.Org.ID, r.Key.Accounts)
		if err != nil {
			return err
		}
		return sums.read(rx, numbers, days, key)
	})
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(sums.view(days.view(groupBy))), nil
}

func (c *conversationReport) read(rx *storage.Rx, numbers []storage.AccountKey, days reportDays, key storage.SpellKey) error {
	for _, n := range numbers {
		err := rx.EachSpell(n.ID, days.begin(), days.end(), key, func(f storage.SpellFigures) error {
			c.added += 1 + strings.Count(f.Key, " ") // only labels have spaces between them
			if c.total.opened >= maxReportSpells || c.added > 10*maxReportSpells {
				return rest.Invalid("from", "must leave at most 1,000,000 conversations to count")
			}
			c.add(n.PhoneNumberID, f)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var spellColumns = []string{
	"conversation_id", "contact_id", "number", "opened_at", "first_reply_at", "first_reply_by", "resolved_at", "resolved_by",
	"assignee", "labels", "messages_in", "messages_out",
}

// exportConversationReport handles GET /v1/reports/conversations.csv.
func (s *Server) exportConversationReport(r *rest.Request) (rest.Reply, error) {
	q := rest.Filters{Values: r.Query()}
	days := readConversationDays(&q, r.Now)
	if q.Err != nil {
		return rest.Reply{}, q.Err
	}

	r.Target = r.Org.PublicID
	return s.export(r, "conversations.csv", func(x *rest.Exchange, check func() error) error { return s.writeSpells(x, days, check) })
}

// writeSpells writes a line for each spell. It reads page by page.
func (s *Server) writeSpells(x *rest.Exchange, days reportDays, check func() error) error {
	r, out := x.Request, csv.NewWriter(x)
	_ = out.Write(spellColumns)

	numbers, err := rest.QueryMany(s.Server, r, func(rx *storage.Rx) ([]storage.AccountKey, error) {
		return rx.ReportedNumbers(r.Org.ID, r.Key.Accounts)
	})
	for _, n := range numbers {
		for next := days.begin(); err == nil && next < days.end(); {
			if err := check(); err != nil {
				return err
			}

			var rows []storage.Spell
			from := next
			err = s.List(r, func(rx *storage.Rx) (err error) {
				rows, next, err = rx.Spells(n.ID, from, days.end(), exportBatch)
				return err
			})
			for _, spell := range rows {
				_ = out.Write(spellCells(n.PhoneNumberID, spell))
			}
			out.Flush()
			err = cmp.Or(err, out.Error())
		}
	}
	out.Flush()
	return cmp.Or(err, out.Error())
}

func spellCells(number string, s storage.Spell) []string {
	return []string{
		storage.OrEmpty(s.ConversationID), storage.OrEmpty(s.ContactID), number, s.OpenedAt.String(), s.RepliedAt.String(),
		storage.OrEmpty(s.RepliedBy), s.ResolvedAt.String(), storage.OrEmpty(s.ResolvedBy), storage.OrEmpty(s.AssigneeID),
		strings.ReplaceAll(s.Labels, " ", ";"), strconv.FormatInt(s.MessagesIn, 10), strconv.FormatInt(s.MessagesOut, 10),
	}
}
