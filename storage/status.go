package storage

// States of a message.
const (
	MessageQueued    = "queued"
	MessagePending   = "pending"
	MessageSent      = "sent"
	MessageDelivered = "delivered"
	MessageRead      = "read"
	MessageFailed    = "failed"
)

// StatusPlayed is a callback's word for a voice note that was played. It is no state.
const StatusPlayed = "played"

// progress orders the states that a message passes on its way.
var progress = map[string]int{MessageQueued: 0, MessagePending: 1, MessageSent: 2, MessageDelivered: 3, MessageRead: 4}

// NextStatus is the state of a message in one state after a callback reports
// another. Callbacks come in any order and more than once: nothing moves
// backwards, and failed is the end.
func NextStatus(current, reported string) string {
	switch {
	case current == MessageFailed || reported == MessageFailed:
		return MessageFailed
	case progress[reported] > progress[current]:
		return reported
	default:
		return current
	}
}
