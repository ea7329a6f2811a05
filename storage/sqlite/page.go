package sqlite

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
)

// After is where a page begins: after a row with this key and id, both descending.
type After struct {
	Key Time
	ID  string
}

// First is the key before the first page: greater than any row's. A page query
// compares against it, because an OR for "no key yet" would cost the index seek.
var First = After{Key: math.MaxInt64, ID: "~"}

// Last is the key after the last page, less than any row's: a list that came to it is at its end.
var Last = After{}

// Before is the key, or one of a time before it, with an empty id: no id is less. 0 is no time.
func (a After) Before(t Time) After {
	if t != 0 && t <= a.Key {
		return After{Key: t}
	}
	return a
}

// ListQuery is the query of a list that filters narrow. There are two sorts of
// conditions:
//
//   - where: an index answers them, so that no row is read in vain. The index is
//     named, because between the bounds of a range the planner takes one for as
//     good as another.
//   - filters: they are held against row after row. Such a list may pass over
//     millions of rows to find a few, so it is a walk: it is read range by range,
//     pauses in between, and ends early when its time is up (see FindPage).
type ListQuery struct {
	Columns    string
	Table      string
	Index      string
	Joins      string
	Key, ID    string // the columns of its order, descending, which end the index; key is "" for a list in the order of ids
	Where      []string
	Args       []any // of where
	Filters    []string
	FilterArgs []any
	End        After         // where it ends; the zero value is Last
	ScanTime   time.Duration // how long a page is looked for; 0: as long as in any list
}

// Since ends the list at a time, after every id of that instant; 0 is no time.
func (q *ListQuery) Since(t Time) {
	if t != 0 {
		q.End = After{Key: t, ID: First.ID}
	}
}

// ByIndex adds a condition that the index answers, if its value is given.
func (q *ListQuery) ByIndex(condition string, given bool, values ...any) {
	if given {
		q.Where, q.Args = append(q.Where, condition), append(q.Args, values...)
	}
}

// PartialIndex chooses an index that holds only some of the rows, by its condition.
func (q *ListQuery) PartialIndex(index, condition string) {
	q.Index, q.Where = index, append(q.Where, condition)
}

// Filter adds a condition on each row, if its value is given.
func (q *ListQuery) Filter(condition string, given bool, values ...any) {
	if given {
		q.Filters, q.FilterArgs = append(q.Filters, condition), append(q.FilterArgs, values...)
	}
}

const (
	// How many rows are looked at in a range of a list with filters: the first
	// range is short, each further one twice as long as the one before.
	FirstRange, LongestRange = 256, 8192
	// IDRange is how many rows are in a range of integer keys. They are looked at
	// with their texts, which takes longer.
	IDRange = 1024
	// scanTime is how long a list with filters looks for its page.
	scanTime = time.Second
	// BriefScanTime is the same for lists that a person looks through, and that go on by
	// themselves: each page comes soon, and says how far it came.
	BriefScanTime = 100 * time.Millisecond
)

// FindPage lists up to limit rows after a key, or as many as the budget allows. It
// also says how far it came: to Last, unless the page was full or its time was up
// before. Of a page that the budget cut, the next one begins after its last row.
func FindPage[T any](rx *Rx, q ListQuery, after After, limit int) ([]T, After, error) {
	if len(q.Filters) == 0 {
		page, err := ReadRange[T](rx, q, after, q.End, limit)
		return page, Last, err
	}

	page, reached := make([]T, 0, min(limit, FirstRange)), Last
	began, patience := time.Now(), min(cmp.Or(q.ScanTime, rx.db.scanTime), rx.db.scanTime)
	err := q.EachRange(rx, after, func(after, until After) (enough bool, err error) {
		rows, err := ReadRange[T](rx, q, after, until, limit-len(page))
		page = append(page, rows...)
		enough = len(page) == limit || time.Since(began) >= patience
		if enough && until != q.End && !rx.budget.Cut() {
			reached = until
		}
		return enough || rx.budget.Cut(), err
	})
	return page, reached, err
}

// FindMerged is FindPage for a list that is put together of several, with a position for each row. The page is
// complete only as far as all of them came.
func FindMerged[T any](rx *Rx, lists []ListQuery, key func(T) After, after After, limit int) (page []T, reached After, err error) {
	if len(lists) == 1 {
		return FindPage[T](rx, lists[0], after, limit)
	}
	page = []T{} // JSON writes nil as null

	for _, q := range lists {
		var until After
		if page, until, err = MergePage(rx, page, q, key, after, limit); err != nil {
			return nil, Last, err
		}
		reached = Higher(reached, until)
	}
	return UpTo(page, reached, key), reached, nil
}

// UpTo is the part of a page that lists came to.
func UpTo[T any](page []T, reached After, key func(T) After) []T {
	if end := slices.IndexFunc(page, func(row T) bool { return Higher(reached, key(row)) != key(row) }); end >= 0 {
		return page[:end]
	}
	return page
}

// MergePage puts another list into a page, of which no more than limit rows stay, so
// that many lists take no more memory than one. It says how far that list is in the
// page: to Last, unless its time was up before. The rows are small, so no budget cuts the
// list: it would leave holes in the page.
func MergePage[T any](rx *Rx, page []T, q ListQuery, key func(T) After, after After, limit int) ([]T, After, error) {
	// Nothing is read that would be after a page that is full.
	if len(page) == limit {
		q.End = Higher(q.End, key(page[limit-1]))
	}

	rows, until, err := FindPage[T](rx.Within(nil), q, after, limit)
	if err != nil {
		return nil, Last, err
	}
	if len(rows) == limit {
		until = Last // rows after them are after the page
	}
	return MergeRows(page, rows, key, limit), until, nil
}

// Higher is that of two places which comes first in a list.
func Higher(a, b After) After {
	if a.Key > b.Key || a.Key == b.Key && a.ID > b.ID {
		return a
	}
	return b
}

// MergeRows puts the rows of another list into a page, of which no more than limit stay. A
// row may have come from one list to the other while they were read, and is in it once.
func MergeRows[T any](page, rows []T, key func(T) After, limit int) []T {
	page = append(page, rows...)
	slices.SortFunc(page, func(a, b T) int {
		return cmp.Or(cmp.Compare(key(b).Key, key(a).Key), cmp.Compare(key(b).ID, key(a).ID))
	})
	page = slices.CompactFunc(page, func(a, b T) bool { return key(a) == key(b) })
	return page[:min(len(page), limit)]
}

// CountRows counts all rows that the filters leave, range by range.
func CountRows(rx *Rx, q ListQuery) (total int, err error) {
	err = q.EachRange(rx, First, func(after, until After) (enough bool, err error) {
		var some int
		where, args := q.within(after, until)
		where, args = append(where, q.Filters...), append(args, q.FilterArgs...)
		err = rx.Get(&some, `
			SELECT count(*)
			FROM `+q.Table+` INDEXED BY `+q.Index+` `+q.Joins+`
			WHERE `+strings.Join(where, " AND "), args...)
		total += some
		return false, err
	})
	return total, err
}

// EachRange walks over a list regardless of the filters, from after a key on: it hands range after range to
// fn, each after one key down to another and with that, until fn has enough.
func (q *ListQuery) EachRange(rx *Rx, after After, fn func(after, until After) (enough bool, err error)) error {
	for n := FirstRange; ; n = min(2*n, LongestRange) {
		until, err := q.Boundary(rx, after, n)
		if err != nil {
			return err
		}
		enough, err := fn(after, until)
		if err != nil || enough || until == q.End {
			return err
		}
		if err := rx.Pause(); err != nil {
			return err
		}
		after = until
	}
}

// Boundary is the key of the nth row after a key, before filters, or the end if there are fewer.
func (q *ListQuery) Boundary(rx *Rx, after After, n int) (row After, err error) {
	where, args := q.within(after, q.End)
	err = rx.Scan([]any{&row.Key, &row.ID}, `
		SELECT `+cmp.Or(q.Key, "0")+`, `+q.ID+`
		FROM `+q.Table+` INDEXED BY `+q.Index+`
		WHERE `+strings.Join(where, " AND ")+`
		ORDER BY `+q.order()+`
		LIMIT 1 OFFSET ?`, append(args, n-1)...)
	if errors.Is(err, ErrNotFound) {
		return q.End, nil
	}
	return row, err
}

// ReadRange lists up to limit rows after a key, down to another and with that.
func ReadRange[T any](rx *Rx, q ListQuery, after, until After, limit int) ([]T, error) {
	where, args := q.within(after, until)
	where, args = append(where, q.Filters...), append(append(args, q.FilterArgs...), limit)

	row, columns := new(T), q.Columns
	packed, isPacked := any(row).(hasFields)
	if isPacked {
		columns = Packed(columns)
	}

	query := `
		SELECT ` + columns + `
		FROM ` + q.Table + ` INDEXED BY ` + q.Index + ` ` + q.Joins + `
		WHERE ` + strings.Join(where, " AND ") + `
		ORDER BY ` + q.order() + `
		LIMIT ?`
	if isPacked {
		return ListPacked(rx, row, packed.Fields(), limit, query, args...)
	}
	return ReadRows[T](rx, query, args...)
}

// IDRanges walks over a table in the order of its integer keys: it hands range after range to fn, from after
// one key to another and with that, until fn has enough.
func (rx *Rx) IDRanges(table string, after int64, fn func(after, until int64) (enough bool, err error)) error {
	for {
		var until int64
		err := rx.Get(&until, `SELECT id FROM `+table+` WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?`, after, IDRange-1)
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
		if err := rx.Pause(); err != nil {
			return err
		}
		after = until
	}
}

// FindIDs walks over a table in the order of its integer keys, and lists up to limit for which a condition
// holds. Its arguments are ?4 and those after it.
func (rx *Rx) FindIDs(table string, after int64, limit int, condition string, args ...any) (ids []int64, err error) {
	query := `
		SELECT id FROM ` + table + `
		WHERE id > ?1 AND id <= ?2 AND (` + condition + `)
		ORDER BY id
		LIMIT ?3`
	err = rx.IDRanges(table, after, func(after, until int64) (bool, error) {
		var some []int64
		err := rx.List(&some, query, append([]any{after, until, limit - len(ids)}, args...)...)
		ids = append(ids, some...)
		return len(ids) >= limit, err
	})
	return ids, err
}

// within are the conditions that the index answers, with the bounds of a range.
func (q *ListQuery) within(after, until After) (where []string, args []any) {
	where, args = append(where, q.Where...), append(args, q.Args...)
	if q.Key == "" {
		return append(where, q.ID+` < ?`, q.ID+` >= ?`), append(args, after.ID, until.ID)
	}

	order := `(` + q.Key + `, ` + q.ID + `)`
	return append(where, order+` < (?, ?)`, order+` >= (?, ?)`), append(args, after.Key, after.ID, until.Key, until.ID)
}

func (q *ListQuery) order() string {
	if q.Key == "" {
		return q.ID + ` DESC`
	}
	return q.Key + ` DESC, ` + q.ID + ` DESC`
}
