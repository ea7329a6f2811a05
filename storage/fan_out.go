package storage

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// An event becomes a delivery for each subscription of its organization that wants it.
// For up to maxDirect subscriptions the deliveries are made in the transaction of the
// event. For more, that would hold the writer too long: the event is stored with one
// job, which makes them in steps.
//
// A subscription gets its deliveries in the order in which their events were committed,
// no matter how they are made:
//
//   - The jobs of an organization are a lane in which one runs at a time, and one that
//     finds an older one waiting lets it go first (OlderFanOut): after a crash or an
//     error they would otherwise overtake each other.
//   - While jobs of the organization wait, every further event gets a job too, even if
//     most subscriptions were deleted meanwhile.
//   - All events count alike, not only those that many subscriptions want.
//
// Each step stores how far it came in the arguments of its job, in the transaction that
// makes the deliveries. So after a crash each delivery was made once or not yet. The
// job also knows which subscription was the last one when the event was stored: those
// that were made later do not get it. No time decides that, because the clock may be
// set back, and then an event seems to be older than the subscriptions that want it.
const (
	maxDirect = 32
	// fanOutStep is how many subscriptions one transaction looks at.
	fanOutStep = 100
)

// KindFanOut is the kind of job that makes the deliveries of an event, with FanOutArgs.
const KindFanOut = "webhook.fan_out"

// FanOutArgs name the event, and how far its deliveries were made.
type FanOutArgs struct {
	AboutAccount           // 0 for an event that belongs to no number
	Event         string   `json:"event"`
	PhoneNumberID string   `json:"phone_number_id,omitempty"` // of the account
	Done          position `json:"done,omitzero"`             // the last that was looked at
	Last          position `json:"last"`                      // the last to be looked at
}

// position is the place of a subscription among its organization's, by their age.
type position struct {
	CreatedAt Time   `json:"created_at"`
	ID        string `json:"id"`
}

func (p position) isBefore(other position) bool {
	return p.CreatedAt < other.CreatedAt || p.CreatedAt == other.CreatedAt && p.ID < other.ID
}

type subscriber struct {
	ID             string  `db:"id"`
	Status         string  `db:"status"`
	Events         Strings `db:"events"`
	PhoneNumberIDs Strings `db:"phone_number_ids"` // sorted
	Format         string  `db:"format"`
	CreatedAt      Time    `db:"created_at"`
	Behind         bool    `db:"behind"` // jobs of the organization wait; the same for all
}

func (s subscriber) position() position { return position{s.CreatedAt, s.ID} }

func (s subscriber) wantsEvent(eventType, phoneNumberID string) bool {
	return s.Format == FormatSvc && s.Wants(eventType, phoneNumberID)
}

// Wants reports whether the subscription is for a type, or a field of an envelope, and a number; what
// belongs to no number passes every filter by number.
func (s subscriber) Wants(eventType, phoneNumberID string) bool {
	if !slices.Contains(s.Events, "*") && !slices.Contains(s.Events, eventType) {
		return false
	}
	if phoneNumberID == "" || len(s.PhoneNumberIDs) == 0 {
		return true
	}
	_, chosen := slices.BinarySearch(s.PhoneNumberIDs, phoneNumberID)
	return chosen
}

// subscriberSet is whom the events of an organization may concern.
type subscriberSet struct {
	all     []subscriber // the oldest first
	waiting bool         // jobs have deliveries of earlier events still to make
}

// readSubscribers lists the subscriptions of an organization and reports whether jobs wait,
// with one statement, because the next events wait for it. Whether jobs wait changes
// from no to yes only while there are many subscriptions, so that the cached list of few
// is right until one of them changes.
//
// A job that failed waits for a person, and no job waits for it. Of jobs that run the process
// that runs them knows more than the table, and any other goes by the table.
func (rx *Rx) readSubscribers(organization int64) (a subscriberSet, err error) {
	lane, d := fanOutLane(organization), rx.db.currentDispatcher()
	err = rx.List(&a.all, `
		SELECT id, status, events, phone_number_ids, format, created_at, EXISTS (
			SELECT 1 FROM jobs INDEXED BY jobs_fan_out
			WHERE lane = ?2 AND lane BETWEEN 'webhook.fan_out:' AND 'webhook.fan_out;'
				AND (state IN ('held', 'due') OR ?3 AND state = 'running')
		) AS behind
		FROM subscriptions
		WHERE organization_id = ?1 AND deleted_at = 0
		ORDER BY created_at, id`, organization, lane, d == nil)
	if err != nil || len(a.all) == 0 {
		return a, err
	}

	for _, s := range a.all {
		slices.Sort(s.PhoneNumberIDs)
	}
	a.waiting = a.all[0].Behind || d != nil && (d.Busy(KindFanOut, lane) || d.Unsettled(KindFanOut, lane, math.MaxInt64))
	return a, nil
}

func fanOutLane(organization int64) string { return fmt.Sprintf("%s:%d", KindFanOut, organization) }

// OlderFanOut finds a job of a lane that is older than another and not done, and returns
// when it is due, 0 for one that waits only for a worker; ErrNotFound if there
// is none. One whose run is over but not written may be about to be put back.
//
// It is asked for each job, and must not walk through a backlog: of the held jobs only the
// one is looked at that is claimed next.
func (rx *Rx) OlderFanOut(j Job) (due Time, err error) {
	if d := rx.db.currentDispatcher(); d != nil && d.Unsettled(KindFanOut, j.Lane, j.ID) {
		return 0, nil
	}

	err = rx.Scan([]any{&due}, `
		SELECT 0 FROM (
			SELECT id FROM jobs
			WHERE state = 'held' AND kind = ?1 AND lane = ?2
			ORDER BY id
			LIMIT 1)
		WHERE id < ?3
		UNION ALL
		SELECT due_at FROM (
			SELECT due_at FROM jobs
			WHERE state = 'due' AND kind = ?1 AND lane = ?2 AND id < ?3
			ORDER BY due_at, id
			LIMIT 1)
		LIMIT 1`, KindFanOut, j.Lane, j.ID)
	return due, err
}

func (tx *Tx) enqueueFanOut(e Event, phoneNumberID string, to subscriberSet) error {
	wanted := func(s subscriber) bool { return s.wantsEvent(e.Type, phoneNumberID) }
	if !slices.ContainsFunc(to.all, wanted) {
		return nil
	}

	last := to.all[len(to.all)-1]
	args := FanOutArgs{AboutAccount: AboutAccount{OrEmpty(e.AccountID)}, Event: e.ID, PhoneNumberID: phoneNumberID, Last: last.position()}
	_, err := tx.Enqueue(NewJob{Kind: KindFanOut, Lane: fanOutLane(e.OrganizationID), Args: args})
	return err
}

// FanOut makes deliveries of an event for its next subscriptions, stores in the job how
// far it came, and returns that; done says that there are no more. An event that was
// purged meanwhile has none. ErrLeaseLost means that the job is no longer the caller's.
func (tx *Tx) FanOut(j Job, args FanOutArgs) (next FanOutArgs, done bool, err error) {
	e, err := tx.event(args.Event)
	if errors.Is(err, ErrNotFound) {
		return args, true, nil
	}
	if err != nil {
		return args, false, err
	}

	to, err := tx.db.caches.subscribers.find(&tx.Rx, e.OrganizationID)
	if err != nil {
		return args, false, err
	}

	left := slices.DeleteFunc(slices.Clone(to.all), func(s subscriber) bool {
		return !args.Done.isBefore(s.position()) || args.Last.isBefore(s.position())
	})
	some := left[:min(fanOutStep, len(left))]
	if len(some) == 0 {
		return args, true, nil
	}

	args.Done = some[len(some)-1].position()
	if err := tx.storeArgs(j, args); err != nil {
		return args, false, err
	}

	for _, s := range some {
		if !s.wantsEvent(e.Type, args.PhoneNumberID) {
			continue
		}
		if err := tx.addDelivery(e, s); err != nil {
			return args, false, err
		}
	}
	return args, len(some) == len(left), nil
}
