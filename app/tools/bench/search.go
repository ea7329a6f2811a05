package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

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
// message, for a letter, for words as they come, and for one that nobody wrote.
func (b *bench) search(ctx context.Context) error {
	scratch, err := b.newScratch()
	if err != nil {
		return err
	}
	defer scratch.remove()

	s := &searched{scratch: scratch, random: rand.New(rand.NewPCG(1, 2))}
	s.makeWords()
	messages := min(searchedMessages, max(b.messages, fewMessages))
	if b.quick {
		messages = min(messages, searchedMessages/50)
	}
	if err := s.fill(ctx, messages); err != nil {
		return err
	}

	took, size, err := s.index(ctx)
	if err != nil {
		return err
	}
	b.table.add(row{
		what:   fmt.Sprintf("search index of %d messages", messages),
		figure: fmt.Sprintf("%.0f µs a message", float64(took.Microseconds())/float64(messages)),
		detail: fmt.Sprintf("%.0f MB; half of the time is left to others", megabytes(size)),
	})
	if err := s.measure(ctx, b, messages); err != nil {
		return err
	}
	return b.measureIndexing(ctx)
}

// measureIndexing compares sends to a server that keeps the index with sends to one that
// cannot make one, because a directory has the name of its file.
func (b *bench) measureIndexing(ctx context.Context) error {
	p, err := b.openPair(ctx, func(s *server) error {
		return os.MkdirAll(filepath.Join(s.Dir, storage.SearchFile, "in the way"), 0o700)
	})
	if err != nil {
		return err
	}
	defer p.close()

	sends, err := p.compareSends(ctx, b)
	if err != nil {
		return err
	}
	ratio := 1 / sends.ratio()
	b.table.add(row{
		id:        "P20",
		what:      "POST message accepted, 64 connections, while it is indexed",
		callbacks: callbacksOff,
		figure:    perSecond(sends.plain),
		detail: fmt.Sprintf("%.2f of that without an index (%s); %s; without: %s",
			ratio, perSecond(sends.changed), sends.plainCost, sends.changedCost),
		goal: atLeast(ratio, 0.95),
	})
	return nil
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

// fill stores the messages.
func (s *searched) fill(ctx context.Context, messages int) error {
	err := s.Update(ctx, func(tx *storage.Tx) error {
		for i := range searchedTenants {
			m, err := s.newThread(tx, fmt.Sprint(106540352242922+i))
			if err != nil {
				return err
			}
			s.accounts = append(s.accounts, m)
		}
		return nil
	})

	for done := 0; done < messages && err == nil; done += 1000 {
		err = s.Update(ctx, func(tx *storage.Tx) error {
			for range 1000 {
				m := s.accounts[s.random.IntN(searchedTenants)]
				text := "the"
				for range 9 + s.random.IntN(5) {
					text += " " + s.word()
				}
				m.Body = &text
				if err := tx.InsertMessage(&m); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return err
}

// newThread makes an account with a conversation, and returns a message of it that is not
// stored.
func (s *searched) newThread(tx *storage.Tx, number string) (m storage.Message, err error) {
	a := storage.Account{OrganizationID: s.org.ID, TeamID: s.team.ID, PhoneNumberID: &number, Status: storage.AccountConnected}
	if err := tx.InsertAccount(&a, "token"); err != nil {
		return m, err
	}
	phone := "+15551234567"
	c := storage.Contact{AccountID: a.ID, PhoneNumber: &phone}
	if err := tx.InsertContact(&c); err != nil {
		return m, err
	}

	v, err := tx.EnsureConversation(a.ID, c.ID)
	return storage.Message{
		AccountID:      a.ID,
		ConversationID: v.ID,
		ContactID:      c.ID,
		Direction:      storage.Outbound,
		Type:           "text",
		Status:         storage.MessageSent,
		Source:         storage.SourceAPI,
		Content:        storage.JSON(`{"body":"x"}`),
	}, err
}

// index makes the index, and tells how long that took and how large it is.
func (s *searched) index(ctx context.Context) (took time.Duration, size int64, err error) {
	path := filepath.Join(s.dir, storage.SearchFile)
	failed := make(chan error, 1)
	x := storage.NewSearchIndex(s.DB, path, func(err error) { failed <- err })
	go func() { _ = x.Run(ctx) }() // it ends with the process

	for began := time.Now(); ; {
		select {
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		case err := <-failed:
			return 0, 0, err
		case <-time.After(10 * time.Millisecond):
		}
		if x.IsComplete() {
			info, err := os.Stat(path)
			if err != nil {
				return 0, 0, err
			}
			return time.Since(began), info.Size(), nil
		}
	}
}

// measure searches.
func (s *searched) measure(ctx context.Context, b *bench, messages int) error {
	for _, kind := range []struct {
		what  string
		query func() string
	}{
		{"a word of every message", func() string { return "the" }},
		{"a letter", func() string { return string(rune('a' + s.random.IntN(26))) }},
		{"two words as they come", func() string { return s.word() + " " + s.word() }},
		{"a phrase", func() string { return `"the ` + s.word() + `"` }},
		{"a word that nobody wrote", func() string { return strings.Repeat("q", 16) }},
	} {
		var took []time.Duration
		for range searchesOfAKind {
			account, f := s.accounts[s.random.IntN(searchedTenants)].AccountID, storage.MessageFilter{Search: kind.query()}
			began := time.Now()
			err := s.List(ctx, s.org.ID, func(rx *storage.Rx) error {
				_, _, err := rx.Messages(account, f, storage.First, 26)
				return err
			})
			if err != nil {
				return err
			}
			took = append(took, time.Since(began))
		}

		p99 := percentile(took, 99)
		b.table.add(row{
			id:     "P20",
			what:   fmt.Sprintf("search %d messages of %d tenants for %s, p99", messages, searchedTenants, kind.what),
			figure: fmt.Sprintf("%.1f ms", ms(p99)),
			detail: fmt.Sprintf("p50 %.1f ms (goal ≤ 20 ms)", ms(percentile(took, 50))),
			goal:   atMost(ms(p99), 100, " ms"),
		})
	}
	return nil
}
