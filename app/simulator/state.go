package simulator

import (
	"bufio"
	"bytes"
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

// head is the first record.
type head struct {
	Version  int              `json:"version"`
	Creds    Credentials      `json:"creds"`
	Hook     appHook          `json:"hook"`
	Settings Settings         `json:"settings"`
	Deleted  map[string]int64 `json:"deleted,omitempty"`
	Order    int64            `json:"order"`
}

// savedKind is one kind of record: how all of them are written, and how one is put back.
type savedKind struct {
	name    string
	dump    func(io.Writer) error
	restore func(json.RawMessage) error
}

// savedKinds lists all that is saved after the head.
func (s *Server) savedKinds() []savedKind {
	w := &s.world
	scheduled := slices.DeleteFunc(slices.Clone(s.timeline.events), func(e *event) bool { return e.retry != nil })

	return []savedKind{
		savedAs(s, "token", values(w.Tokens), func(t *token) { w.Tokens[t.Token] = t }),
		savedAs(s, "code", values(w.Codes), func(c *signupCode) { w.Codes[c.Code] = c }),
		savedAs(s, "account", values(w.Accounts), func(a *account) { w.Accounts[a.ID] = a }),
		savedAs(s, "number", values(w.Numbers), func(n *number) { w.Numbers[n.ID] = n }),
		savedAs(s, "template", values(w.Templates), func(t *template) { w.Templates[t.ID] = t }),
		savedAs(s, "media", values(w.Media), func(m *media) { w.Media[m.ID] = m }),
		savedAs(s, "upload", values(w.Uploads), func(u *upload) { w.Uploads[u.ID] = u }),
		savedAs(s, "person", slices.Clone(w.People.all), w.People.add),
		savedAs(s, "fault", slices.Clone(w.Faults), func(f *fault) { w.Faults = append(w.Faults, f) }),
		savedAs(s, "message", slices.Clone(s.messages.all), s.messages.add),
		savedAs(s, "event", scheduled, s.scheduleEvent),
		savedAs(s, "change", s.undelivered(), s.restoreChange),
	}
}

func values[T any](m map[string]T) []T { return slices.Collect(maps.Values(m)) }

func savedAs[T any](s *Server, name string, all []*T, add func(*T)) savedKind {
	dump := func(w io.Writer) error {
		var lines bytes.Buffer
		enc := json.NewEncoder(&lines)
		enc.SetEscapeHTML(false)

		for chunk := range slices.Chunk(all, saveChunk) {
			var err error
			s.mu.Lock()
			for _, v := range chunk {
				err = errors.Join(err, enc.Encode(record{name, v}))
			}
			s.mu.Unlock()

			_, failure := lines.WriteTo(w)
			if err = errors.Join(err, failure); err != nil {
				return err
			}
		}
		return nil
	}

	restore := func(b json.RawMessage) error {
		v := new(T)
		if err := decodeJSON(b, v); err != nil {
			return err
		}
		add(v)
		return nil
	}
	return savedKind{name, dump, restore}
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

// save writes the state to disk.
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
	first := head{
		Version: stateVersion, Creds: s.world.Creds, Hook: s.world.Hook, Settings: s.settings,
		Deleted: maps.Clone(s.world.Deleted), Order: s.world.NextOrder,
	}
	kinds := s.savedKinds()
	s.mu.Unlock()

	err := json.NewEncoder(w).Encode(record{"head", first})
	for _, kind := range kinds {
		if err == nil {
			err = kind.dump(w)
		}
	}
	return err
}

// load reads the state file back, if there is one.
func (s *Server) load() error {
	if s.opt.StateFile == "" {
		return nil
	}

	removeMatches(filepath.Dir(s.opt.StateFile), tempPattern(s.opt.StateFile))
	if err := errors.Join(s.loadState(), s.checkFaults()); err != nil {
		return fmt.Errorf("simulator state %s: %w", s.opt.StateFile, err)
	}

	s.dropExpired()
	return nil
}

// checkFaults refuses faults of kinds that another version knows.
func (s *Server) checkFaults() error {
	for _, f := range s.world.Faults {
		if err := f.check(); err != nil {
			return fmt.Errorf("fault of kind %q, perhaps of another version: %w", f.Kind, err)
		}
	}
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

	restore := map[string]func(json.RawMessage) error{"head": s.restoreHead}
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
	h := head{Settings: defaultSettings()}
	if err := json.Unmarshal(b, &h); err != nil {
		return err
	}

	if h.Version != stateVersion {
		return fmt.Errorf("it has version %d but this build knows only %d", h.Version, stateVersion)
	}

	s.world.Creds, s.world.Hook, s.settings, s.world.NextOrder = h.Creds, h.Hook, h.Settings, h.Order
	if h.Deleted != nil {
		s.world.Deleted = h.Deleted
	}
	return nil
}

// restoreChange puts an undelivered change back: into its queue, or into the
// timeline when it waits for another attempt.
func (s *Server) restoreChange(c *change) {
	s.outbox.pending++
	if c.Next != 0 {
		s.scheduleEvent(&event{Due: c.Next, retry: []*change{c}})
		return
	}

	q := s.outbox.queueOf(c)
	q.waiting = append(q.waiting, c)
}
