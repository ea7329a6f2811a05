package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

const (
	searchedMessages = 1_000_000
	searchedTenants  = 100
	searchVocabulary = 20_000
	searchesOfAKind  = 200
)

// searched is a database full of messages in words that are as frequent as in a language.
type searched struct {
	*scratch
	random   *rand.Rand
	words    []string
	zipf     *rand.Zipf
	accounts []storage.Message // the thread of each, to which messages are added
}

// search measures searches among many messages of many tenants: for a word of every
// message, for a letter, for words as they come, and for one that is in none.
func (b *bench) search(ctx context.Context, o *installation) {
	s := &searched{scratch: b.newScratch(), random: rand.New(rand.NewPCG(1, 2))}
	defer s.remove()

	s.makeWords()
	messages := min(searchedMessages, max(b.messages, fewMessages))
	if b.quick {
		messages = min(messages, searchedMessages/50)
	}
	s.fill(ctx, messages)

	took, size := s.index(ctx)
	b.table.add(row{
		what:   fmt.Sprintf("search index of %d messages", messages),
		figure: fmt.Sprintf("%.0f µs a message", float64(took.Microseconds())/float64(messages)),
		detail: fmt.Sprintf("%.0f MB; half of the time is left to others", megabytes(size)),
	})
	s.measure(ctx, b, messages)
	b.measureIndexing(ctx, o)
}

// measureIndexing compares sends to a server that keeps the index with sends to one that
// cannot make one, because a directory has the name of its file.
func (b *bench) measureIndexing(ctx context.Context, o *installation) {
	plain := b.startSibling(ctx, o, fewMessages, func(s *server) {
		rig.Check(os.MkdirAll(filepath.Join(s.Dir, storage.SearchFile, "in the way"), 0o700))
	})
	defer plain.close()

	indexed, without := b.newDueSends(o.server), b.newDueSends(plain)
	without.name = "that without an index"
	b.measureAll(ctx, indexed, without)
	b.table.addRatio(indexed, without, 0.95, row{id: "P20", what: "POST message accepted, 64 connections, while it is indexed"})
}

func (s *searched) makeWords() {
	s.zipf = rand.NewZipf(s.random, 1.2, 3, searchVocabulary-1)
	for range searchVocabulary {
		word := make([]byte, 3+s.random.IntN(8))
		for i := range word {
			word[i] = byte('a' + s.random.IntN(26))
		}
		s.words = append(s.words, string(word))
	}
}

func (s *searched) word() string { return s.words[s.zipf.Uint64()] }

func (s *searched) fill(ctx context.Context, messages int) {
	insertMany(ctx, s.DB, searchedTenants, searchedTenants, func(tx *storage.Tx, i int) error {
		number := fmt.Sprint(106540352242922 + i)
		a := storage.Account{OrganizationID: s.org.ID, TeamID: s.team.ID, PhoneNumberID: &number, Status: storage.AccountConnected}
		if err := tx.InsertAccount(&a, "token"); err != nil {
			return err
		}
		m, err := newThread(tx, a.ID, "+15551234567")
		s.accounts = append(s.accounts, m)
		return err
	})

	insertMany(ctx, s.DB, messages, 1000, func(tx *storage.Tx, _ int) error {
		m := s.accounts[s.random.IntN(searchedTenants)]
		text := "the"
		for range 9 + s.random.IntN(5) {
			text += " " + s.word()
		}
		m.Body = &text
		return tx.InsertMessage(&m)
	})
}

// index makes the index, and returns how long that took and how large it is.
func (s *searched) index(ctx context.Context) (took time.Duration, size int64) {
	path := filepath.Join(s.dir, storage.SearchFile)
	failed := make(chan error, 1)
	x := storage.NewSearchIndex(s.DB, path, func(err error) { failed <- err })
	go func() { _ = x.Run(ctx) }() // it ends with the process

	began := time.Now()
	poll(ctx, 10*time.Millisecond, func() bool {
		select {
		case err := <-failed:
			rig.Check(err)
		default:
		}
		return x.IsComplete()
	})
	return time.Since(began), rig.Must(os.Stat(path)).Size()
}

func (s *searched) measure(ctx context.Context, b *bench, messages int) {
	for _, kind := range []struct {
		what  string
		query func() string
	}{
		{"a word of every message", func() string { return "the" }},
		{"a letter", func() string { return string(rune('a' + s.random.IntN(26))) }},
		{"two words as they come", func() string { return s.word() + " " + s.word() }},
		{"a phrase", func() string { return `"the ` + s.word() + `"` }},
		{"a word that is in none", func() string { return strings.Repeat("q", 16) }},
	} {
		var took []time.Duration
		for range searchesOfAKind {
			account, f := s.accounts[s.random.IntN(searchedTenants)].AccountID, storage.MessageFilter{Search: kind.query()}
			began := time.Now()
			rig.Check(s.List(ctx, s.org.ID, func(rx *storage.Rx) error {
				_, _, err := rx.Messages(account, f, storage.First, 26)
				return err
			}))
			took = append(took, time.Since(began))
		}

		b.table.addLimited(ms(rig.Percentile(took, 99)), 100, " ms", row{
			id:     "P20",
			what:   fmt.Sprintf("search %d messages of %d tenants for %s, p99", messages, searchedTenants, kind.what),
			detail: fmt.Sprintf("p50 %.1f ms (goal ≤ 20 ms)", ms(rig.Percentile(took, 50))),
		})
	}
}
