package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/benbjohnson/litestream"

	"confab/storage"
)

// Restored is what a database was made of.
type Restored struct {
	Generation Generation `json:"generation"`
	AsOf       time.Time  `json:"as_of"` // everything that was sent before is in it
}

// Restore writes the database as it was at a time, or the newest for the zero time, to a file
// that does not exist yet.
func (p Place) Restore(ctx context.Context, at time.Time, file string) (out Restored, err error) {
	now, err := p.current(ctx)
	if err != nil {
		return out, err
	}
	if now.Number == 0 {
		return out, fmt.Errorf("there is no replica at %s: check the bucket and the prefix", p.URL)
	}

	// A server that ended before its first copy was complete has left nothing, and then the
	// newest is what the one before it had.
	for _, g := range now.until(at) {
		g.Since = storage.At(g.Since).Std() // milliseconds, as the API has them
		out.Generation = g
		out.AsOf, err = p.restore(ctx, g.Name, at, file)
		if !errors.Is(err, errEmpty) {
			return out, err
		}
	}

	if at.IsZero() {
		return out, errors.New("the replica is empty: its first copy was never completed")
	}
	return out, fmt.Errorf("the replica holds nothing from %s or before: replica.keep says how far back it reaches",
		at.UTC().Format(time.RFC3339))
}

// errEmpty means that a generation has nothing of a time.
var errEmpty = errors.New("there is nothing to restore")

// restore writes the database as a generation had it at a time.
func (p Place) restore(ctx context.Context, generation string, at time.Time, file string) (asOf time.Time, err error) {
	client, err := p.client(generation)
	if err != nil {
		return asOf, err
	}
	if err := client.Init(ctx); err != nil {
		return asOf, p.explain("read from", err)
	}

	plan, err := litestream.CalcRestorePlan(ctx, client, 0, at, slog.New(slog.DiscardHandler))
	switch {
	case errors.Is(err, litestream.ErrTxNotAvailable), err == nil && len(plan) == 0:
		return asOf, errEmpty
	case err != nil:
		return asOf, p.explain("read from", err)
	}
	last := plan[len(plan)-1]

	o := litestream.NewRestoreOptions()
	o.OutputPath, o.TXID = file, last.MaxTXID
	err = litestream.NewReplicaWithClient(nil, client).Restore(ctx, o)
	if err != nil {
		return asOf, fmt.Errorf("restore from %s: %w", p.URL, err)
	}
	return storage.At(last.CreatedAt).Std(), nil
}
