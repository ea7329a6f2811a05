package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"confab/jobs/contactsheet"
	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/jobs/queue"
	"confab/storage"
)

const (
	kindContactImport = "contacts.import"

	// importLease is enough for a million lines on a busy machine. A run that takes
	// longer is followed by another, which goes on.
	importLease = 6 * time.Hour
	// maxImportErrors is how many wrong lines an import reports.
	maxImportErrors = 100
	// dryRunBatch is how many lines of a dry run are read at once, and maxImportBytes bounds
	// those of every step.
	dryRunBatch, maxImportBytes = 1000, 1 << 20
	// importRetry is how soon an import goes on that the disk had no room for.
	importRetry = 5 * time.Second
)

type contactImportArgs struct {
	storage.AboutAccount
	Import string `json:"import"`
}

// EnqueueContactImport stores the job that takes in the file of an import.
func EnqueueContactImport(tx *storage.Tx, i storage.ContactImport) error {
	return enqueue(tx, storage.NewJob{
		Kind: kindContactImport,
		Lane: "import:" + strconv.FormatInt(i.AccountID, 10),
		Args: contactImportArgs{storage.AboutAccount{Account: i.AccountID}, i.ID},
	})
}

// importContacts takes in a file of contacts. How far it came is stored with the
// contacts of each step, so that a run after a crash goes on after them.
func (w *Workers) importContacts(ctx context.Context, job storage.Job, args contactImportArgs) (queue.Commit, error) {
	getsOn := func(storage.ContactImport) { _ = w.resetCrashCount(ctx, &job) } // or after the next step
	err := w.ImportContacts(ctx, args.Account, args.Import, getsOn)
	if errors.Is(err, storage.ErrUnavailable) { // the disk is full, or the server stops
		return nil, queue.RetryAfter(importRetry, err)
	}
	return nil, err
}

// ImportContacts takes in the file of an import, from where it was, and calls report with
// how far it is, unless that is nil.
func (w *Workers) ImportContacts(ctx context.Context, account int64, id string, report func(storage.ContactImport)) error {
	m := &contactImport{Workers: w, batch: newBatchWriter(w.DB), report: report}
	var err error
	m.state, err = storage.Query(ctx, w.DB, func(rx *storage.Rx) (storage.ContactImport, error) { return rx.ContactImport(account, id) })
	if err != nil || m.state.Status != storage.ImportRunning {
		return err
	}

	file, err := w.Imports.Open(id)
	if errors.Is(err, os.ErrNotExist) {
		return m.fail(ctx, "The file is gone: backups do not include it. Import it again.")
	}
	if err != nil {
		return err
	}
	defer file.Close()

	if err := m.run(ctx, file); err != nil {
		return err
	}
	return w.Imports.Remove(id)
}

// contactImport is one run of an import.
type contactImport struct {
	*Workers
	batch  *batchWriter
	state  storage.ContactImport
	report func(storage.ContactImport)

	layout *contactsheet.Layout
	sender storage.Sender
	labels map[string]string // ids by their names, without regard to case
	// hasLabel is false where no label was named for all, and when that was deleted since:
	// it would be taken off again from those who have it.
	hasLabel bool
	// seen is what a dry run would have stored of people who are new: a hash of each
	// line by a hash of whom it is about.
	seen map[uint64]uint64
}

func (m *contactImport) run(ctx context.Context, file *os.File) (err error) {
	if m.layout, err = contactsheet.ReadLayout(file); err != nil {
		return m.fail(ctx, "The file "+err.Error()+".")
	}
	if m.state.DryRun { // what it has seen is only in memory: it begins anew
		m.seen = make(map[uint64]uint64)
		m.state = storage.ContactImport{
			ID: m.state.ID, AccountID: m.state.AccountID, Status: m.state.Status, DryRun: true, LabelID: m.state.LabelID,
			Line: 1, Errors: storage.JSON(`[]`),
		}
	}
	m.state.Offset = max(m.state.Offset, m.layout.First)
	if _, err := file.Seek(m.state.Offset, io.SeekStart); err != nil {
		return err
	}

	in := contactsheet.NewReader(file, m.layout.Comma, m.state.Offset)
	for m.state.Status == storage.ImportRunning {
		lines, err := m.read(in)
		if err != nil {
			return err
		}
		if err := m.loadAccount(ctx); err != nil {
			return err
		}
		if err := m.take(ctx, lines, in.Offset()); err != nil {
			return err
		}
		if m.report != nil {
			m.report(m.state)
		}
	}
	return nil
}

type importLine struct {
	number  int64
	row     contactsheet.Row
	sum     uint64 // of its cells
	problem *contactsheet.Problem
	isBlank bool
}

// read reads the next lines, fewer than asked for only at the end.
func (m *contactImport) read(in *contactsheet.Reader) (lines []importLine, err error) {
	want, began := m.batch.size, in.Offset()
	if m.state.DryRun {
		want = dryRunBatch
	}
	for number := m.state.Line + 1; len(lines) < want && in.Offset()-began < maxImportBytes; number++ {
		cells, err := in.Read()
		switch {
		case errors.Is(err, io.EOF):
			return lines, nil
		case errors.Is(err, contactsheet.ErrTooLong), errors.Is(err, contactsheet.ErrUnclosed):
			lines = append(lines, importLine{number: number, problem: &contactsheet.Problem{Message: "The line " + err.Error() + "."}})
			continue
		case err != nil:
			return nil, err
		}

		line := importLine{number: number, isBlank: contactsheet.IsBlank(cells), sum: hashTexts(cells...)}
		if !line.isBlank {
			line.row, line.problem = m.layout.Row(cells)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

var importSeed = maphash.MakeSeed()

func hashTexts(texts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(importSeed)
	for _, text := range texts {
		h.WriteString(text)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// loadAccount reads what may change while an import runs.
func (m *contactImport) loadAccount(ctx context.Context) error {
	return m.DB.View(ctx, func(rx *storage.Rx) (err error) {
		if m.sender, err = rx.Sender(m.state.AccountID); err != nil {
			return err
		}
		m.labels, err = rx.TeamLabels(m.sender.TeamID)
		m.hasLabel = m.state.LabelID != nil && slices.Contains(slices.Collect(maps.Values(m.labels)), *m.state.LabelID)
		return err
	})
}

// take stores lines and how far the import then is, in one step.
func (m *contactImport) take(ctx context.Context, lines []importLine, offset int64) error {
	var state storage.ContactImport
	change := func(rx *storage.Rx, tx *storage.Tx) error {
		state = m.state
		var problems []contactsheet.Problem
		if err := json.Unmarshal(state.Errors, &problems); err != nil {
			return err
		}
		for _, line := range lines {
			if err := m.takeLine(rx, tx, &state, &problems, line); err != nil {
				return err
			}
		}

		state.Offset = offset
		if len(lines) == 0 {
			state.Status = storage.ImportCompleted
		}
		text, err := json.Marshal(problems)
		state.Errors = text
		return err
	}

	if m.state.DryRun {
		if err := m.DB.View(ctx, func(rx *storage.Rx) error { return change(rx, nil) }); err != nil {
			return err
		}
		m.state = state
		return m.DB.Update(ctx, func(tx *storage.Tx) error { return tx.UpdateContactImport(state) })
	}

	err := m.batch.step(ctx, func(tx *storage.Tx) error {
		if err := change(&tx.Rx, tx); err != nil {
			return err
		}
		return tx.UpdateContactImport(state)
	})
	m.state = state
	return err
}

// takeLine stores one line, unless tx is nil, and counts it.
func (m *contactImport) takeLine(
	rx *storage.Rx, tx *storage.Tx, state *storage.ContactImport, problems *[]contactsheet.Problem, line importLine,
) error {
	state.Line = line.number
	if line.isBlank {
		return nil
	}

	state.Lines++
	problem, err := line.problem, error(nil)
	if problem == nil {
		problem, err = m.store(rx, tx, state, line)
	}
	if problem != nil {
		state.Failed++
		if len(*problems) < maxImportErrors {
			*problems = append(*problems, contactsheet.Problem{Line: line.number, Param: problem.Param, Message: problem.Message})
		}
	}
	return err
}

// store stores what a line says of a contact, and counts what became of it.
func (m *contactImport) store(
	rx *storage.Rx, tx *storage.Tx, state *storage.ContactImport, line importLine,
) (*contactsheet.Problem, error) {
	labels, problem := m.labelsOf(line.row)
	if problem != nil {
		return problem, nil
	}
	c, known, problem, err := m.find(rx, line.row)
	if err != nil || problem != nil {
		return problem, err
	}

	before := c
	if problem := apply(&c, line.row); problem != nil {
		return problem, nil
	}
	missing, err := missingLabels(rx, c, known, labels)
	if err != nil {
		return nil, err
	}

	switch {
	case known && len(missing) == 0 && isUnchanged(before, c):
		state.Unchanged++
	case known:
		state.Updated++
		if tx != nil {
			err = m.update(tx, before, c, missing)
		}
	case tx == nil:
		*m.rehearse(state, line)++
	default:
		state.Created++
		err = m.insert(tx, c, missing)
	}
	return nil, err
}

// rehearse finds the count of what would happen to a line whose contact is not stored.
func (m *contactImport) rehearse(state *storage.ContactImport, line importLine) *int64 {
	count := &state.Created
	for _, id := range []*string{line.row.PhoneNumber, line.row.BSUID} {
		if id == nil {
			continue
		}
		key := hashTexts(*id)
		if sum, ok := m.seen[key]; ok && count == &state.Created {
			count = &state.Updated
			if sum == line.sum {
				count = &state.Unchanged
			}
		}
		m.seen[key] = line.sum
	}
	return count
}

func (m *contactImport) insert(tx *storage.Tx, c storage.Contact, labels []string) error {
	if err := tx.InsertContact(&c); err != nil {
		return err
	}
	for _, label := range labels {
		if _, err := tx.SetContactLabel(c.ID, label, true); err != nil {
			return err
		}
	}
	s := messaging.SubjectOf(m.sender.Account)
	if err := event.ContactCreated(s, c).Emit(tx); err != nil || !c.MarketingOptedOut {
		return err
	}
	return event.ContactConsentChanged(s, c, event.ConsentByImport, nil).Emit(tx)
}

func (m *contactImport) update(tx *storage.Tx, before, c storage.Contact, labels []string) error {
	s := messaging.SubjectOf(m.sender.Account)
	if !isUnchanged(before, c) {
		if err := tx.UpdateContact(&c); err != nil {
			return err
		}
		if err := messaging.EmitConsent(tx, s, before, c, event.ConsentByImport, nil); err != nil {
			return err
		}
	}

	for _, label := range labels {
		if _, err := tx.SetContactLabel(c.ID, label, true); err != nil {
			return err
		}
	}
	reported := messaging.ChangedFields(before, c, false)
	if len(labels) > 0 {
		reported = append(reported, "labels")
	}
	if len(reported) == 0 {
		return nil
	}
	c.UpdatedAt = tx.Order
	return event.ContactUpdated(s, c, reported).Emit(tx)
}

// fail ends an import that cannot go on.
func (m *contactImport) fail(ctx context.Context, why string) error {
	return m.DB.Update(ctx, func(tx *storage.Tx) error { return failImport(tx, m.state, 1, why) })
}

func failImport(tx *storage.Tx, state storage.ContactImport, line int64, why string) error {
	problems, err := json.Marshal([]contactsheet.Problem{{Line: line, Param: "file", Message: why}})
	if err != nil {
		return err
	}
	state.Status, state.Errors = storage.ImportFailed, problems
	return tx.UpdateContactImport(state)
}

// giveUpImport ends an import whose job failed for good, or was cancelled by a person: without it
// nothing would go on, and clients that wait for it must learn of that.
func giveUpImport(tx *storage.Tx, args contactImportArgs, _ error) error {
	state, err := tx.ContactImport(args.Account, args.Import)
	if err != nil || state.Status != storage.ImportRunning {
		return storage.IgnoreNotFound(err)
	}

	const why = "The import stopped. What was imported stays; import the file again to continue."
	return failImport(tx, state, state.Line, why)
}
