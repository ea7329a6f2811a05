package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"confab/jobs/errorcode"
)

// campaigns is the record of what goes to many, or later, or comes in a file. The tenant's
// mu guards it.
type campaigns struct {
	broadcasts []madeBroadcast
	cancelled  map[string]bool   // later sends that were cancelled, by our id
	imported   map[string]string // names of the people in files, by number
	imports    int
	searches   int
	said       []spokenText    // what was sent and must be found
	taken      map[string]bool // events that the steady endpoint took, for the audit
}

func newCampaigns() campaigns {
	return campaigns{cancelled: map[string]bool{}, imported: map[string]string{}}
}

// madeBroadcast is a broadcast that was acknowledged.
type madeBroadcast struct {
	id          string
	to          map[string]bool
	isCancelled bool
}

// recipientsAtOnce is how many people a broadcast goes to.
const recipientsAtOnce = 60

// broadcast keeps making broadcasts, one after the other. Some are paused and resumed, and
// some cancelled.
func (o *tenant) broadcast(ctx context.Context, random *rand.Rand) error {
	for sleep(ctx, time.Duration(200+random.IntN(1000))*time.Millisecond) {
		made, err := o.makeBroadcast(random)
		if err != nil {
			return err
		}
		made.isCancelled, err = o.directBroadcast(ctx, made.id, random)

		o.mu.Lock()
		o.broadcasts = append(o.broadcasts, made)
		o.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// makeBroadcast makes a broadcast to people who are chosen at random.
func (o *tenant) makeBroadcast(random *rand.Rand) (madeBroadcast, error) {
	made := madeBroadcast{to: make(map[string]bool)}
	var recipients []map[string]string
	for range recipientsAtOnce {
		to := o.person(random)
		made.to[to] = true
		recipients = append(recipients, map[string]string{"to": to})
	}

	body, err := json.Marshal(map[string]any{
		"name":     "News",
		"template": map[string]any{"name": "greeting", "language": "en_US"},
		"audience": map[string]any{"recipients": recipients},
	})
	if err != nil {
		return made, err
	}
	var view struct{ ID string }
	err = o.callOK("POST", "/"+o.number+"/broadcasts", string(body), newIdempotencyKey(random), &view)
	made.id = view.ID
	return made, err
}

// directBroadcast waits for the end of a broadcast, and moves it about meanwhile.
func (o *tenant) directBroadcast(ctx context.Context, id string, random *rand.Rand) (isCancelled bool, err error) {
	path := "/" + o.number + "/broadcasts/" + id
	move := func(name string) error {
		// It may have ended by now, or have been moved by a request that was repeated.
		a, err := o.callUntilAnswered("POST", path+"/"+name, "", "")
		if err == nil && a.status != 200 && a.body.Error.Code != "broadcast_not_active" {
			err = fmt.Errorf("%s of a broadcast was answered with %d %s", name, a.status, a.body.Error.Code)
		}
		return err
	}

	switch random.IntN(6) {
	case 0:
		err = move("pause")
		sleep(ctx, time.Duration(random.IntN(1000))*time.Millisecond)
	case 1:
		isCancelled, err = true, move("cancel")
	}

	for err == nil {
		var now broadcastView
		if err = o.callOK("GET", path, "", "", &now); err != nil || now.isOver() {
			return isCancelled, err
		}
		if now.Status == "paused" { // by us, or because of the provider
			err = move("resume")
		}
		if !sleep(ctx, 100*time.Millisecond) {
			return isCancelled, err // settle waits for it
		}
	}
	return isCancelled, err
}

// broadcastView is a broadcast as the API shows it.
type broadcastView struct {
	ID     string         `json:"id"`
	Status string         `json:"status"`
	Counts map[string]int `json:"counts"`
}

func (b broadcastView) isOver() bool { return b.Status == "completed" || b.Status == "cancelled" }

// findGoing names the broadcasts that have not ended, and how far they are, or returns "".
func (o *tenant) findGoing() (going string, err error) {
	for _, status := range []string{"preparing", "scheduled", "paused", "running"} {
		err := o.eachItem("/"+o.number+"/broadcasts?status="+status, func(item json.RawMessage) error {
			var b broadcastView
			err := json.Unmarshal(item, &b)
			going += fmt.Sprintf("%s broadcast %s %v ", status, b.ID, b.Counts)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return going, nil
}

// resumeBroadcasts resumes those that the end of the trial found paused.
func (o *tenant) resumeBroadcasts() error {
	return o.eachItem("/"+o.number+"/broadcasts?status=paused", func(item json.RawMessage) error {
		var b broadcastView
		if err := json.Unmarshal(item, &b); err != nil {
			return err
		}
		_, err := o.callUntilAnswered("POST", "/"+o.number+"/broadcasts/"+b.ID+"/resume", "", "")
		return err
	})
}

// sendLater keeps accepting messages that are due in some seconds, and cancels some of them.
func (o *tenant) sendLater(ctx context.Context, random *rand.Rand) error {
	for sleep(ctx, time.Duration(100+random.IntN(400))*time.Millisecond) {
		due := time.Now().Add(time.Duration(1+random.IntN(8)) * time.Second).UTC().Format(time.RFC3339)
		body := fmt.Sprintf(`{"messaging_product":"chat","to":%q,"type":"text","text":{"body":"As promised."},"scheduled_at":%q}`,
			o.person(random), due)
		a, err := o.callUntilAnswered("POST", "/"+o.number+"/messages", body, newIdempotencyKey(random))
		if err != nil {
			return err
		}
		if a.body.Error.Code == "invalid_field_value" {
			continue // by the clock of the server, or by now, that is in the past
		}
		if a.status >= 300 {
			return fmt.Errorf("a later send was answered with %d %s", a.status, a.body.Error.Code)
		}

		var made struct{ ID string }
		if err := json.Unmarshal(a.body.Data, &made); err != nil {
			return err
		}
		o.mu.Lock()
		o.sent[made.ID] = "text"
		o.mu.Unlock()
		if random.IntN(4) == 0 {
			if err := o.cancelMessage(made.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// cancelMessage cancels a message that may be under way already.
func (o *tenant) cancelMessage(id string) error {
	path := "/" + o.number + "/messages/" + id
	a, err := o.callUntilAnswered("DELETE", path, "", "")
	if err != nil {
		return err
	}

	// A request that is repeated may have cancelled it already.
	var m row
	if a.body.Error.Code == "message_not_cancellable" {
		if a, err = o.callUntilAnswered("GET", path, "", ""); err != nil {
			return err
		}
	}
	if a.status != 200 {
		return fmt.Errorf("cancelling a message was answered with %d %s", a.status, a.body.Error.Code)
	}
	if err := json.Unmarshal(a.body.Data, &m); err != nil {
		return err
	}
	if m.Error.Code == string(errorcode.MessageCancelled) {
		o.mu.Lock()
		o.cancelled[id] = true
		o.mu.Unlock()
	}
	return nil
}
