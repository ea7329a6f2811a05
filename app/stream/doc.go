// Package stream sends events to those who follow them, as they happen.
//
// A stream is a request whose answer does not end. It reads the database at its own pace
// and remembers nothing but how far it came: the number of the last event that it looked
// at. Events are numbered in the order of their commits, and no number is used again, so
// a reader that goes on after a number misses nothing and gets nothing twice. There is no
// queue for a reader that could overflow, and a slow reader holds up no one.
//
//	writer ── EventSignal ──► Hub ── wake ──► Stream ── window by window ──► client
//
// It goes like this:
//
//   - After a commit the writer signals which organizations have new events, without
//     waiting. The Hub's one goroutine wakes the streams of those organizations; those of
//     others are not touched.
//   - A stream that is woken reads window after window, each bounded in rows and bytes,
//     until nothing is left, and waits again. It reads at most every timing.read, so
//     that a busy organization costs a few reads of many events, and not one for each.
//     Streams of one organization that wait at the same place share a read: see group.
//   - Every timing.idle it looks by itself, and sends its position, so that a client
//     whose filters leave little gets on too.
//   - Once a second the Hub asks whether each stream is still allowed. What ends a stream
//     (that, the stop of the server, a client that leaves or takes nothing for
//     timing.write) ends it at once, also in the midst of a write. The client may come back
//     with its last position.
//
// A stream may also send notices: they are true now, are in no list and are not sent again.
// Their source keeps them until the stream has time for them, and says of what it keeps
// how much that can be at the most: see Notices.
//
// A position is given to clients sealed, with the epoch of the file: see positions. When
// something after a position was removed because of its age, or its epoch is another,
// the stream sends a gap, once, and goes on with the oldest that is kept.
//
// Hub.mu guards the groups of streams. Stream.mu guards whether it may write, because the
// Hub ends a stream while that writes.
package stream
