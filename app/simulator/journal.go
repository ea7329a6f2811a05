package simulator

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Earlier releases kept messages in a file of their own: a line for each message and
// each new status. It is read once; save removes it when the state file has them.

func (s *Server) journalFile() string { return s.opt.StateFile + ".messages" }

// loadJournal reads the messages of an earlier release. A line that was cut off by a
// crash ends the file.
func (s *Server) loadJournal() error {
	removeMatches(filepath.Dir(s.journalFile()), tempPattern(s.journalFile()))
	f, err := os.Open(s.journalFile())
	if errors.Is(err, os.ErrNotExist) || len(s.messages.all) > 0 {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()

	lines := json.NewDecoder(bufio.NewReaderSize(f, 256<<10))
	for {
		var line struct {
			Message *message `json:"m"`
			ID      string   `json:"id"`
			Status  string   `json:"s"`
		}
		err := lines.Decode(&line)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("messages %s: %w", s.journalFile(), err)
		}

		if line.Message != nil {
			s.messages.add(line.Message)
		} else if m := s.messages.byID[line.ID]; m != nil {
			m.Status = line.Status
		}
	}
}
