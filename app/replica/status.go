package replica

import (
	"context"
	"errors"
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
	URL            string        `json:"url"`
	Standby        bool          `json:"standby,omitempty"` // how far a standby's copy is behind
	Generation     string        `json:"generation"`
	LagSeconds     *float64      `json:"lag_seconds"` // null if no server runs, or a standby has no copy
	BacklogBytes   int64         `json:"backlog_bytes"`
	LastUploadAt   *storage.Time `json:"last_upload_at"`
	LastVerifiedAt *storage.Time `json:"last_verified_at"`
	Error          string        `json:"error,omitempty"`

	// Since is when the generation began: before a day has passed, nobody expects a check.
	Since *storage.Time `json:"generation_since"`
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

	reference := s.LastVerifiedAt
	if reference == nil {
		reference = s.Since
	}
	if reference != nil && now.Sub(reference.Std()) > VerifiedWithin {
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
	r.mu.Lock()
	defer r.mu.Unlock()

	s := Status{
		URL:            r.URL,
		Generation:     r.local.Name,
		LagSeconds:     seconds(r.lag()),
		BacklogBytes:   r.last.Backlog,
		LastUploadAt:   timeOrNil(storage.At(r.last.UploadedAt)),
		LastVerifiedAt: timeOrNil(r.verifiedAt),
		Since:          timeOrNil(storage.At(r.local.Since)),
		Error:          r.last.Error,
	}

	if s.Error == "" {
		s.Error = r.problem
	}
	if s.Error == "" {
		s.Error = r.verifyProblem
	}
	return s
}

// seconds is a duration to the millisecond.
func seconds(d time.Duration) *float64 {
	s := math.Round(d.Seconds()*1000) / 1000
	return &s
}

// timeOrNil is nil for the zero time.
func timeOrNil(t storage.Time) *storage.Time {
	if t <= 0 {
		return nil
	}
	return &t
}

// lag is how much would be lost with the machine now. The caller holds mu.
func (r *Replica) lag() time.Duration {
	if r.DB.Changes() == r.changes { // nothing was written since
		return 0
	}
	return time.Since(r.cleanAt)
}

// quietHour is when the replica is checked each day, by the machine's clock.
const quietHour = 3

// verifyDue reports whether the replica is to be checked: in the quiet hour, or when that was
// missed. A new replica is checked as soon as there is something.
func (r *Replica) verifyDue(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.verifying || !r.last.InSync || now.Sub(r.openedAt) < verifyPause {
		return false
	}
	age := now.Sub(r.verifiedAt.Std())
	return age > 25*time.Hour || age > 12*time.Hour && now.Hour() == quietHour
}

const (
	// verifyPause is how long a server runs before it checks its replica.
	verifyPause = 10 * time.Minute
	// verifyRetry is how long to wait after a check that failed.
	verifyRetry = time.Hour
)

// verifyIfDue begins a check of the replica if one is due.
func (r *Replica) verifyIfDue(ctx context.Context) {
	if !r.verifyDue(time.Now()) {
		return
	}
	r.mu.Lock()
	r.verifying = true
	r.mu.Unlock()

	go func() {
		out, err := r.verifyApart(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			r.Log.Info("the replica was restored and is sound", "as_of", out.AsOf, "messages", out.Messages, "bytes", out.Bytes)
		default:
			r.Log.Error("the replica could not be verified", "error", err)
		}

		r.mu.Lock()
		r.verifyProblem = ""
		if err != nil {
			r.verifyProblem = "the replica could not be verified: " + err.Error()
		}
		r.mu.Unlock()
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(verifyRetry):
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.verifying = false
	}()
}

// verifyApart checks the replica in a process of its own, and records that it is sound.
func (r *Replica) verifyApart(ctx context.Context) (out Verified, err error) {
	if !hasRoom(r.Dir, r.DB.Size()) {
		return out, errNoRoom
	}

	found := make(chan Verified, 1)
	t := task{Place: r.Place, Check: &verifyTask{Key: r.Key, Dir: r.Dir}}
	p, err := r.start(t, func(_ *process, one report) {
		if one.Verified != nil {
			found <- *one.Verified
		}
	})
	if err != nil {
		return out, err
	}
	defer p.in.Close()
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	<-p.ended

	select {
	case out = <-found:
	default:
		return out, errChildDied
	}
	if out.Problem != "" {
		return out, errors.New(out.Problem)
	}
	return out, r.recordVerified(ctx)
}

// Refresh reads when a command has last checked the replica.
func (r *Replica) Refresh(ctx context.Context) {
	at, err := storage.Query(ctx, r.DB, (*storage.Rx).ReplicaVerifiedAt)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.verifiedAt = at
	}
}

// recordVerified records that the replica is sound.
func (r *Replica) recordVerified(ctx context.Context) error {
	var at storage.Time
	err := r.DB.Update(ctx, func(tx *storage.Tx) error {
		at = tx.Now
		return tx.SetReplicaVerified()
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.verifiedAt = at
	}
	return err
}

// StatusOf is how far a replica is while no server runs, as far as the storage says.
func (p Place) StatusOf(ctx context.Context, verified storage.Time) (s Status, err error) {
	s = Status{URL: p.URL, LastVerifiedAt: timeOrNil(verified)}
	store, err := p.open()
	if err != nil {
		return s, err
	}
	now, _, err := readCurrent(ctx, store)
	if err != nil {
		return s, p.failed("read from", err)
	}
	if now.Number == 0 {
		return s, nil
	}

	s.Generation, s.Since = now.Name, timeOrNil(storage.At(now.Since))
	last, err := p.lastUpload(ctx, now.Name)
	s.LastUploadAt = timeOrNil(storage.At(last))
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
