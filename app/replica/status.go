package replica

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/benbjohnson/litestream"

	"confab/storage"
)

const (
	// LagToWarn is the lag from which on people are warned.
	LagToWarn = 5 * time.Second
	// VerifiedWithin is how old the last check may be.
	VerifiedWithin = 26 * time.Hour
)

// Status is how far a replica is.
type Status struct {
	URL            string       `json:"url"`
	Standby        bool         `json:"standby,omitempty"` // how far a standby's copy is behind
	Generation     string       `json:"generation"`
	LagSeconds     *float64     `json:"lag_seconds"` // null if no server runs, or a standby has no copy
	BacklogBytes   int64        `json:"backlog_bytes"`
	LastUploadAt   storage.Time `json:"last_upload_at"`
	LastVerifiedAt storage.Time `json:"last_verified_at"`
	Error          string       `json:"error,omitempty"`

	// Since is when the generation began: before a day has passed, nobody expects a check.
	Since storage.Time `json:"generation_since"`
}

// Warnings says in words what somebody should look at.
func (s Status) Warnings(now time.Time) (all []string) {
	if s.Standby {
		return s.standbyWarnings()
	}
	if s.LagSeconds != nil && *s.LagSeconds > LagToWarn.Seconds() {
		all = append(all, "The replica is behind: what was written in the last "+
			time.Duration(*s.LagSeconds*float64(time.Second)).Round(time.Second).String()+" would be lost with this machine.")
	}

	reference := cmp.Or(s.LastVerifiedAt, s.Since)
	if reference != 0 && now.Sub(reference.Std()) > VerifiedWithin {
		all = append(all, "No restore of the replica was verified in the last 26 hours.")
	}
	return all
}

func (s Status) standbyWarnings() []string {
	switch {
	case s.LagSeconds == nil:
		return []string{"The standby has no copy yet, and cannot take over."}
	case *s.LagSeconds > LagToWarn.Seconds():
		return []string{fmt.Sprintf("The standby's copy is %.0f s behind.", *s.LagSeconds)}
	}
	return nil
}

// Status is how far the replica of this server is.
func (r *Replica) Status() Status {
	verified, _ := storage.Query(context.Background(), r.DB, (*storage.Rx).ReplicaVerifiedAt) // its faults show elsewhere

	r.mu.Lock()
	defer r.mu.Unlock()
	return Status{
		URL:            r.URL,
		Generation:     r.local.Name,
		LagSeconds:     seconds(r.lag()),
		BacklogBytes:   r.last.Backlog,
		LastUploadAt:   timeOf(r.last.UploadedAt),
		LastVerifiedAt: verified,
		Since:          timeOf(r.local.Since),
		Error:          cmp.Or(r.last.Error, r.problem, r.verifyProblem),
	}
}

// seconds is a duration to the millisecond.
func seconds(d time.Duration) *float64 {
	return new(math.Round(d.Seconds()*1000) / 1000)
}

// timeOf is 0 for the zero time.
func timeOf(t time.Time) storage.Time { return max(0, storage.At(t)) }

// lag is how much would be lost with the machine now. The caller holds mu.
func (r *Replica) lag() time.Duration {
	if r.last.InSync && r.DB.Changes() == r.changes { // nothing was written since, nor by a command beside this server
		return 0
	}
	return time.Since(r.cleanAt)
}

// StatusOf is how far the replica of a database is while no server runs, as far as that and the
// storage say.
func (p Place) StatusOf(ctx context.Context, db *storage.DB) (s Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, firstAnswer)
	defer cancel()
	s.URL = p.URL
	if s.LastVerifiedAt, err = storage.Query(ctx, db, (*storage.Rx).ReplicaVerifiedAt); err != nil {
		return s, err
	}
	now, err := p.current(ctx)
	if err != nil || now.Number == 0 {
		return s, err
	}

	s.Generation, s.Since = now.Name, timeOf(now.Since)
	last, err := p.lastUpload(ctx, now.Name)
	s.LastUploadAt = timeOf(last)
	return s, err
}

// lastUpload is when a generation was last sent to.
func (p Place) lastUpload(ctx context.Context, generation string) (at time.Time, err error) {
	client, err := p.client(generation)
	if err != nil {
		return at, err
	}
	if err := client.Init(ctx); err != nil {
		return at, p.explain("read from", err)
	}
	info, err := litestream.NewReplicaWithClient(nil, client).MaxLTXFileInfo(ctx, 0)
	if err != nil {
		return at, p.explain("read from", err)
	}
	return info.CreatedAt, nil
}
