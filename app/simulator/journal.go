package simulator

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// journalEntry is one line of the journal: a message, or its new status.
type journalEntry struct {
	Message *message `json:"m,omitempty"`
	ID      string   `json:"id,omitempty"`
	Status  string   `json:"s,omitempty"`
}

// journal collects what happened to messages until the saver appends it to a
// file. Messages are too many to be written anew at each save.
type journal struct {
	off     bool // nothing is saved, so nothing need be collected
	entries []journalEntry
	lines   int  // in the file
	restart bool // begin the file anew
}

func (j *journal) add(e journalEntry) {
	if !j.off {
		j.entries = append(j.entries, e)
	}
}

func (s *Server) journalFile() string { return s.opt.StateFile + ".messages" }

// saveJournal appends the collected entries, or writes the file anew once most
// of its lines are out of date.
func (s *Server) saveJournal() error {
	s.mu.Lock()
	entries, restart := s.journal.entries, s.journal.restart
	s.journal.entries, s.journal.restart = nil, false
	s.journal.lines += len(entries)

	// With six lines for each message that can be kept, most are out of date.
	if s.journal.lines > 6*s.opt.MaxMessages {
		restart = true
	}
	s.mu.Unlock()

	err := s.writeJournal(entries, restart)
	if err != nil {
		// What could not be appended is still in memory: begin anew next time.
		s.mu.Lock()
		s.journal.restart = true
		s.mu.Unlock()
	}

	return err
}

func (s *Server) writeJournal(entries []journalEntry, restart bool) error {
	if restart {
		return s.rewriteJournal()
	}
	if len(entries) == 0 {
		return nil
	}

	f, err := os.OpenFile(s.journalFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}

	w := bufio.NewWriterSize(f, 256<<10)
	err = writeEntries(w, entries)
	return errors.Join(err, w.Flush(), f.Sync(), f.Close())
}

func writeEntries(w io.Writer, entries []journalEntry) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, e := range entries {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	return nil
}

// saveChunk is how many records are copied or encoded under the lock at a
// time, so that requests never wait long for a save.
const saveChunk = 500

// rewriteJournal writes the stored messages to a new file.
func (s *Server) rewriteJournal() error {
	s.mu.Lock()
	all := append([]*message(nil), s.messages.kept()...)
	s.journal.entries = nil // the messages below include all of it; later entries are appended
	s.journal.lines = len(all)
	s.mu.Unlock()

	return writeFile(s.journalFile(), func(w io.Writer) error {
		for len(all) > 0 {
			n := min(saveChunk, len(all))
			entries := make([]journalEntry, n)

			s.mu.Lock()
			for i, m := range all[:n] {
				entries[i].Message = m.snapshot()
			}
			s.mu.Unlock()

			if err := writeEntries(w, entries); err != nil {
				return err
			}
			all = all[n:]
		}
		return nil
	})
}

// loadJournal reads the messages back. A line that was cut off by a crash ends
// the file.
func (s *Server) loadJournal() error {
	f, err := os.Open(s.journalFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()

	lines := bufio.NewReaderSize(f, 256<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if len(line) > 0 {
				s.journal.restart = true // what is appended must not join half a line
			}
			return nil
		}
		if err != nil {
			return err
		}

		var e journalEntry
		if err := json.Unmarshal(bytes.TrimSpace(line), &e); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(s.journalFile()), err)
		}

		s.journal.lines++
		if e.Message != nil {
			s.messages.add(e.Message)
		} else if m := s.messages.byID[e.ID]; m != nil {
			m.Status = e.Status
		}
	}
}

// tempPattern is the pattern for the name of a file that will replace another.
func tempPattern(path string) string { return "." + filepath.Base(path) + "-*" }

// removeMatches removes what a crash left behind, which belongs to nobody.
func removeMatches(dir, pattern string) {
	stale, _ := filepath.Glob(filepath.Join(dir, pattern))
	for _, path := range stale {
		os.Remove(path)
	}
}

// writeFile replaces a file as a whole, so that a crash leaves the old one or
// the new one.
func writeFile(path string, fill func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), tempPattern(path))
	if err != nil {
		return err
	}

	w := bufio.NewWriterSize(f, 256<<10)
	err = errors.Join(fill(w), w.Flush(), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}

	// Without this a crash could still undo the rename.
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		dir.Sync()
		dir.Close()
	}
	return nil
}
