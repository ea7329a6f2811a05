package simulator

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// record is one line of the state file: a value with its kind.
//
// What is saved lies in two files. The state file holds one record a line and is
// replaced as a whole at each save; it is written in chunks, so that requests
// are served meanwhile, and its records may be of slightly different times.
// Messages are too many for that: the journal beside it (journal.go) gets a line
// for each message and each new status, and is written anew when most of its
// lines are out of date.
//
// markDirty asks for a save; runSaver saves half a second later, and Close
// saves at the end. A save writes the journal first, then the state. After a
// crash the state file is the old or the new one, never half of one, and the
// journal may end in half a line, which is ignored. Messages may then be newer
// than the events: their remaining statuses are lost. Callbacks that were being
// posted are saved as not delivered, and are posted again.
type record struct {
	Kind  string `json:"k"`
	Value any    `json:"v"`
}

const (
	stateVersion = 1
	saveDebounce = 500 * time.Millisecond
	// saveShare keeps saving from taking more than its share of the machine:
	// after a save the next one waits that many times as long as it took.
	saveShare = 20
)

// head is the first record.
type head struct {
	Version  int              `json:"version"`
	Creds    Credentials      `json:"creds"`
	Hook     appHook          `json:"hook"`
	Settings Settings         `json:"settings"`
	Deleted  map[string]int64 `json:"deleted,omitempty"`
	Order    int64            `json:"order"`
}

// runSaver saves a while after something has changed.
func (s *Server) runSaver() {
	if s.opt.StateFile == "" {
		return
	}

	wait := saveDebounce
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.dirty:
		}

		// Wait a little, so that one save serves many changes.
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(wait):
		}

		began := time.Now()
		if err := s.save(); err != nil {
			s.log.Error("save state", "file", s.opt.StateFile, "error", err)
		}
		wait = max(saveDebounce, saveShare*time.Since(began))
	}
}

// save writes the state to disk. The journal goes first: a status that refers
// to a message not yet there would be lost, the reverse is harmless.
func (s *Server) save() error {
	if s.opt.StateFile == "" {
		return nil
	}

	if err := s.saveJournal(); err != nil {
		return fmt.Errorf("save messages: %w", err)
	}
	if err := writeFile(s.opt.StateFile, s.dump); err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	return nil
}

// dump writes all records, taking the lock for a chunk at a time.
func (s *Server) dump(w io.Writer) error {
	// Only the lists are copied here; their records are encoded later, in chunks.
	s.mu.Lock()
	first := head{
		Version: stateVersion, Creds: s.world.Creds, Hook: s.world.Hook, Settings: s.settings,
		Deleted: maps.Clone(s.world.Deleted), Order: s.world.NextOrder,
	}
	tokens, codes := values(s.world.Tokens), values(s.world.Codes)
	accounts, numbers := values(s.world.Accounts), values(s.world.Numbers)
	templates, files := values(s.world.Templates), values(s.world.Media)
	uploads, people := values(s.world.Uploads), slices.Clone(s.world.People.all)
	faults, changes := slices.Clone(s.world.Faults), s.undelivered()
	events := slices.DeleteFunc(slices.Clone(s.timeline.events), func(e *event) bool { return e.retry != nil })
	s.mu.Unlock()

	if err := json.NewEncoder(w).Encode(record{"head", first}); err != nil {
		return err
	}

	return errors.Join(
		dumpAll(s, w, "token", tokens), dumpAll(s, w, "code", codes), dumpAll(s, w, "account", accounts),
		dumpAll(s, w, "number", numbers), dumpAll(s, w, "template", templates), dumpAll(s, w, "media", files),
		dumpAll(s, w, "upload", uploads), dumpAll(s, w, "person", people), dumpAll(s, w, "fault", faults),
		dumpAll(s, w, "event", events), s.dumpChanges(w, changes),
	)
}

func values[T any](m map[string]T) []T { return slices.Collect(maps.Values(m)) }

// dumpAll writes records of one kind.
func dumpAll[T any](s *Server, w io.Writer, kind string, items []T) error {
	for chunk := range slices.Chunk(items, saveChunk) {
		lines := make([][]byte, 0, len(chunk))
		var failure error

		s.mu.Lock()
		for _, item := range chunk {
			line, err := marshal(record{kind, item})
			failure = errors.Join(failure, err)
			lines = append(lines, line)
		}
		s.mu.Unlock()

		for _, line := range lines {
			if _, err := w.Write(append(line, '\n')); err != nil {
				return err
			}
		}

		if failure != nil {
			return failure
		}
	}
	return nil
}

// undelivered lists the changes that the app has not accepted yet.
func (s *Server) undelivered() []*change {
	var all []*change
	for _, q := range s.outbox.queues {
		all = append(append(all, q.inFlight...), q.waiting...)
	}
	for _, e := range s.timeline.events {
		all = append(all, e.retry...)
	}
	return all
}

// dumpChanges writes changes. Their values are encoded outside the lock.
func (s *Server) dumpChanges(w io.Writer, all []*change) error {
	for chunk := range slices.Chunk(all, saveChunk) {
		copies := make([]change, len(chunk))

		s.mu.Lock()
		for i, c := range chunk {
			copies[i] = *c
		}
		s.mu.Unlock()

		for i := range copies {
			c := &copies[i]
			var err error
			if c.Value, err = c.encoded(); err != nil {
				return err
			}
			line, err := marshal(record{"change", c})
			if err != nil {
				return err
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}

// load reads the state file back, if there is one.
func (s *Server) load() error {
	if s.opt.StateFile == "" {
		s.journal.off = true
		return nil
	}

	// What a crash left half written belongs to nobody.
	for _, path := range []string{s.opt.StateFile, s.journalFile()} {
		removeMatches(filepath.Dir(path), tempPattern(path))
	}

	if err := s.loadState(); err != nil {
		return fmt.Errorf("simulator state %s: %w", s.opt.StateFile, err)
	}
	if err := s.loadJournal(); err != nil {
		return fmt.Errorf("simulator messages %s: %w", s.journalFile(), err)
	}

	s.dropExpired()
	return nil
}

func (s *Server) loadState() error {
	f, err := os.Open(s.opt.StateFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()

	dec := json.NewDecoder(bufio.NewReaderSize(f, 256<<10))
	dec.UseNumber()
	for {
		var r struct {
			Kind  string          `json:"k"`
			Value json.RawMessage `json:"v"`
		}
		if err := dec.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}

		if err := s.restore(r.Kind, r.Value); err != nil {
			return fmt.Errorf("record %s: %w", r.Kind, err)
		}
	}
}
