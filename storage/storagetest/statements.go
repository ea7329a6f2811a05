package storagetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"confab/storage"
)

// Statements runs fn and lists what the writer does meanwhile, transaction by
// transaction: the verb and the table of each statement, with how many trees it may
// write to, the table's own and those of its indexes. It is how tests hold the busiest
// transactions to their budget: time depends on the machine, this does not.
func Statements(t testing.TB, db *storage.DB, dir string, fn func()) (transactions [][]string) {
	t.Helper()
	var (
		mu      sync.Mutex
		current []string
		all     [][]string
	)
	observe := func(query string) {
		mu.Lock()
		defer mu.Unlock()
		switch text := strings.Join(strings.Fields(query), " "); {
		case strings.HasPrefix(text, "BEGIN"):
			current = nil
		case text == "COMMIT":
			all = append(all, current)
		case !strings.HasPrefix(text, "PRAGMA"):
			current = append(current, query)
		}
	}

	if err := db.ObserveStatements(context.Background(), observe); err != nil {
		t.Fatal(err)
	}
	fn()
	if err := db.ObserveStatements(context.Background(), nil); err != nil {
		t.Fatal(err)
	}

	for _, queries := range all {
		var described []string
		for _, query := range queries {
			described = append(described, describeStatement(t, dir, query))
		}
		if len(described) > 0 {
			transactions = append(transactions, described)
		}
	}
	return transactions
}

// describeStatement is a statement in short, such as "INSERT messages 8".
func describeStatement(t testing.TB, dir, query string) string {
	t.Helper()
	words := strings.Fields(query)
	table := words[1]
	switch words[0] {
	case "INSERT", "DELETE":
		table = words[2]
		if words[1] == "OR" {
			table = words[4]
		}
	case "SELECT":
		for i, word := range words {
			if word == "FROM" {
				table = words[i+1]
				break
			}
		}
	}

	trees := writtenTrees(t, dir, query)
	if trees == 0 {
		return words[0] + " " + table
	}
	return fmt.Sprintf("%s %s %d", words[0], table, trees)
}

// writtenTrees counts the trees that a statement opens to write to them.
func writtenTrees(t testing.TB, dir, query string) int {
	t.Helper()
	type step struct {
		Addr, P1, P2, P3, P5 int
		Opcode               string
		P4, Comment          any
	}

	roots := make(map[string]bool)
	for _, s := range Select[step](t, dir, "EXPLAIN "+query, make([]any, strings.Count(query, "?"))...) {
		if s.Opcode == "OpenWrite" {
			roots[fmt.Sprint(s.P3, ":", s.P2)] = true
		}
	}
	return len(roots)
}
