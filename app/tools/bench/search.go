package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
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
	zipf     *rand.Zipf
	accounts []storage.Message // the thread of each, to which messages are added
}

// search measures searches among many messages of many tenants: for a word of every
// message, for a letter, for words as they come, and for one that is in none.
func (b *bench) search(o *installation) {
	s := &searched{scratch: b.newScratch(), random: rand.New(rand.NewPCG(1, 2))}
	s.zipf = rand.NewZipf(s.random, 1.2, 3, searchVocabulary-1)
	messages := min(searchedMessages, b.messages)
	s.fill(messages)
	s.index()
	s.measure(b, messages)
	b.measureIndexing(o)
}

// measureIndexing compares sends to a server that keeps the index with sends to one that
// cannot make one, because a directory has the name of its file.
func (b *bench) measureIndexing(o *installation) {
	plain := b.startSibling(o, fewMessages, func(s *server) {
		rig.Check(os.MkdirAll(filepath.Join(s.Dir, storage.SearchFile, "in the way"), 0o700))
	})

	indexed, without := b.newDueSends(o.server), b.newDueSends(plain)
	without.name = "that without an index"
	b.measureAll(indexed, without)
	b.table.addRatio("P20", "POST message accepted, 64 connections, while it is indexed", indexed, without, 0.95)
}

// word is one of a vocabulary, some of which are frequent.
func (s *searched) word() string { return strconv.FormatUint(1_000_000+104_729*s.zipf.Uint64(), 36) }

func (s *searched) fill(messages int) {
	insertMany(s.DB, searchedTenants, searchedTenants, func(tx *storage.Tx, i int) {
		number := fmt.Sprint(106540352242922 + i)
		a := storage.Account{OrganizationID: s.org.ID, TeamID: s.team.ID, PhoneNumberID: &number, Status: storage.AccountConnected}
		rig.Check(tx.InsertAccount(&a, "token"))
		s.accounts = append(s.accounts, newThread(tx, a.ID, "+15551234567"))
	})

	insertMany(s.DB, messages, 1000, func(tx *storage.Tx, _ int) {
		m := s.accounts[s.random.IntN(searchedTenants)]
		text := "the"
		for range 9 + s.random.IntN(5) {
			text += " " + s.word()
		}
		m.Body = &text
		rig.Check(tx.InsertMessage(&m))
	})
}

func (s *searched) index() {
	running, stop := context.WithCancel(context.Background())
	rig.Cleanup(stop)
	x := storage.NewSearchIndex(s.DB, filepath.Join(s.dir, storage.SearchFile), func(err error) { fmt.Fprintln(os.Stderr, err) })
	go func() { _ = x.Run(running) }()
	poll(10*time.Millisecond, x.IsComplete)
}

func (s *searched) measure(b *bench, messages int) {
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
			rig.Check(s.List(context.Background(), s.org.ID, func(rx *storage.Rx) error {
				_, _, err := rx.Messages(account, f, storage.First, 26)
				return err
			}))
			took = append(took, time.Since(began))
		}

		b.table.addLimited("P20", fmt.Sprintf("search %d messages of %d tenants for %s, p99", messages, searchedTenants, kind.what),
			ms(rig.Percentile(took, 99)), 100, " ms", fmt.Sprintf("p50 %.1f ms (goal ≤ 20 ms)", ms(rig.Percentile(took, 50))))
	}
}
