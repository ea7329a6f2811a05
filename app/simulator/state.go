package simulator

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// record is one line of the state file: a value with its kind.
//
// The state file is one snapshot of everything, replaced as a whole at each save.
// markDirty asks for a save; runSaver saves half a second later, and Close saves at
// the end. The records to save are listed at one moment, under the lock; they
// are then encoded in chunks, so that requests are served meanwhile, and may be a
// little newer than the list.
//
// After a crash the state file is the old or the new one, never half of one, and what
// happened after it was begun is lost: the last second of a simulator with a few
// thousand messages, up to half a minute of one with 200,000, because a save of so many
// takes a second and saveShare then delays the next. A callback that was being posted,
// or whose answer came after the list was made, is posted again.
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
	// saveChunk is how many records are encoded under the lock at a time.
	saveChunk = 100
)

// savedKind is one kind of record: all of them, and how one is put back.
type savedKind struct {
	name    string
	all     []any
	restore func(json.RawMessage) error
}

func (s *Server) savedKinds() []savedKind {
	w := &s.world
	scheduled := slices.DeleteFunc(slices.Clone(s.timeline.events), func(e *event) bool { return e.retry != nil })

	return []savedKind{
		{"head", []any{&w.head}, s.restoreHead},
		savedAs("token", maps.Values(w.Tokens), func(t *token) { w.Tokens[t.Token] = t }),
		savedAs("code", maps.Values(w.Codes), func(c *signupCode) { w.Codes[c.Code] = c }),
		savedAs("account", maps.Values(w.Accounts), func(a *account) { w.Accounts[a.ID] = a }),
		savedAs("number", maps.Values(w.Numbers), func(n *number) { w.Numbers[n.ID] = n }),
		savedAs("template", maps.Values(w.Templates), func(t *template) { w.Templates[t.ID] = t }),
		savedAs("media", maps.Values(w.Media), func(m *media) { w.Media[m.ID] = m }),
		savedAs("upload", maps.Values(w.Uploads), func(u *upload) { w.Uploads[u.ID] = u }),
		savedAs("person", slices.Values(w.People.all), w.People.add),
		savedAs("fault", slices.Values(w.Faults), func(f *fault) { w.Faults = append(w.Faults, f) }),
		savedAs("message", slices.Values(s.messages.all), s.messages.add),
		savedAs("change", slices.Values(s.undelivered()), s.restoreChange),
		savedAs("event", slices.Values(scheduled), s.scheduleEvent),
	}
}

func savedAs[T any](name string, all iter.Seq[*T], add func(*T)) savedKind {
	kind := savedKind{name: name}
	for v := range all {
		kind.all = append(kind.all, v)
	}

	kind.restore = func(b json.RawMessage) error {
		v := new(T)
		if err := decodeJSON(b, v); err != nil {
			return err
		}
		add(v)
		return nil
	}
	return kind
}

func (s *Server) undelivered() (all []*change) {
	for _, q := range s.outbox.queues {
		all = append(all, q.waiting...)
	}
	for _, e := range s.timeline.events {
		all = append(all, e.retry...)
	}
	return all
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
			s.log.Error("could not save the state", "file", s.opt.StateFile, "error", err)
		}
		wait = max(saveDebounce, saveShare*time.Since(began))
	}
}

func (s *Server) save() error {
	if s.opt.StateFile == "" {
		return nil
	}
	if err := writeFile(s.opt.StateFile, s.dump); err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	return nil
}

// dump writes all records, taking the lock for a chunk at a time.
func (s *Server) dump(w io.Writer) error {
	s.mu.Lock()
	kinds := s.savedKinds()
	s.mu.Unlock()

	for _, kind := range kinds {
		for chunk := range slices.Chunk(kind.all, saveChunk) {
			var lines []byte
			s.mu.Lock()
			for _, v := range chunk {
				lines = append(append(lines, marshal(record{kind.name, v})...), '\n')
			}
			s.mu.Unlock()

			if _, err := w.Write(lines); err != nil {
				return err
			}
		}
	}
	return nil
}

// tempPattern is the pattern for the name of a file that will replace another.
func tempPattern(path string) string { return "." + filepath.Base(path) + "-*" }

// removeMatches removes the files that a crash left half written.
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

// load reads the state file back, if there is one.
func (s *Server) load() error {
	if s.opt.StateFile == "" {
		return nil
	}

	removeMatches(filepath.Dir(s.opt.StateFile), tempPattern(s.opt.StateFile))
	if err := s.loadState(); err != nil {
		return fmt.Errorf("simulator state %s: %w", s.opt.StateFile, err)
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

	restore := map[string]func(json.RawMessage) error{}
	for _, kind := range s.savedKinds() {
		restore[kind.name] = kind.restore
	}

	dec := json.NewDecoder(bufio.NewReaderSize(f, 256<<10))
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

		if restore[r.Kind] == nil {
			return fmt.Errorf("record %s: unknown kind; it was written by another version", r.Kind)
		}
		if err := restore[r.Kind](r.Value); err != nil {
			return fmt.Errorf("record %s: %w", r.Kind, err)
		}
	}
}

func (s *Server) restoreHead(b json.RawMessage) error {
	h := newWorld(s.nowMS).head
	if err := json.Unmarshal(b, &h); err != nil {
		return err
	}
	if h.Version != stateVersion {
		return fmt.Errorf("it has version %d but this build knows only %d", h.Version, stateVersion)
	}
	s.world.head = h
	return nil
}

// restoreChange lets an undelivered change wait for its next attempt, or be posted at once.
func (s *Server) restoreChange(c *change) {
	s.outbox.pending++
	s.scheduleEvent(&event{Due: c.Next, retry: []*change{c}})
}

// controlReset handles POST /_sim/reset: messages, people, faults, limits and
// pending callbacks are deleted and the settings are the defaults. Numbers,
// templates, media and credentials stay, since clients hold their ids.
func (s *Server) controlReset(*controlCall) (any, error) {
	s.dropMessages(func(*message) bool { return true })
	s.keepEvents(func(e *event) bool { return e.retry == nil })

	s.outbox = newOutbox() // a batch that is being posted cannot be stopped, but it is not tried again
	s.world.People = newPeople(s.nowMS)
	s.world.Faults = nil
	s.calls.clear()
	s.applySettings(defaultSettings())
	s.publish("reset", func() any { return object{} })
	return object{"success": true}, nil
}
