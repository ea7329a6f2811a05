package storage

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
)

// After is where a page begins: behind the row with this sort key and id, in
// descending order of both.
type After struct {
	Key Time
	ID  string
}

// First is the key before the first page: greater than any row's. A page query
// compares against it, because an OR for "no key yet" would cost the index seek.
var First = After{Key: math.MaxInt64, ID: "~"}

// Last is the key behind the last page: less than any row's. A list that came to
// it is at its end.
var Last = After{}

// listQuery is the query of a list that filters narrow. There are two sorts of
// conditions:
//
//   - where: an index answers them, so that no row is read in vain. The index is
//     named, because between the bounds of a range the planner takes one for as
//     good as another.
//   - filters: they are held against row after row. Such a list may pass over
//     millions of rows to find a few, so it is a walk: it is read range by range,
//     pauses in between, and ends early when its time is up (see findPage).
type listQuery struct {
	columns    string
	table      string
	index      string
	joins      string
	key, id    string // the columns of its order, descending, which end the index; key is "" for a list in the order of ids
	where      []string
	args       []any // of where
	filters    []string
	filterArgs []any
	end        After         // where it ends; the zero value is Last
	scanTime   time.Duration // how long a page is looked for; 0: as long as in any list
	// fields are where the columns go of a row, which is given as a pointer; nil: into all
	// that the row hasFields, or where the names of the columns say.
	fields func(row any) []any
}

// byIndex adds a condition that the index answers, if its value is given.
func (q *listQuery) byIndex(condition string, given bool, values ...any) {
	if given {
		q.where, q.args = append(q.where, condition), append(q.args, values...)
	}
}

// partialIndex chooses an index that holds only some of the rows, by its own
// condition.
func (q *listQuery) partialIndex(index, condition string) {
	q.index, q.where = index, append(q.where, condition)
}

// filter adds a condition on each row, if its value is given.
func (q *listQuery) filter(condition string, given bool, values ...any) {
	if given {
		q.filters, q.filterArgs = append(q.filters, condition), append(q.filterArgs, values...)
	}
}

const (
	// How many rows are looked at in a range of a list with filters: the first
	// range is short, each further one twice as long as the one before.
	firstRange, longestRange = 256, 8192
	// idRange is how many rows are in a range of integer keys. They are looked at
	// with their texts, which takes longer.
	idRange = 1024
	// scanTime is how long a list with filters looks for its page.
	scanTime = time.Second
	// briefScanTime is the same for lists that a person looks through, and that go on by
	// themselves: each page comes soon, and tells how far it came.
	briefScanTime = 100 * time.Millisecond
)

// findPage lists up to limit rows behind after, or as many as the budget allows. It
// also tells how far it came: to Last, unless the page was full or its time was up
// before. Of a page that the budget cut, the next one begins behind its last row.
func findPage[T any](rx *Rx, q listQuery, after After, limit int) ([]T, After, error) {
	if len(q.filters) == 0 {
		page, err := readRange[T](rx, q, after, q.end, limit)
		return page, Last, err
	}

	page := make([]T, 0, min(limit, firstRange))
	began, patience := time.Now(), min(cmp.Or(q.scanTime, rx.db.scanTime), rx.db.scanTime)
	for n := firstRange; ; n = min(2*n, longestRange) {
		until, err := q.boundary(rx, after, n)
		if err != nil {
			return nil, Last, err
		}
		rows, err := readRange[T](rx, q, after, until, limit-len(page))
		page = append(page, rows...)

		switch {
		case err != nil || until == q.end || rx.budget.Cut():
			return page, Last, err
		case len(page) == limit || time.Since(began) >= patience:
			return page, until, nil
		}

		if err := rx.pause(); err != nil {
			return nil, Last, err
		}
		after = until
	}
}

// findMerged is findPage for a list that is put together of several, none of which has a
// row of another; key is where a row stands in them. The page is complete only as far as
// all of them came.
func findMerged[T any](rx *Rx, lists []listQuery, key func(T) After, after After, limit int) (page []T, reached After, err error) {
	if len(lists) == 1 {
		return findPage[T](rx, lists[0], after, limit)
	}
	page = []T{} // JSON writes nil as null

	for _, q := range lists {
		var until After
		if page, until, err = mergePage(rx, page, q, key, after, limit); err != nil {
			return nil, Last, err
		}
		reached = higher(reached, until)
	}

	behind := func(row T) bool { return higher(reached, key(row)) != key(row) }
	if end := slices.IndexFunc(page, behind); end >= 0 {
		page = page[:end]
	}
	return page, reached, nil
}

// mergePage puts another list into a page, of which no more than limit rows stay, so
// that many lists take no more memory than one. It tells how far that list is in the
// page: to Last, unless its time was up before. The rows are small, so no budget cuts the
// list: it would leave holes in the page.
func mergePage[T any](rx *Rx, page []T, q listQuery, key func(T) After, after After, limit int) ([]T, After, error) {
	// Nothing is read that would be behind a page that is full.
	if len(page) == limit {
		q.end = higher(q.end, key(page[limit-1]))
	}

	rows, until, err := findPage[T](rx.Within(nil), q, after, limit)
	if err != nil {
		return nil, Last, err
	}
	if len(rows) == limit {
		until = Last // what is behind them is behind the page
	}
	return mergeRows(page, rows, key, limit), until, nil
}

// higher is that of two places which comes first in a list.
func higher(a, b After) After {
	if a.Key > b.Key || a.Key == b.Key && a.ID > b.ID {
		return a
	}
	return b
}

// mergeRows puts the rows of another list into a page, of which no more than limit stay. A
// row may have come from one list to the other while they were read, and is in it once.
func mergeRows[T any](page, rows []T, key func(T) After, limit int) []T {
	page = append(page, rows...)
	slices.SortFunc(page, func(a, b T) int {
		return cmp.Or(cmp.Compare(key(b).Key, key(a).Key), cmp.Compare(key(b).ID, key(a).ID))
	})
	page = slices.CompactFunc(page, func(a, b T) bool { return key(a) == key(b) })
	return page[:min(len(page), limit)]
}

// countRows counts all rows that the filters leave, range by range.
func countRows(rx *Rx, q listQuery) (total int, err error) {
	after := First
	for n := firstRange; ; n = min(2*n, longestRange) {
		until, err := q.boundary(rx, after, n)
		if err != nil {
			return 0, err
		}
		some, err := q.countRange(rx, after, until)
		total += some
		if err != nil || until == q.end {
			return total, err
		}

		if err := rx.pause(); err != nil {
			return 0, err
		}
		after = until
	}
}

// boundary is the key of the nth row behind after, whatever the filters say of
// it, or the end if there are not so many.
func (q *listQuery) boundary(rx *Rx, after After, n int) (After, error) {
	var row struct {
		Key Time   `db:"key"`
		ID  string `db:"id"`
	}

	key := q.key
	if key == "" {
		key = "0"
	}

	where, args := q.within(after, q.end)
	err := rx.get(&row, `
		SELECT `+key+` AS key, `+q.id+` AS id
		FROM `+q.table+` INDEXED BY `+q.index+`
		WHERE `+strings.Join(where, " AND ")+`
		ORDER BY `+q.order()+`
		LIMIT 1 OFFSET ?`, append(args, n-1)...)
	if errors.Is(err, ErrNotFound) {
		return q.end, nil
	}
	return After{row.Key, row.ID}, err
}

// readRange lists up to limit rows behind after, down to the row until and with
// it.
func readRange[T any](rx *Rx, q listQuery, after, until After, limit int) ([]T, error) {
	where, args := q.within(after, until)
	where, args = append(where, q.filters...), append(append(args, q.filterArgs...), limit)

	row := new(T)
	columns, fields := q.columns, q.fieldsOf(row)
	if fields != nil {
		columns = packed(columns)
	}

	query := `
		SELECT ` + columns + `
		FROM ` + q.table + ` INDEXED BY ` + q.index + ` ` + q.joins + `
		WHERE ` + strings.Join(where, " AND ") + `
		ORDER BY ` + q.order() + `
		LIMIT ?`
	if fields != nil {
		return listPacked(rx, row, fields, limit, query, args...)
	}
	return readRows[T](rx, query, args...)
}

// fieldsOf are where the columns of a row go, if the rows of the list are read packed.
func (q *listQuery) fieldsOf(row any) []any {
	if q.fields != nil {
		return q.fields(row)
	}
	if r, ok := row.(hasFields); ok {
		return r.fields()
	}
	return nil
}

// countRange counts the rows behind after, down to the row until and with it, that the
// filters leave.
func (q *listQuery) countRange(rx *Rx, after, until After) (n int, err error) {
	where, args := q.within(after, until)
	where, args = append(where, q.filters...), append(args, q.filterArgs...)
	err = rx.get(&n, `
		SELECT count(*)
		FROM `+q.table+` INDEXED BY `+q.index+` `+q.joins+`
		WHERE `+strings.Join(where, " AND "), args...)
	return n, err
}

// idRanges walks over the rows of a table in the order of their integer keys, behind
// one of them: it hands range after range to fn, from behind one key to another and
// with that, until fn has enough.
func (rx *Rx) idRanges(table string, after int64, fn func(after, until int64) (enough bool, err error)) error {
	for {
		var until int64
		err := rx.get(&until, `SELECT id FROM `+table+` WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?`, after, idRange-1)
		atEnd := errors.Is(err, ErrNotFound)
		if atEnd {
			until, err = math.MaxInt64, nil
		}
		if err != nil {
			return err
		}

		enough, err := fn(after, until)
		if err != nil || enough || atEnd {
			return err
		}
		if err := rx.pause(); err != nil {
			return err
		}
		after = until
	}
}

// findIDs walks over the rows of a table in the order of their integer keys, behind one
// of them, and lists up to limit for which a condition holds. Its arguments are ?4 and
// those after it.
func (rx *Rx) findIDs(table string, after int64, limit int, condition string, args ...any) (ids []int64, err error) {
	query := `
		SELECT id FROM ` + table + `
		WHERE id > ?1 AND id <= ?2 AND (` + condition + `)
		ORDER BY id
		LIMIT ?3`
	err = rx.idRanges(table, after, func(after, until int64) (bool, error) {
		var some []int64
		err := rx.list(&some, query, append([]any{after, until, limit - len(ids)}, args...)...)
		ids = append(ids, some...)
		return len(ids) >= limit, err
	})
	return ids, err
}

// readRows reads all rows of a query, or as many as the budget allows.
func readRows[T any](rx *Rx, query string, args ...any) (all []T, err error) {
	if rx.budget != nil {
		return scanStructs[T](rx, query, args...)
	}

	all = []T{} // JSON writes nil as null
	err = rx.list(&all, query, args...)
	return all, err
}

// within are the conditions that the index answers, with the bounds of a range.
func (q *listQuery) within(after, until After) (where []string, args []any) {
	where, args = append(where, q.where...), append(args, q.args...)
	if q.key == "" {
		return append(where, q.id+` < ?`, q.id+` >= ?`), append(args, after.ID, until.ID)
	}

	order := `(` + q.key + `, ` + q.id + `)`
	return append(where, order+` < (?, ?)`, order+` >= (?, ?)`), append(args, after.Key, after.ID, until.Key, until.ID)
}

// order is the order of the list.
func (q *listQuery) order() string {
	if q.key == "" {
		return q.id + ` DESC`
	}
	return q.key + ` DESC, ` + q.id + ` DESC`
}
