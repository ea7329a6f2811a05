package replica

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"confab/storage"
	"confab/storage/objects"
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

// removeEarlier deletes the generations that no restore needs as of a time or later: those
// before the newest that had begun by then, and holds something. Only the one in force does.
func (p Place) removeEarlier(ctx context.Context, now current, before time.Time) error {
	isNeeded := true
	for _, g := range now.until(before) {
		if isNeeded {
			at, err := p.lastUpload(ctx, g.Name)
			if err != nil {
				return err
			}
			isNeeded = at.IsZero()
			continue
		}

		client, err := p.client(g.Name)
		if err == nil {
			err = client.DeleteAll(ctx)
		}
		if err != nil {
			return p.explain("deleted in", err)
		}
	}
	return nil
}

// SupersededError means that another server has taken over.
type SupersededError struct{ By Generation }

func (e *SupersededError) Error() string {
	return fmt.Sprintf("this server was superseded by the one on %s, which took over at %s (generation %d): "+
		"it does not serve any more. To use this machine again, move its data directory away, and restore there "+
		"(confab restore URL) or stand by (confab standby URL)",
		e.By.Host, e.By.Since.UTC().Format(time.RFC3339), e.By.Number)
}

// errForeign means that a place holds the replica of another installation.
var errForeign = errors.New("replica.url holds the replica of another installation: " +
	"restore it into an empty data directory (confab restore), or choose another prefix")

// maxCurrent bounds what is read of the object.
const maxCurrent = 1 << 20

// readCurrent reads which generation is in force, and the version to replace it by; Number is
// 0 if none is.
func readCurrent(ctx context.Context, store objects.Store) (now current, version string, err error) {
	body, found, err := store.Get(ctx, currentName)
	if errors.Is(err, objects.ErrNotFound) {
		return now, "", nil
	}
	if err != nil {
		return now, "", err
	}
	defer body.Close()

	content, err := io.ReadAll(io.LimitReader(body, maxCurrent))
	if err != nil {
		return now, "", err
	}
	if err := json.Unmarshal(content, &now); err != nil || now.Number < 1 || now.Name == "" {
		return now, "", fmt.Errorf("the object %q is not one of confab's", currentName)
	}
	return now, found.Version, nil
}

// current reads which generation is in force.
func (p Place) current(ctx context.Context) (now current, err error) {
	store, err := p.open()
	if err != nil {
		return now, err
	}
	if now, _, err = readCurrent(ctx, store); err != nil {
		return now, p.failed("read from", err)
	}
	return now, nil
}

// localState is what a data directory remembers of its generation.
type localState struct {
	URL   string `json:"url"`
	Epoch string `json:"epoch"` // of the database that was sent
	Generation
	// Next is what it was about to begin. If that is in force, it did.
	Next *localState `json:"next,omitempty"`
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
	return storage.ReplaceFile(file, append(text, '\n'))
}

// settle finds or begins the generation of a server. mine is what it remembers, and epoch and
// installation are those of its database. Before it begins one it calls remember, so that the server
// knows it for its own when the answer of the storage, or the server itself, is lost then.
func settle(
	ctx context.Context, store objects.Store, mine localState, url, epoch, installation string, remember func(Generation) error,
) (Generation, error) {
	now, version, err := readCurrent(ctx, store)
	if err != nil {
		return Generation{}, err
	}
	if mine.Next != nil && mine.Next.Name == now.Name {
		mine = *mine.Next
	}

	switch {
	case now.Number == 0:
	case now.Name == mine.Name && epoch == mine.Epoch:
		return mine.Generation, nil
	case now.supersedes(mine, url):
		return Generation{}, &SupersededError{now.Generation}
	case now.Installation != installation:
		return Generation{}, errForeign
	}

	next := now.next(installation, mine.Number)
	if err := remember(next.Generation); err != nil {
		return Generation{}, err
	}
	return next.Generation, next.begin(ctx, store, version)
}

// supersedes reports whether another server has taken over at a URL. Names are random, so a place
// that holds the one of this server is known by that, however its URL is spelled now. The number
// is for one that is not remembered any more.
func (c current) supersedes(mine localState, url string) bool {
	isEarlier := slices.ContainsFunc(c.Earlier, func(g Generation) bool { return g.Name == mine.Name })
	return isEarlier || mine.URL == url && mine.Number > 0 && c.Name != mine.Name && c.Number >= mine.Number
}

// next is the generation that follows, with a number that is higher than another one too.
func (c current) next(installation string, number int) current {
	number = max(c.Number, number) + 1
	host, _ := os.Hostname() // a name is for people
	next := current{
		Generation: Generation{
			Name:   fmt.Sprintf("%06d-%s", number, strings.ToLower(rand.Text()[:12])),
			Number: number,
			Since:  storage.At(time.Now()).Std(), // milliseconds, as the API has them
			Host:   host,
		},
		Installation: installation,
	}
	if c.Number > 0 {
		next.Earlier = append([]Generation{c.Generation}, c.Earlier...)
		next.Earlier = next.Earlier[:min(len(next.Earlier), maxEarlier)]
	}
	return next
}

// begin puts a generation in force, in place of the one that was read with a version. Of
// several who do so at the same time, all but one are superseded.
func (c current) begin(ctx context.Context, store objects.Store, version string) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = store.PutIf(ctx, currentName, text, version)
	if !errors.Is(err, objects.ErrChanged) {
		return err
	}

	now, _, err := readCurrent(ctx, store)
	if err != nil {
		return err
	}
	return &SupersededError{now.Generation}
}
