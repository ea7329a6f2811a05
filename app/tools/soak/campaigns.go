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

type madeBroadcast struct {
	id          string
	to          map[string]bool
	isCancelled bool
}

// broadcast makes a broadcast and waits for its end. Some are paused and resumed, and some
// cancelled.
func (o *tenant) broadcast(ctx context.Context, _ int) {
	made := madeBroadcast{to: make(map[string]bool)}
	var recipients []map[string]string
	for range 60 {
		to := o.person()
		made.to[to] = true
		recipients = append(recipients, map[string]string{"to": to})
	}

	body := rig.Must(json.Marshal(map[string]any{
		"name":     "News",
		"template": map[string]any{"name": "greeting", "language": "en_US"},
		"audience": map[string]any{"recipients": recipients},
	}))
	made.id = o.create("/"+o.number+"/broadcasts", string(body), newIdempotencyKey())
	defer o.record(func() { o.broadcasts = append(o.broadcasts, made) })
	made.isCancelled = o.directBroadcast(ctx, made.id)
}

// directBroadcast waits for the end of a broadcast, and moves it about meanwhile.
func (o *tenant) directBroadcast(ctx context.Context, id string) (isCancelled bool) {
	path := "/" + o.number + "/broadcasts/" + id
	move := func(name string) {
		// It may have ended by now, or have been moved by a request that was repeated.
		o.callAllowing("broadcast_not_active", rig.Request{Method: "POST", Path: path + "/" + name}, nil)
	}

	switch rand.IntN(6) {
	case 0:
		move("pause")
		sleep(ctx, time.Duration(rand.IntN(1000))*time.Millisecond)
	case 1:
		move("cancel")
		isCancelled = true
	}

	for {
		var now broadcastView
		o.get(path, &now)
		if now.isOver() {
			return isCancelled
		}
		if now.Status == "paused" { // by us, or because of the provider
			move("resume")
		}
		if !sleep(ctx, 100*time.Millisecond) {
			return isCancelled // settle waits for it
		}
	}
}

type broadcastView struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

func (b broadcastView) isOver() bool { return b.Status == "completed" || b.Status == "cancelled" }

// resumeBroadcasts resumes those that the end of the trial found paused.
func (o *tenant) resumeBroadcasts() {
	for _, b := range list[broadcastView](o.client, "/"+o.number+"/broadcasts?status=paused") {
		o.callUntilAnswered(rig.Request{Method: "POST", Path: "/" + o.number + "/broadcasts/" + b.ID + "/resume"})
	}
}

func (o *tenant) sendLater(_ context.Context, _ int) {
	due := time.Now().Add(time.Duration(1+rand.IntN(8)) * time.Second).UTC().Format(time.RFC3339)
	later := rig.Request{
		Method: "POST",
		Path:   "/" + o.number + "/messages",
		Body: fmt.Sprintf(`{"messaging_product":"chat","to":%q,"type":"text","text":{"body":"As promised."},"scheduled_at":%q}`,
			o.person(), due),
		IdempotencyKey: newIdempotencyKey(),
	}

	// By the clock of the server, or by now, that may be in the past.
	var made row
	if isPast := o.callAllowing("invalid_field_value", later, &made); isPast {
		return
	}
	o.record(func() { o.sent[made.ID] = "text" })
	if rand.IntN(4) == 0 {
		o.cancelMessage(made.ID)
	}
}

func (o *tenant) cancelMessage(id string) {
	var m row
	path := "/" + o.number + "/messages/" + id
	if isLate := o.callAllowing("message_not_cancellable", rig.Request{Method: "DELETE", Path: path}, &m); isLate {
		o.get(path, &m) // a request that is repeated may have cancelled it already
	}
	if m.Error.Code == string(errorcode.MessageCancelled) {
		o.record(func() { o.cancelled[id] = true })
	}
}

// auditBroadcasts compares the recipients of each broadcast with those that it was made for, and
// with their messages. With its counts they are compared in the database (see storageaudit).
func (o *tenantAudit) auditBroadcasts() {
	made := 0
	for _, b := range o.broadcasts {
		var now broadcastView
		o.get("/"+o.number+"/broadcasts/"+b.id, &now)
		o.expect(now.isOver() && (now.Status == "completed" || b.isCancelled), "broadcast %s is %s", b.id, now.Status)

		made += o.auditRecipients(b)
	}

	listed := 0
	for _, m := range o.rows {
		if m.Source == sourceBroadcast {
			listed++
		}
	}
	o.expect(listed == made, "%d messages are of broadcasts, and %d recipients have one", listed, made)
}

// auditRecipients looks at each recipient of a broadcast, and returns how many have a message.
func (o *tenantAudit) auditRecipients(b madeBroadcast) (messages int) {
	type recipient struct {
		To        string  `json:"to"`
		Status    string  `json:"status"`
		MessageID *string `json:"message_id"`
	}
	seen := make(map[string]bool)
	for _, to := range list[recipient](o.client, "/"+o.number+"/broadcasts/"+b.id+"/recipients?limit=100") {
		o.expect(!seen[to.To] && b.to[to.To], "%s is in broadcast %s twice, or was never meant", to.To, b.id)
		seen[to.To] = true
		if to.MessageID == nil {
			continue
		}

		messages++
		m, there := o.rows[*to.MessageID]
		isSkipped := to.Status == "skipped" && m.Status == "failed"
		o.expect(there && m.Source == sourceBroadcast && (m.Status == to.Status || isSkipped),
			"%s is %s in broadcast %s, its message %s", to.To, to.Status, b.id, m.Status)
	}
	o.expect(len(seen) == len(b.to), "broadcast %s has %d recipients, not %d", b.id, len(seen), len(b.to))
	return messages
}

// auditBroadcastEvents checks that each broadcast had one event of its start, and of its end.
func (o *tenantAudit) auditBroadcastEvents(started, completed int) {
	least := 0 // a cancel may have come too late
	for _, b := range o.broadcasts {
		if !b.isCancelled {
			least++
		}
	}
	o.expect(started == len(o.broadcasts) && least <= completed && completed <= len(o.broadcasts),
		"of %d broadcasts %d have an event of their start, and %d of their end", len(o.broadcasts), started, completed)
}
