package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"confab/jobs/language"
	"confab/jobs/messaging"
	"confab/jobs/push"
	"confab/jobs/queue"
	"confab/storage"
)

// Notifications go two steps. What people are to know stores a job of the kind push.notify in its own
// transaction. That one finds out who is concerned, leaves out who has the conversation on screen and
// devices that were notified of it just now, and stores a push.send for each of the others, which
// gives the message to the push service of that browser.
const (
	kindNotify = "push.notify"
	kindPush   = "push.send"
)

const (
	// maxPushText is how many characters of a message a notification shows.
	maxPushText = 100
	// pushLife is how long a notification is news: one that waited longer is dropped.
	pushLife = time.Hour
	// devicesAtOnce is how many devices one transaction notifies.
	devicesAtOnce = 200
	// pushesAtOnce is how many may be under way to one person, and pushWorkers to all.
	pushesAtOnce = 2
	pushWorkers  = 32
)

var pushRetries = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

// Push configures notifications.
type Push struct {
	Sender push.Sender
	// HidesContent leaves names and texts out of them.
	HidesContent bool
	// OnScreen reports whether a person has a conversation on screen.
	OnScreen func(organization int64, user, conversation string) bool
}

// Notice is what people are notified of: a message that came in, a note that mentions them, or, with
// neither, a snooze that has ended.
type Notice struct {
	storage.AboutAccount
	Conversation string   `json:"conversation"`
	Message      string   `json:"message,omitempty"`
	Note         string   `json:"note,omitempty"`
	Users        []string `json:"users,omitempty"` // whom alone it is for
}

// EnqueueNotify stores the job that notifies people, if anybody of the organization has a device.
func EnqueueNotify(tx *storage.Tx, organization int64, n Notice) error {
	if has, err := tx.HasPushDevices(organization); err != nil || !has {
		return err
	}
	return enqueue(tx, storage.NewJob{Kind: kindNotify, Args: n})
}

func (w *Workers) notify(ctx context.Context, job storage.Job, n Notice) (queue.Commit, error) {
	devices, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) ([]storage.PushDevice, error) { return w.devicesFor(rx, n) })
	if err != nil || len(devices) == 0 || w.isOldNews(job) {
		return nil, err // the conversation may be deleted, or merged into another
	}

	return func(tx *storage.Tx) error {
		for _, d := range devices[:min(devicesAtOnce, len(devices))] {
			first, err := tx.ClaimPush(d.ID, n.Conversation)
			if err == nil && first {
				err = enqueue(tx, storage.NewJob{Kind: kindPush, Lane: "push:" + d.UserID, Args: pushArgs{n, d.ID}})
			}
			if err != nil {
				return err
			}
		}

		// The next run finds the rest: those that are notified now are left out then.
		if len(devices) > devicesAtOnce {
			return enqueue(tx, storage.NewJob{Kind: kindNotify, Args: n})
		}
		return nil
	}, nil
}

// isOldNews reports whether a job waited so long that nobody needs to hear of it now.
func (w *Workers) isOldNews(job storage.Job) bool { return w.DB.Now().Sub(job.CreatedAt) > pushLife }

// devicesFor lists the devices of those whom a notice concerns.
func (w *Workers) devicesFor(rx *storage.Rx, n Notice) ([]storage.PushDevice, error) {
	c, err := rx.Conversation(n.Account, n.Conversation)
	if err != nil {
		return nil, err
	}
	account, err := rx.Sender(n.Account)
	if err != nil {
		return nil, err
	}

	devices, err := rx.DevicesToNotify(account.OrganizationID, c.ID, n.Users)
	return slices.DeleteFunc(devices, func(d storage.PushDevice) bool {
		isOnScreen := w.Push.OnScreen != nil && w.Push.OnScreen(account.OrganizationID, d.UserID, c.ID)
		return isOnScreen || !n.concerns(d, c.AssigneeID)
	}), err
}

// concerns reports whether the person of a device wants to hear of the notice, by whom its
// conversation is assigned to.
func (n Notice) concerns(d storage.PushDevice, assignee *string) bool {
	switch d.NotifyAbout {
	case storage.NotifyEverything:
		return true
	case storage.NotifyMine:
		return n.Note != "" || assignee == nil || *assignee == d.UserID
	case storage.NotifyMentions:
		return n.Note != ""
	}
	return false
}

type pushArgs struct {
	Notice
	Device string `json:"device"`
}

// testPushArgs are those of one that sends a test, which is about no conversation.
type testPushArgs struct {
	storage.AboutNoAccount
	Device string `json:"device"`
}

// EnqueueTestPush stores the job that sends a test to a device of a person.
func EnqueueTestPush(tx *storage.Tx, user, device string) error {
	return enqueue(tx, storage.NewJob{Kind: kindPush, Lane: "push:" + user, Args: testPushArgs{Device: device}})
}

// push sends a notice to a device. What a push service never takes is only logged.
func (w *Workers) push(ctx context.Context, job storage.Job, args pushArgs) (queue.Commit, error) {
	var key string
	var device storage.PushDevice
	var shown notification
	say := func(english string) string { return language.Say(device.Language, english) }
	err := w.DB.View(ctx, func(rx *storage.Rx) (err error) {
		if device, err = rx.PushDevice(args.Device); err != nil {
			return err
		}
		if key, err = rx.VAPIDKey(); err != nil || args.Conversation == "" {
			return err
		}
		if isLate, err := rx.IsPushedSince(device.ID, args.Conversation, job.CreatedAt); err != nil || isLate {
			return cmp.Or(err, storage.ErrNotFound) // it would come right after the next one, and in its place
		}
		shown, err = w.notificationOf(rx, args.Notice, say)
		return err
	})
	if err != nil || w.isOldNews(job) {
		return nil, err // the device, or what it was to show, may be gone
	}

	if args.Conversation == "" {
		shown = notification{Title: say("Test"), Body: say("Notifications work on this device."), Tag: "test"}
	}
	message, err := json.Marshal(shown)
	if err != nil {
		return nil, err
	}

	err = w.Push.Sender.Send(ctx, key, device.Subscription, args.Conversation, message)
	switch {
	case err == nil:
		return nil, nil
	case errors.Is(err, push.ErrGone):
		return func(tx *storage.Tx) error { return tx.ForgetPushDevice(device.ID) }, nil
	case push.IsTransient(err) && job.Attempt() <= len(pushRetries):
		delay := pushRetries[job.Attempt()-1]
		if refused, ok := errors.AsType[*push.Refused](err); ok {
			delay = max(delay, refused.RetryAfter)
		}
		return nil, queue.RetryAfter(delay, err)
	}

	w.Log.Warn("could not send a notification", "user", device.UserID, "device", device.ID, "job", job.ID, "error", err)
	return nil, nil
}

// notification is what the service worker of the console shows.
type notification struct {
	Title        string `json:"title"`
	Body         string `json:"body"`
	Tag          string `json:"tag"` // of several with the same, the last is shown
	Conversation string `json:"conversation,omitempty"`
	Unread       int    `json:"unread"` // for the badge of the icon
}

// notificationOf makes the notification of a notice, in the language of say; ErrNotFound if what it
// is about is gone.
func (w *Workers) notificationOf(rx *storage.Rx, n Notice, say func(string) string) (shown notification, err error) {
	c, err := rx.Conversation(n.Account, n.Conversation)
	if err != nil {
		return shown, err
	}
	unread, err := rx.CountUnread(n.Account)
	if err != nil {
		return shown, err
	}
	shown = notification{Tag: c.ID, Conversation: c.ID, Unread: unread}

	name := cmp.Or(storage.OrEmpty(c.ContactName), storage.OrEmpty(c.ContactPhone), storage.OrEmpty(c.ContactBSUID))
	hidden := say("Snooze ended")
	shown.Title, shown.Body = name, hidden
	switch {
	case n.Message != "":
		hidden = say("New message")
		shown.Body, err = messageText(rx, n, say)
	case n.Note != "":
		var note storage.Note
		hidden = say("New mention")
		note, err = rx.Note(c.ID, n.Note)
		shown.Title, shown.Body = cmp.Or(storage.OrEmpty(note.NoteAuthor.Name), "API")+" · "+name, note.Text
	}

	if w.Push.HidesContent {
		shown.Title, shown.Body = hidden, ""
	}
	shown.Body = messaging.Truncate(shown.Body, maxPushText)
	return shown, err
}

// messageText is what a message says, or else what it is.
func messageText(rx *storage.Rx, n Notice, say func(string) string) (string, error) {
	m, err := rx.Message(n.Account, n.Message)
	if err != nil {
		return "", err
	}
	if m.IsRevoked {
		return "", storage.ErrNotFound
	}

	words, err := rx.MessageWords(m)
	kinds := map[string]string{
		"image": say("Photo"), "video": say("Video"), "audio": say("Audio"), "document": say("Document"), "sticker": say("Sticker"),
		"location": say("Location"), "contacts": say("Contact"),
	}
	return cmp.Or(storage.OrEmpty(words), kinds[m.Type], say("New message")), err
}
