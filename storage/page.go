package storage

import (
	"errors"
	"math"
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

// listing is a list that filters narrow: by what an index finds, and by what has
// to be looked at row by row.
type listing struct {
	columns string
	table   string
	index   string // to be used: between the bounds of a stretch the planner takes one for as good as the other
	joins   string
	key, id string // the columns of its order, descending, which end the index
	where   []string
	args    []any
	rest    []string // row by row
	values  []any    // of rest
	end     After    // where it ends; the zero value is Last
}

// by adds a condition that the index answers, if its value is given.
func (l *listing) by(condition string, given bool, value any) {
	if given {
		l.where, l.args = append(l.where, condition), append(l.args, value)
	}
}

// some chooses an index that holds only some of the rows, by its own condition.
func (l *listing) some(index, condition string) {
	l.index, l.where = index, append(l.where, condition)
}

// only adds a condition on each row, if its value is given.
func (l *listing) only(condition string, given bool, values ...any) {
	if given {
		l.rest, l.values = append(l.rest, condition), append(l.values, values...)
	}
}

const (
	// A list that is narrowed row by row is looked at in stretches, short ones
	// first, until it has its page or its time is up.
	firstStretch, longestStretch = 256, 8192
	walkTime                     = time.Second
)

// find lists up to limit rows behind after. It also tells how far it came: to
// Last, unless the page was full or its time was up before.
func find[T any](rx *Rx, l listing, after After, limit int) ([]T, After, error) {
	if len(l.rest) == 0 {
		page, err := stretch[T](rx, l, after, l.end, limit)
		return page, Last, err
	}
	page := make([]T, 0, limit)
	began := time.Now()
	for n := firstStretch; ; n = min(2*n, longestStretch) {
		until, err := l.mark(rx, after, n)
		if err != nil {
			return nil, Last, err
		}
		rows, err := stretch[T](rx, l, after, until, limit-len(page))
		page = append(page, rows...)
		switch {
		case err != nil || until == l.end:
			return page, Last, err
		case len(page) == limit || time.Since(began) >= rx.db.walkTime:
			return page, until, nil
		}
		after = until
	}
}

// mark is the key of the nth row behind after, whatever rest says of it, or the
// end if there are not so many.
func (l *listing) mark(rx *Rx, after After, n int) (After, error) {
	var row struct {
		Key Time   `db:"key"`
		ID  string `db:"id"`
	}
	where, args := l.within(after, l.end)
	err := rx.get(&row, `
		SELECT `+l.key+` AS key, `+l.id+` AS id
		FROM `+l.table+` INDEXED BY `+l.index+`
		WHERE `+strings.Join(where, " AND ")+`
		ORDER BY `+l.key+` DESC, `+l.id+` DESC
		LIMIT 1 OFFSET ?`, append(args, n-1)...)
	if errors.Is(err, ErrNotFound) {
		return l.end, nil
	}
	return After{row.Key, row.ID}, err
}

// stretch lists up to limit rows behind after, down to the row until and with it.
func stretch[T any](rx *Rx, l listing, after, until After, limit int) ([]T, error) {
	where, args := l.within(after, until)
	where, args = append(where, l.rest...), append(append(args, l.values...), limit)
	return rows[T](rx, `
		SELECT `+l.columns+`
		FROM `+l.table+` INDEXED BY `+l.index+` `+l.joins+`
		WHERE `+strings.Join(where, " AND ")+`
		ORDER BY `+l.key+` DESC, `+l.id+` DESC
		LIMIT ?`, args...)
}

// fielded is a row that tells where its columns go: one of many that are read.
type fielded interface{ fields() []any }

// rows reads all rows of a query.
func rows[T any](rx *Rx, query string, args ...any) (all []T, err error) {
	if _, ok := any(new(T)).(fielded); ok {
		return scanned(rx, func(row *T) []any { return any(row).(fielded).fields() }, query, args...)
	}
	err = rx.list(&all, query, args...)
	return all, err
}

// within are the conditions that the index answers, with the bounds of a stretch.
func (l *listing) within(after, until After) (where []string, args []any) {
	order := `(` + l.key + `, ` + l.id + `)`
	where = append(append(where, l.where...), order+` < (?, ?)`, order+` >= (?, ?)`)
	args = append(append(args, l.args...), after.Key, after.ID, until.Key, until.ID)
	return where, args
}
