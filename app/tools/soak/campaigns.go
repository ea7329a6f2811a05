package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"confab/app/tools/rig"
	"confab/jobs/errorcode"
)

// madeBroadcast is a broadcast that was acknowledged.
type madeBroadcast struct {
	id          string
	to          map[string]bool
	isCancelled bool
}

// recipientsAtOnce is how many people a broadcast goes to.
const recipientsAtOnce = 60

// broadcast makes a broadcast and waits for its end. Some are paused and resumed, and some
// cancelled.
func (o *tenant) broadcast(ctx context.Context, random *rand.Rand, _ int) error {
	made, err := o.makeBroadcast(random)
	if err != nil {
		return err
	}
	made.isCancelled, err = o.directBroadcast(ctx, made.id, random)
	o.record(func() { o.broadcasts = append(o.broadcasts, made) })
	return err
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
	err = o.post("/"+o.number+"/broadcasts", string(body), newIdempotencyKey(random), &view)
	made.id = view.ID
	return made, err
}

// directBroadcast waits for the end of a broadcast, and moves it about meanwhile.
func (o *tenant) directBroadcast(ctx context.Context, id string, random *rand.Rand) (isCancelled bool, err error) {
	path := "/" + o.number + "/broadcasts/" + id
	move := func(name string) error {
		// It may have ended by now, or have been moved by a request that was repeated.
		_, err := o.callAllowing("broadcast_not_active", rig.Request{Method: "POST", Path: path + "/" + name}, nil)
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
		if err = o.get(path, &now); err != nil || now.isOver() {
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
		all, err := list[broadcastView](o.client, "/"+o.number+"/broadcasts?status="+status)
		if err != nil {
			return "", err
		}
		for _, b := range all {
			going += fmt.Sprintf("%s broadcast %s %v ", status, b.ID, b.Counts)
		}
	}
	return going, nil
}

// resumeBroadcasts resumes those that the end of the trial found paused.
func (o *tenant) resumeBroadcasts() error {
	paused, err := list[broadcastView](o.client, "/"+o.number+"/broadcasts?status=paused")
	for _, b := range paused {
		resume := rig.Request{Method: "POST", Path: "/" + o.number + "/broadcasts/" + b.ID + "/resume"}
		if _, err := o.callUntilAnswered(resume); err != nil {
			return err
		}
	}
	return err
}

// sendLater sends a message that is due in some seconds, and cancels some of them.
func (o *tenant) sendLater(_ context.Context, random *rand.Rand, _ int) error {
	due := time.Now().Add(time.Duration(1+random.IntN(8)) * time.Second).UTC().Format(time.RFC3339)
	later := rig.Request{
		Method: "POST",
		Path:   "/" + o.number + "/messages",
		Body: fmt.Sprintf(`{"messaging_product":"chat","to":%q,"type":"text","text":{"body":"As promised."},"scheduled_at":%q}`,
			o.person(random), due),
		IdempotencyKey: newIdempotencyKey(random),
	}

	// By the clock of the server, or by now, that may be in the past.
	var made row
	if isPast, err := o.callAllowing("invalid_field_value", later, &made); err != nil || isPast {
		return err
	}
	o.record(func() { o.sent[made.ID] = "text" })
	if random.IntN(4) == 0 {
		return o.cancelMessage(made.ID)
	}
	return nil
}

// cancelMessage cancels a message that may be under way already.
func (o *tenant) cancelMessage(id string) error {
	var m row
	path := "/" + o.number + "/messages/" + id
	isLate, err := o.callAllowing("message_not_cancellable", rig.Request{Method: "DELETE", Path: path}, &m)
	if err == nil && isLate { // a request that is repeated may have cancelled it already
		err = o.get(path, &m)
	}
	if err == nil && m.Error.Code == string(errorcode.MessageCancelled) {
		o.record(func() { o.cancelled[id] = true })
	}
	return err
}
