package replica

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// currentName is the object that names the generation in force.
const currentName = "current"

// maxEarlier is how many generations before the current one are remembered.
const maxEarlier = 100

// Generation is what one server has sent, from a whole copy on.
type Generation struct {
	Name   string    `json:"generation"` // its path below the URL
	Number int       `json:"number"`
	Since  time.Time `json:"since"`
	Host   string    `json:"host"` // of the machine that began it
}

// current is the content of the object that names the generation in force.
type current struct {
	Generation
	Installation string       `json:"installation"` // see storage.Rx.Installation
	Earlier      []Generation `json:"earlier,omitempty"`
}

// until are the generations that began before a time, or all for the zero time, newest first.
func (c current) until(t time.Time) (all []Generation) {
	for _, g := range append([]Generation{c.Generation}, c.Earlier...) {
		if t.IsZero() || !g.Since.After(t) {
			all = append(all, g)
		}
	}
	return all
}

// SupersededError means that another server has taken over.
type SupersededError struct{ By Generation }

func (e *SupersededError) Error() string {
	return fmt.Sprintf("this server was superseded by the one on %s, which took over at %s (generation %d): "+
		"it does not serve any more. To use this machine again, move its data directory away and restore: confab restore",
		e.By.Host, e.By.Since.UTC().Format(time.RFC3339), e.By.Number)
}

// errForeign means that a place holds the replica of another installation.
var errForeign = errors.New("replica.url holds the replica of another installation: " +
	"restore it into an empty data directory (confab restore), or choose another prefix")

// readCurrent reads which generation is in force, and the tag to replace it by; Number is 0
// if none is.
func readCurrent(ctx context.Context, store objects) (now current, tag string, err error) {
	content, tag, err := store.get(ctx, currentName)
	if errors.Is(err, fs.ErrNotExist) {
		return now, "", nil
	}
	if err != nil {
		return now, "", err
	}

	if err := json.Unmarshal(content, &now); err != nil || now.Number < 1 || now.Name == "" {
		return now, "", fmt.Errorf("the object %q is not one of confab's", currentName)
	}
	return now, tag, nil
}

// localState is what a data directory remembers of its generation.
type localState struct {
	URL   string `json:"url"`
	Epoch string `json:"epoch"` // of the database that was sent
	Generation
}

// readLocal reads what a data directory remembers; the zero value if nothing.
func readLocal(file string) (state localState, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil {
		return state, fmt.Errorf("%s cannot be read: %w: remove it to begin a new generation", file, err)
	}
	return state, nil
}

func (s localState) write(file string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(file, append(text, '\n'))
}

// settle finds or begins the generation of a server. mine is what it remembers, and epoch and
// installation are those of its database.
func settle(ctx context.Context, store objects, mine localState, url, epoch, installation string) (Generation, error) {
	now, tag, err := readCurrent(ctx, store)
	if err != nil {
		return Generation{}, err
	}

	known := mine.URL == url && mine.Number > 0
	switch {
	case now.Number == 0:
	case known && now.Name == mine.Name && epoch == mine.Epoch:
		return mine.Generation, nil
	case known && now.Name != mine.Name && now.Number >= mine.Number:
		return Generation{}, &SupersededError{now.Generation}
	case now.Installation != installation:
		return Generation{}, errForeign
	}
	return begin(ctx, store, now, tag, installation, max(now.Number, mine.Number)+1)
}

// begin begins a generation. Of two who begin one at the same time, one is superseded.
func begin(ctx context.Context, store objects, before current, tag, installation string, number int) (Generation, error) {
	host, _ := os.Hostname() // a name is for people
	next := current{
		Generation: Generation{
			Name:   fmt.Sprintf("%06d-%s", number, strings.ToLower(rand.Text()[:12])),
			Number: number,
			Since:  time.Now().UTC(),
			Host:   host,
		},
		Installation: installation,
	}
	if before.Number > 0 {
		next.Earlier = append([]Generation{before.Generation}, before.Earlier...)
		next.Earlier = next.Earlier[:min(len(next.Earlier), maxEarlier)]
	}

	text, err := json.Marshal(next)
	if err != nil {
		return Generation{}, err
	}
	err = store.put(ctx, currentName, text, tag)
	if err == nil {
		return next.Generation, nil
	}

	// The answer to a put that worked may have been lost, or somebody else was first.
	now, _, readErr := readCurrent(ctx, store)
	switch {
	case readErr != nil || now.Number == 0:
		return Generation{}, err
	case now.Name == next.Name:
		return next.Generation, nil
	case errors.Is(err, errChanged):
		return Generation{}, &SupersededError{now.Generation}
	}
	return Generation{}, err
}
